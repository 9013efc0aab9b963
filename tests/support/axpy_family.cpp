#include "tests/support/axpy_family.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "generator/block.hpp"
#include "generator/value_lists.hpp"

namespace hone::test {
namespace {

constexpr int factor = 3;

struct Axpy {
    Precision precision;
    Target target;
    std::int64_t n;
    std::int64_t unroll;
    std::int64_t block;
    std::string storage;
    std::string fault;

    Axpy(const Problem& problem, const Config& config, Target of)
        : precision(problem.precision()),
          target(of),
          n(problem.integer("n")),
          unroll(config.integer("unroll")),
          block(config.integer("block")),
          storage(config.word("storage")),
          fault(config.word("fault")) {}

    std::string qualifiers() const { return target == Target::cuda ? "extern \"C\" __global__ void " : "extern \"C\" void "; }
    std::string table_argument() const { return storage == "literal" ? "" : storage == "table" ? "const real* factor, " : "real* scaled, "; }
    std::string increment() const { return storage == "literal" ? "real(3) * x[i]" : storage == "table" ? "factor[0] * x[i]" : "scaled[i]"; }
};

// A loop over the elements of [first, last) that this thread, or all threads of the processor,
// handle.
Block elements(const Axpy& axpy, const std::string& condition, const std::string& statement) {
    Block block;
    if (axpy.target == Target::cuda) {
        block.line("const long long begin = first + blockIdx.x * {}ll + threadIdx.x;", axpy.block * axpy.unroll);
        block.line("#pragma unroll");
        block.open("for (int u = 0; u < " + std::to_string(axpy.unroll) + "; ++u)");
        block.line("const long long i = begin + u * {};", axpy.block);
        block.line("if (i < last && {}) {}", condition, statement);
        return block.close();
    }
    block.line("#pragma omp parallel for schedule(static)");
    block.open("for (int i = first; i < last; ++i)");
    block.line("if ({}) {}", condition, statement);
    return block.close();
}

// What a program may do to its process, on the cpu alone: declarations, and the statements.
struct Deed {
    std::string declarations;
    std::string statements;
};

const std::map<std::string, Deed>& deeds() {
    const std::string once = "static bool done = false; if (!done && (done = true))";
    static const std::map<std::string, Deed> all{
        {"exit", {"void exit(int);", "exit(0);"}},
        {"print", {"int printf(const char*, ...); int fflush(void*);", R"(printf("{\"outcome\": 1}\nnoise\n"); fflush(nullptr);)"}},
        {"scribble", {"long write(int, const void*, unsigned long);", once + R"( for (int file = 1; file < 32; ++file) write(file, "noise\n", 6);)"}},
        {"fork", {"int fork(); unsigned sleep(unsigned);", once + " if (fork() == 0) while (true) sleep(600);"}},
        {"escape", {"int fork(); int setsid(); unsigned sleep(unsigned);", once + " if (fork() == 0) { setsid(); while (true) sleep(600); }"}},
        {"close", {"int close(int);", "for (int file = 0; file < 64; ++file) close(file);"}},
        {"kill", {"int raise(int);", "raise(9);"}},
        {"stop", {"int raise(int);", "raise(19);"}},
        {"overwrite", {"", "for (int i = n; i < n + 16; ++i) y[i] = real(7);"}},
        {"astray", {"", "for (int i = n + 50000; i < n + 500000; ++i) y[i] = real(7);"}},
        {"odd", {"", "if (n % 2 == 1 && parity == 0) y[0] += real(1);"}},
        {"large", {"", "if (n >= 16384) last = first + (last - first) / 3;"}},
        {"underwrite", {"", "for (int i = -16; i < 0; ++i) y[i] = real(7);"}},
    };
    return all;
}

Block faulty(const Axpy& axpy) {
    Block block;
    if (axpy.fault == "crash") block.text("volatile unsigned long long address = 8;").text("*reinterpret_cast<volatile int*>(address) = 1;");
    // It reads memory that may change: a loop without any effect, and every variable on the stack,
    // a compiler may leave out.
    if (axpy.fault == "hang") block.text("const volatile real* watched = x;").text("while (watched[0] > real(-2)) {").text("}");
    // Sixteen terabytes to read and write, private, of no file, not set aside: they cost nothing
    // until they are used.
    if (axpy.fault == "greedy") {
        block.text("void* const claimed = mmap(nullptr, 1ul << 44, 3, 0x4022, -1, 0);");
        block.text("if (claimed == reinterpret_cast<void*>(-1)) __builtin_trap();");
        block.text("munmap(claimed, 1ul << 44);");
    }
    if (axpy.fault == "launch_failure" && axpy.target == Target::cpu) block.text("no_room[first] = 1;");
    if (const auto deed = deeds().find(axpy.fault); deed != deeds().end()) block.text(deed->second.statements);
    return block;
}

std::string text_of(const Axpy& axpy) {
    Block block;
    block.line("using real = {};", axpy.precision == Precision::f32 ? "float" : "double");
    if (axpy.fault == "compile_failure") block.text("#error this candidate does not compile");
    // More than the loader has left of the memory that a thread begins with.
    if (axpy.fault == "launch_failure" && axpy.target == Target::cpu)
        block.text("__attribute__((tls_model(\"initial-exec\"))) thread_local char no_room[1 << 24];");
    if (const auto deed = deeds().find(axpy.fault); deed != deeds().end()) block.text("extern \"C\" { " + deed->second.declarations + " }");
    if (axpy.fault == "greedy") block.text("extern \"C\" void* mmap(void*, unsigned long, int, int, int, long);");
    if (axpy.fault == "greedy") block.text("extern \"C\" int munmap(void*, unsigned long);");
    block.open(axpy.qualifiers() + "axpy(const real* x, real* y, " + axpy.table_argument() + "int n, int first, int last, int parity)");
    block.append(faulty(axpy));
    const std::string surplus = axpy.fault == "wrong" ? " + real(1)" : "";
    block.append(elements(axpy, "i < n && i % 2 == parity", "y[i] += " + axpy.increment() + surplus + ";"));
    block.close();
    if (axpy.storage == "prepared") {
        block.open(axpy.qualifiers() + "scale(const real* x, real*, real* scaled, int n, int first, int last)");
        block.append(elements(axpy, "i < n", "scaled[i] = real(3) * x[i];"));
        block.close();
    }
    std::string text;
    for (const auto& line : block.lines()) text += line + "\n";
    return text;
}

std::vector<ArraySpec> arrays_of(const Problem& problem) {
    const std::int64_t n = problem.integer("n");
    return {laid_out({"x", Access::in, n, "[n]", "what is added"}, {n}), laid_out({"y", Access::inout, n, "[n]", "what it is added to"}, {n})};
}

KernelSource kernel_of(const Problem& problem, const Config& config, const Limits& limits) {
    const Axpy axpy(problem, config, limits.target);
    KernelSource source;
    source.text = text_of(axpy);
    source.target = limits.target;
    source.precision = axpy.precision;
    source.arrays = arrays_of(problem);
    source.entries = {"axpy"};
    source.scalars = {{"n", static_cast<int>(axpy.n)}};
    Launch launch;
    launch.range_axis = 0;
    launch.range_per_block = axpy.block * axpy.unroll;
    launch.grid = {(axpy.n + launch.range_per_block - 1) / launch.range_per_block, 1, 1};
    // No device takes 4096 threads in a block.
    launch.block = {axpy.fault == "launch_failure" ? 4096 : axpy.block, 1, 1};
    if (axpy.storage == "table") source.tables = {{"factor", 1, {factor}}};
    if (axpy.storage == "prepared") {
        source.tables = {{"scaled", axpy.n, {}}};
        source.entries.emplace_back("scale");
        launch.entry = "scale";
        source.prepare = {launch};
    }
    launch.entry = "axpy";
    for (const int parity : {0, 1}) {
        launch.constants = {parity};
        source.step.push_back(launch);
    }
    source.executed_operations = 2 * static_cast<double>(axpy.n);
    return source;
}

SearchSpace space_of(const std::vector<std::string>& faults) {
    const Constraint plain_faults{"faults", [](const Config& config) -> std::optional<std::string> {
                                      if (config.word("fault") == "none") return std::nullopt;
                                      if (config.integer("unroll") == 1 && config.integer("block") == 64 && config.word("storage") == "literal")
                                          return std::nullopt;
                                      return "a fault comes with unroll=1, block=64 and storage=literal only";
                                  }};
    return SearchSpace({{"unroll", "elements per thread", numbers({1, 2, 4})},
                        {"block", "threads per block", numbers({64, 128, 256})},
                        {"storage", "where the factor is held", words({"literal", "table", "prepared"})},
                        {"fault", "what is wrong with the kernel", words(faults)}},
                       {plain_faults}, {{"unroll", std::int64_t{1}}, {"block", std::int64_t{64}}, {"storage", "literal"}, {"fault", "none"}});
}

template <typename Real>
void plain_loop(const void* x_data, void* y_data, std::int64_t first, std::int64_t last) {
    const auto* x = static_cast<const Real*>(x_data);
    auto* y = static_cast<Real*>(y_data);
    for (std::int64_t i = first; i < last; ++i) y[i] += Real(factor) * x[i];
}

void reference_of(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    problem.precision() == Precision::f32 ? plain_loop<float>(arrays[0], arrays[1], first, last)
                                          : plain_loop<double>(arrays[0], arrays[1], first, last);
}

template <typename Real>
void randomise(HostArray& array, std::mt19937_64& random) {
    std::uniform_real_distribution<Real> distribution(-1, 1);
    for (Real& value : array.values<Real>()) value = distribution(random);
}

Workload workload_of(const Problem& problem, std::uint64_t seed) {
    const Precision precision = problem.precision();
    const std::int64_t n = problem.integer("n");
    std::mt19937_64 random(seed);
    Workload workload;
    for (int i = 0; i < 2; ++i) {
        HostArray& array = workload.arrays.emplace_back(precision, n);
        precision == Precision::f32 ? randomise<float>(array, random) : randomise<double>(array, random);
    }
    workload.expected.emplace_back(precision, 0);
    HostArray& y = workload.expected.emplace_back(workload.arrays[1].copy());
    const std::vector<void*> arrays{workload.arrays[0].data(), y.data()};
    reference_of(problem, arrays, 0, n);
    // Half an epsilon of |3 x| <= 3 for the product and of |y + 3 x| <= 4 for the sum, on either
    // side.
    workload.tolerance = 7 * (precision == Precision::f32 ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon());
    workload.tolerance_reason = "one product and one sum, each rounded once, on either side";
    return workload;
}

}  // namespace

Family axpy_family(const std::vector<std::string>& faults) {
    Family family;
    family.name = "axpy";
    family.summary = "y += 3 x, made up for tests";
    family.source = "every textbook";
    family.example = "axpy precision=f32 n=1000";
    family.parameters = {{.name = "precision", .help = "type of the vectors", .words = {"f32", "f64"}, .fallback = "f32"},
                         {.name = "n", .help = "elements", .words = {}, .low = 1, .high = 1'000'000'000, .extent = true, .fallback = {}}};
    family.range_unit = "elements";
    family.range = [](const Problem& problem) { return problem.integer("n"); };
    family.arrays = arrays_of;
    family.space = [faults](const Problem&, const Limits&) { return space_of(faults); };
    family.kernel = kernel_of;
    family.reference = reference_of;
    family.workload = workload_of;
    family.counts = [](const Problem& problem) {
        const auto n = static_cast<double>(problem.integer("n"));
        return Counts{n, "elements", 2 * n, 3 * n * bytes_per_word(problem.precision())};
    };
    return family;
}

Families axpy_families(const std::vector<std::string>& faults) {
    return Families({axpy_family(faults)});
}

Record axpy_record(const std::string& problem, const std::string& config, const DeviceFingerprint& device) {
    const Families families = axpy_families();
    Record record;
    record.problem = families.parse_problem(problem);
    record.config = families.of(record.problem).space(record.problem, Limits()).parse(config);
    record.device = device;
    record.step = {1e-3, 1e-3, 1e-3, 1e-3, 9};
    record.counts = {1000, "elements", 2000, 12000};
    record.verification_error = 0;
    record.strategy = "random";
    record.evaluations = 9;
    record.date = "2026-11-21T14:05:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

}  // namespace hone::test
