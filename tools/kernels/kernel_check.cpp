#include "tools/kernels/kernel_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "interfaces/kernel_folder/data.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/source_text.hpp"
#include "runtime/library.hpp"
#include "tools/console/crash_guard.hpp"
#include "tuner/restriction.hpp"
#include "tuner/worker/verifier.hpp"

namespace hone::tools {
namespace {

using kernel_folder::Description;
using kernel_folder::Expression;
using kernel_folder::Side;
using KernelFindings = std::vector<KernelFinding>;

KernelFinding mistake(std::string text) {
    return {KernelFinding::Kind::mistake, std::move(text)};
}

KernelFinding remark(std::string text) {
    return {KernelFinding::Kind::remark, std::move(text)};
}

// The words of a C++ text that are no comment and no literal.
std::set<std::string> words_in(const std::string& text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::set<std::string> words;
    for (std::size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "//") == 0 && text.compare(i, 4, "//@ ") != 0) {
            i = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            const std::size_t end = text.find("*/", i + 2);
            i = end == std::string::npos ? text.size() : end + 2;
        } else if (text[i] == '"') {
            for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
                if (text[i] == '\\') ++i;
            ++i;
        } else if (letter(text[i])) {
            const std::size_t begin = i;
            while (i < text.size() && letter(text[i])) ++i;
            words.insert(text.substr(begin, i - begin));
        } else {
            ++i;
        }
    }
    return words;
}

// A value is used by its name or, where it is a word, by the name of one of its choices.
bool uses(const std::set<std::string>& words, const std::string& name) {
    return words.contains(name) || std::any_of(words.begin(), words.end(), [&](const std::string& word) { return word.starts_with(name + "_"); });
}

void add_names(const Expression& expression, std::set<std::string>& words) {
    for (const std::string& name : expression.names()) words.insert(name);
}

std::set<std::string> launch_words(const Side& side) {
    std::set<std::string> words;
    for (const auto& launch : side.launches) {
        for (const auto* dimensions : {&launch.grid, &launch.block})
            for (const Expression& one : *dimensions) add_names(one, words);
        for (const Expression* one : {&launch.range_per_block, &launch.shared_bytes}) add_names(*one, words);
        for (const Expression& one : launch.constants) add_names(one, words);
    }
    for (const auto& scratch : side.scratch) add_names(scratch.words, words);
    for (const auto& derived : side.derived) add_names(derived.value, words);
    return words;
}

void examine_side(const Description& description, const std::optional<Side>& side, const char* target, KernelFindings& findings) {
    if (!side) return;
    const std::set<std::string> source = words_in(side->text);
    const std::set<std::string> launches = launch_words(*side);
    for (const Tunable& tunable : side->tunables)
        if (tunable.values.size() > 1 && !uses(source, tunable.name) && !launches.contains(tunable.name))
            findings.push_back(mistake(fmt::format("{}: neither {} nor a launch uses the tunable {}, so all its values are the same kernel", target,
                                                   side->file, tunable.name)));
    for (const auto& parameter : description.parameters)
        if (!parameter.extent && parameter.name != "precision" && !uses(source, parameter.name) && !launches.contains(parameter.name))
            findings.push_back(remark(fmt::format("{}: {} does not use the parameter {}", target, side->file, parameter.name)));
    for (const auto& launch : side->launches)
        if (!source.contains(launch.entry))
            findings.push_back(mistake(fmt::format("{}: there is no function {} in {}; hone calls it as {}", target, launch.entry, side->file,
                                                   declaration(description, launch.entry, side->scratch, launch.constants.size()))));
}

std::string first_lines(const std::string& text) {
    constexpr int most = 12;
    std::size_t end = 0;
    for (int i = 0; i < most && end < text.size(); ++i) end = std::min(text.find('\n', end), text.size() - 1) + 1;
    return text.substr(0, end);
}

// The places [2][7] of word `index`.
std::string place_of(const ArraySpec& spec, std::int64_t index) {
    std::string text;
    for (const std::int64_t stride : spec.strides) {
        text += fmt::format("[{}]", index / stride);
        index %= stride;
    }
    return text;
}

// A value of an array; NaN also of an integer that is the poison: nothing was written there.
double value_at(const ArraySpec& spec, const HostArray& array, std::int64_t i) {
    switch (value_type_of(spec, array.precision())) {
        case ValueType::f32:
            return static_cast<double>(static_cast<const float*>(array.data())[i]);
        case ValueType::f64:
            return static_cast<const double*>(array.data())[i];
        case ValueType::i32:
            break;
    }
    constexpr auto poison = static_cast<std::int32_t>(0x01010101U * poison_byte(ValueType::i32));
    const std::int32_t value = static_cast<const std::int32_t*>(array.data())[i];
    return value == poison ? std::numeric_limits<double>::quiet_NaN() : value;
}

constexpr unsigned char number_bytes = 0x41;  // of the other poison
constexpr std::uint64_t data_seed = 1;

double poison_number(const ArraySpec& spec, Precision precision) {
    HostArray words(precision, 2);  // the widest value
    std::memset(words.data(), number_bytes, static_cast<std::size_t>(words.bytes()));
    return value_at(spec, words, 0);
}

// One step from the verifier's first data, outputs filled with the usual poison or with the other
// one.
std::vector<HostArray> stepped(Backend& backend, const std::shared_ptr<const Kernel>& kernel, Verifier& verifier, bool other_poison) {
    verifier.restore_from(0);
    const std::vector<ArraySpec>& specs = kernel->source().arrays;
    for (std::size_t i = 0; i < specs.size() && other_poison; ++i)
        if (specs[i].access == Access::out)
            backend.fill(verifier.pointers()[i], number_bytes, specs[i].words * bytes_per_word(kernel->source().precision));
    const BoundKernel bound(kernel, verifier.pointers());
    bound.launch();
    backend.synchronise();
    return verifier.arrays();
}

// How often something was found in an array, and where first.
struct Count {
    std::int64_t count = 0;
    std::int64_t first = 0;

    void add(std::int64_t index) {
        if (count++ == 0) first = index;
    }
};

// What is wrong with an array that a step writes, after the steps with either poison; or nothing.
std::optional<std::string> wrong_output(const ArraySpec& spec, const HostArray& expected, const HostArray& after_nan, const HostArray& after_number,
                                        double tolerance) {
    const double poison = poison_number(spec, expected.precision());
    Count unwritten, unasked, dependent, wrong, unsteady;
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < value_count(spec, expected.precision()); ++i) {
        const double right = value_at(spec, expected, i), one = value_at(spec, after_nan, i), other = value_at(spec, after_number, i);
        if (std::isnan(right)) {
            if (!std::isnan(one)) unasked.add(i);
            continue;
        }
        ++written;
        if (std::isnan(one))
            other == poison ? unwritten.add(i) : std::isnan(other) ? wrong.add(i) : dependent.add(i);
        else if (value_difference(one, right) > tolerance)
            wrong.add(i);
        else if (value_difference(other, right) > tolerance)
            unsteady.add(i);
    }
    const auto at = [&](const Count& count) { return spec.name + place_of(spec, count.first); };
    if (unwritten.count == written && written > 0) return fmt::format("it writes nothing to {}", spec.name);
    if (dependent.count > 0)
        return fmt::format("{} of {} values of {} depend on what was in its memory before the step, the first at {}", dependent.count, written,
                           spec.name, at(dependent));
    if (unwritten.count > 0)
        return fmt::format("it leaves out {} of {} values of {}, the first at {}", unwritten.count, written, spec.name, at(unwritten));
    if (unasked.count > 0)
        return fmt::format("it writes {} values of {} that the reference does not write, the first at {}", unasked.count, spec.name, at(unasked));
    if (wrong.count > 0)
        return fmt::format("{} of {} values of {} are wrong, the first at {}: {} where the reference has {}, and {:.3g} is allowed", wrong.count,
                           written, spec.name, at(wrong), value_at(spec, after_nan, wrong.first), value_at(spec, expected, wrong.first), tolerance);
    if (unsteady.count > 0)
        return fmt::format("{} of {} values of {} are right in one step and wrong in the next from the same inputs, the first at {}: {} and {}",
                           unsteady.count, written, spec.name, at(unsteady), value_at(spec, after_nan, unsteady.first),
                           value_at(spec, after_number, unsteady.first));
    return std::nullopt;
}

bool same_bytes(const HostArray& a, const HostArray& b) {
    return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

// What the verifier found, array by array and with places, as far as a single step shows it.
std::vector<std::string> explained(Backend& backend, const std::shared_ptr<const Kernel>& kernel, Verifier& verifier, const Workload& data,
                                   const StepVerdict& verdict) {
    const std::vector<ArraySpec>& specs = kernel->source().arrays;
    const std::vector<HostArray> one = stepped(backend, kernel, verifier, false);
    const std::vector<HostArray> other = stepped(backend, kernel, verifier, true);
    std::vector<std::string> found;
    if (verdict.later) found.push_back(verdict.wrong);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].access == Access::in) {
            if (!same_bytes(one[i], data.arrays[i])) found.push_back(fmt::format("it changes {}, which is only read", specs[i].name));
        } else if (const auto wrong =
                       wrong_output(specs[i], data.expected[i], one[i], other[i], data.tolerances.empty() ? data.tolerance : data.tolerances[i])) {
            found.push_back(*wrong);
        }
    }
    if (std::string past = verifier.overwritten(); !past.empty()) found.push_back(std::move(past));
    if (found.empty()) found.push_back(verdict.wrong);
    return found;
}

StepVerdict later_verdict(const std::shared_ptr<const Kernel>& kernel, Verifier& verifier, double seconds) {
    verifier.restore_from(0);
    BoundKernel bound(kernel, verifier.pointers());
    return verifier.later_step(bound, 0, seconds);
}

}  // namespace

std::vector<KernelFinding> source_findings(const KernelFolder& kernel) {
    KernelFindings findings;
    examine_side(kernel.description(), kernel.description().cpu, "cpu", findings);
    examine_side(kernel.description(), kernel.description().cuda, "cuda", findings);
    return findings;
}

std::vector<KernelFinding> space_findings(const KernelFolder& kernel, const Problem& problem, const Limits& limits) {
    KernelFindings findings;
    try {
        const SearchSpace space = kernel.family().space(problem, limits);
        const Members members = space.members();
        const auto holders = space.holders(members);
        if (members.size() == 1 && space.product() > 1)
            findings.push_back(
                mistake(fmt::format("{}: the constraints leave the safe configuration alone of {}", to_string(limits.target), space.product())));
        for (std::size_t i = 0; i < space.tunables().size() && members.size() > 1; ++i)
            for (std::size_t value = 0; value < holders[i].size(); ++value)
                if (holders[i][value] == 0)
                    findings.push_back(remark(fmt::format("{}: the constraints leave no configuration with {}={}", to_string(limits.target),
                                                          space.tunables()[i].name, to_string(space.tunables()[i].values[value]))));
    } catch (const Error& error) {
        findings.push_back(mistake(error.what()));
    }
    return findings;
}

std::vector<Config> some_members(const Family& family, const Problem& problem, const Limits& limits) {
    constexpr std::int64_t drawn = 2;
    std::vector<Config> configs;
    try {
        const SearchSpace space = family.space(problem, limits);
        configs.push_back(space.safe());
        for (const std::int64_t index : drawn_members(space, space.members(), drawn, 1))
            if (const Config config = space.at(index); config != space.safe()) configs.push_back(config);
    } catch (const Error&) {
        configs.clear();  // what is wrong with the space is told by space_findings
    }
    return configs;
}

std::vector<KernelFinding> reference_findings(const KernelFolder& kernel, const Problem& problem) {
    KernelFindings findings;
    try {
        const CrashGuard guard("the reference of " + problem.key());
        const Workload data = kernel.family().workload(problem, 1);
        const std::vector<HostArray> inputs = filled_arrays(kernel.description(), kernel.path(), problem, 1);
        const std::vector<ArraySpec> specs = kernel.family().arrays(problem);
        for (std::size_t i = 0; i < specs.size(); ++i) {
            if (specs[i].access == Access::in) {
                if (!same_bytes(data.arrays[i], inputs[i]))
                    findings.push_back(mistake(fmt::format("the reference changes {}, which is only read", specs[i].name)));
                continue;
            }
            bool writes = false;
            const std::int64_t count = value_count(specs[i], problem.precision());
            for (std::int64_t value = 0; value < count && !writes; ++value) writes = !std::isnan(value_at(specs[i], data.expected[i], value));
            if (!writes) findings.push_back(mistake(fmt::format("the reference writes nothing to {}, or only NaN", specs[i].name)));
            if (specs[i].access == Access::inout && same_bytes(data.expected[i], inputs[i]))
                findings.push_back(mistake(fmt::format("the reference leaves {} as it was", specs[i].name)));
        }
    } catch (const Error& error) {
        findings.push_back(mistake(error.what()));
    }
    return findings;
}

std::vector<KernelFinding> compiler_findings(const KernelFolder& kernel, const Problem& problem, const std::vector<Config>& configs,
                                             const Compiler& compiler, const Limits& limits) {
    KernelFindings findings;
    for (const Config& config : configs) {
        try {
            const CompileOutcome outcome = compiler.compile(kernel.family().kernel(problem, config, limits));
            if (outcome.ok) continue;
            const auto& side = kernel.description().side(limits.target);
            const auto& launch = side->launches.front();
            findings.push_back(mistake(fmt::format("{} with {} does not compile: {}\n{}hone calls it as: {}", side->file, config.key(),
                                                   outcome.failure, first_lines(outcome.code.log),
                                                   declaration(kernel.description(), launch.entry, side->scratch, launch.constants.size()))));
        } catch (const Error& error) {
            findings.push_back(mistake(error.what()));
        }
        if (!findings.empty()) break;  // the others say the same
    }
    return findings;
}

std::vector<KernelFinding> run_findings(const KernelFolder& kernel, const Problem& problem, const std::vector<Config>& configs, Backend& backend) {
    constexpr double seconds = 0.3;  // of many steps of a configuration, and of many calls
    const Family& family = kernel.family();
    const Workload data = family.workload(problem, data_seed);
    Verifier verifier(backend, family, problem, data_seed);
    verifier.place();
    verifier.add_other_data(data_seed + 1);
    // What is found, with the configurations in which it is.
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    const auto note = [&](const std::string& wrong, const Config& config) {
        auto same = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == wrong; });
        if (same == found.end()) same = found.insert(same, {wrong, {}});
        same->second.push_back(config.key());
    };
    for (const Config& config : configs) {
        try {
            Match match;
            match.config = config;
            const auto loaded = std::make_shared<const Kernel>(backend, family, problem, match, backend.device().limits);
            const CrashGuard guard(fmt::format("{} on {} with {}", problem.key(), backend.device().fingerprint.name, config.key()));
            StepVerdict verdict = verifier.repeated(loaded, seconds);
            if (verdict.right()) verdict = later_verdict(loaded, verifier, seconds);
            if (!verdict.right())
                for (const std::string& wrong : explained(backend, loaded, verifier, data, verdict)) note(wrong, config);
            if (!verifier.intact()) {
                note("it writes far outside of its arrays", config);
                break;  // nothing is left to compare others with
            }
        } catch (const Error& error) {
            note(error.what(), config);
        }
    }
    KernelFindings findings;
    for (const auto& [wrong, where] : found) {
        const std::string others = where.size() == 1 ? "" : fmt::format(" (and {} of {} others)", where.size() - 1, configs.size() - 1);
        findings.push_back(
            mistake(fmt::format("{} on {} with {}{}: {}", problem.key(), backend.device().fingerprint.name, where.front(), others, wrong)));
    }
    return findings;
}

}  // namespace hone::tools
