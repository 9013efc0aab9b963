// Which instructions stand in the kernels that an architecture and a compiler are given.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/drawn_members.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::instructions_test {
namespace {

struct Instruction {
    std::string_view begin;  // of its text; the first that fits
    int architecture;
    int compiler;  // release of CUDA times ten that knows it
};

// PTX ISA 8.7, "Target ISA Notes" and "PTX ISA Notes" of each instruction with these modifiers.
constexpr std::array instructions{
    Instruction{"cp.async.bulk", 90, 120},
    Instruction{"cp.async", 80, 110},
    Instruction{"fence.proxy", 90, 120},
    Instruction{"fence.mbarrier_init", 90, 120},
    Instruction{"mbarrier.try_wait", 90, 118},
    Instruction{"mbarrier.arrive.expect_tx", 90, 120},
    Instruction{"mbarrier", 80, 110},
    Instruction{"createpolicy", 80, 114},
    Instruction{"mma.sync.aligned.m8n8k4.row.col.f64", 80, 110},
    Instruction{"mma.sync.aligned.m16n8k4.row.col.f64", 90, 118},
    Instruction{"mma.sync.aligned.m16n8k8.row.col.f64", 90, 118},
    Instruction{"mma.sync.aligned.m16n8k16.row.col.f64", 90, 118},
    Instruction{"mma.sync.aligned.m16n8k8.row.col.f32.tf32", 80, 110},
    Instruction{"ld.acquire", 70, 90},
    Instruction{"st.release", 70, 90},
    Instruction{"st.relaxed", 70, 90},
    Instruction{"atom.acquire", 70, 90},
    Instruction{"atom.relaxed", 70, 90},
    Instruction{"prefetch.global.L2", 20, 0},
    Instruction{"rcp.approx.ftz.f64", 20, 0},
    Instruction{"rsqrt.approx.ftz.f64", 20, 0},
    Instruction{"bar.sync", 20, 0},
    Instruction{"bra", 20, 0},
    Instruction{".reg", 20, 0},
};

// Functions of the device that are such instructions.
constexpr std::array functions{Instruction{"__nanosleep(", 70, 90}};

// The instructions that stand in a kernel's assembly, without labels, predicates and braces.
std::set<std::string> assembly_of(const std::string& text) {
    static const std::regex assembly(R"re(\basm(?: volatile)?\(((?:\s*"(?:[^"\\]|\\.)*")*))re");
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), assembly), end; at != end; ++at) {
        // Neighbouring literals are one, and their ends of lines are ends of instructions.
        std::string all = std::regex_replace((*at)[1].str(), std::regex(R"re("\s*"|")re"), "");
        all = std::regex_replace(all, std::regex(R"(\\n|\\t|\{ *\\n)"), ";");
        std::size_t begin = 0;
        while (begin < all.size()) {
            const std::size_t stop = std::min(all.find(';', begin), all.size());
            std::string one = all.substr(begin, stop - begin);
            begin = stop + 1;
            one = std::regex_replace(one, std::regex(R"(^[\s{}]*(\w+:)?\s*(@!?\w+ +)?)"), "");
            if (!one.empty()) found.insert(one.substr(0, one.find(' ')));
        }
    }
    return found;
}

const Instruction* instruction_of(const std::string& text) {
    for (const Instruction& instruction : instructions)
        if (text.starts_with(instruction.begin)) return &instruction;
    return nullptr;
}

void expect_known(const std::string& text, const Limits& limits) {
    const auto expect = [&](const Instruction& instruction, const std::string& word) {
        EXPECT_LE(instruction.architecture, limits.architecture) << word;
        if (limits.compiler != 0) {
            EXPECT_LE(instruction.compiler, limits.compiler) << word;
        }
    };
    for (const std::string& word : assembly_of(text)) {
        const Instruction* const instruction = instruction_of(word);
        ASSERT_NE(instruction, nullptr) << "which architecture has \"" << word << "\"? Say it in the table of this test";
        expect(*instruction, word);
    }
    for (const Instruction& function : functions)
        if (text.find(function.begin) != std::string::npos) expect(function, std::string(function.begin));
    // Operands of an instruction that only newer ones have.
    if (text.find("L2::cache_hint") != std::string::npos) expect({"", 80, 114}, "L2::cache_hint");
    if (text.find("atomicAdd(") != std::string::npos) expect({"", 60, 0}, "atomicAdd of f64");
}

TEST(Instructions, AreReadOfAssembly) {
    const std::string text = R"(
    asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(a));
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0}, {%1};" : "+d"(c));
    asm volatile("" ::: "memory");
)";
    EXPECT_EQ(assembly_of(text),
              (std::set<std::string>{".reg", "bra", "mbarrier.try_wait.parity.shared.b64", "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64"}));
}

TEST(Instructions, AreThoseThatTheArchitectureAndTheCompilerHave) {
    test::FreshRandom random;
    std::vector<Limits> devices;
    for (const int architecture : {60, 61, 62, 70, 75, 80, 86, 89, 90, 100, 120})
        for (const int compiler : {0, 112, 118, 120}) {
            devices.push_back(cuda_limits(architecture));
            devices.back().compiler = compiler;
        }
    std::set<std::string> seen;
    for (const Limits& limits : test::drawn(devices, 8, random)) {
        const auto members = test::drawn_members(limits, {.of_form = 1, .shipped = 2}, random);
        EXPECT_GT(members.size(), 30U);
        for (const test::DrawnMember& member : test::drawn(members, 40, random)) {
            SCOPED_TRACE(fmt::format("sm_{}, compiler {}: {}", limits.architecture, limits.compiler, member.name()));
            const std::string text = built_in_families().of(member.problem).kernel(member.problem, member.config, limits).text;
            expect_known(text, limits);
            seen.merge(assembly_of(text));
        }
    }
    EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace hone::instructions_test
