#include "benchmarks/rivals.hpp"

#include "foundation/error.hpp"

namespace hone::benchmarks {

std::string real_type(Precision precision) {
    return precision == Precision::f32 ? "using real = float;\n" : "using real = double;\n";
}

std::unique_ptr<Module> rival_module(Backend& backend, const KernelSource& source) {
    const CompileOutcome outcome = backend.compiler().compile(source);
    if (!outcome.ok) throw Error("rival with the entry " + source.entries.front(), outcome.failure + outcome.code.log, "mend benchmarks/rivals");
    return backend.load(outcome.code);
}

PlainLoops::PlainLoops(Backend& backend, const DeviceProblem& problem, const std::string& text) {
    const KernelSource& ours = problem.kernel().source();
    KernelSource source;
    source.text = text;
    source.precision = ours.precision;
    source.entries = {"plain"};
    source.arrays = ours.arrays;
    source.scalars = ours.scalars;
    source.step = {{.entry = "plain", .constants = {}}};
    module_ = rival_module(backend, source);
    entry_ = module_->entry("plain");
    for (std::size_t i = 0; i < source.arrays.size(); ++i) arrays_.push_back(problem.array(i));
    for (const ScalarSpec& scalar : source.scalars) scalars_.push_back(scalar.value);
    scalars_.insert(scalars_.end(), {0, static_cast<int>(problem.kernel().range())});
}

void PlainLoops::sweep() {
    std::vector<void*> arguments;
    for (void*& array : arrays_) arguments.push_back(&array);
    for (int& scalar : scalars_) arguments.push_back(&scalar);
    module_->launch(entry_, {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data());
}

}  // namespace hone::benchmarks
