#include "solvers/maxwell/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/maxwell/runge_kutta.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

constexpr std::size_t stages = runge_kutta.size();
constexpr std::int64_t stage_words = 3;  // a, b, dt

template <typename Real>
HostArray rounded(Precision precision, std::span<const double> values) {
    HostArray array(precision, static_cast<std::int64_t>(values.size()));
    std::transform(values.begin(), values.end(), array.values<Real>().begin(), [](double value) { return static_cast<Real>(value); });
    return array;
}

HostArray rounded_to(Precision precision, std::span<const double> values) {
    return precision == Precision::f32 ? rounded<float>(precision, values) : rounded<double>(precision, values);
}

// One kernel in all the ways in which it is launched: per stage, and where it writes other fields
// than it reads, per direction.
struct Launches {
    std::shared_ptr<const Kernel> kernel;
    std::vector<BoundKernel> bound;  ///< [direction][stage], of which there may be one
    double fastest = 0;              ///< seconds
};

}  // namespace

std::vector<Problem> stage_problems(const Discretisation& of, Precision precision, StageForm form, const std::string& arithmetic,
                                    std::int64_t elements) {
    const std::string common = fmt::format(" equation={} order={} precision={} elements={}", of.equation->name, of.element->order,
                                           to_string(precision), elements > 0 ? elements : of.size());
    const std::string materials = of.uniform ? " materials=uniform" : " materials=per_element";
    const std::string products = " arithmetic=" + arithmetic;
    std::vector<std::string> texts{"dg_volume" + common + products, "dg_surface" + common + materials + products, "dg_rk" + common};
    if (form == StageForm::fused) texts = {"dg_stage" + common + materials + products};
    std::vector<Problem> problems;
    problems.reserve(texts.size());
    for (const auto& text : texts) problems.push_back(built_in_families().parse_problem(text));
    return problems;
}

StageForm fastest_form(const Database& database, const Backend& backend, const Discretisation& of, Precision precision, const std::string& arithmetic,
                       std::int64_t elements) {
    // Seconds per element of a stage, by records of these problems on this model of a device.
    const auto cost_of = [&](StageForm form) -> std::optional<double> {
        double sum = 0;
        for (const Problem& problem : stage_problems(of, precision, form, arithmetic, elements)) {
            const Match match = database.best(problem, backend.device().fingerprint, backend.device().limits);
            const bool known = match.grade <= Grade::nearest_size && match.record;
            if (!known || match.record->counts.updates <= 0) return std::nullopt;
            sum += match.record->step.median / match.record->counts.updates;
        }
        return sum;
    };
    const std::optional<double> fused = cost_of(StageForm::fused), kernels = cost_of(StageForm::kernels);
    return fused && kernels && *kernels < *fused ? StageForm::kernels : StageForm::fused;
}

struct WaveSolver::State {
    State(Backend& on, KernelLibrary& library, const Discretisation& what, const WavePart* part, Precision real, StageForm which,
          std::map<std::string, std::string> configurations, const std::string& arithmetic)
        : backend(on), of(what), precision(real), form(which), own(part == nullptr ? what.size() : part->own()) {
        if (part != nullptr && part->ranks().size() > 1) {
            boundary = part->boundary();
            of_ranks = part;
            for (const Problem& problem : stage_problems(of, precision, form, arithmetic, part->whole()))
                if (const std::string family(problem.family()); configurations.count(family) == 0)
                    configurations[family] = library.kernel(problem)->match().config.key();
        }
        for (const Problem& problem : stage_problems(of, precision, form, arithmetic)) {
            const auto given = configurations.find(std::string(problem.family()));
            const SearchSpace space = built_in_families().of(problem).space(problem, backend.device().limits);
            kernels.push_back({given == configurations.end() ? library.kernel(problem) : library.kernel(problem, space.parse(given->second)), {}, 0});
        }
        for (const char* const name : {"q", "res", form == StageForm::fused ? "q_next" : "rhs"}) allocate(name, of.words());
        upload("geometry", of.geometry);
        upload("faces", of.faces);
        if (!of.uniform) upload("materials", of.material_words());
        allocate("stage", static_cast<std::int64_t>(stages) * stage_words);
        upload_neighbours();
        watch = backend.make_stop_watch();
        for (Launches& launches : kernels) bind(launches);
        if (of_ranks != nullptr) make_exchange();
    }

    void make_exchange() {
        traces.emplace(of_ranks->ranks(), backend, of_ranks->links(), static_cast<int>(bytes_per_word(precision)));
        // The first exchange finds the ways to other ranks.
        traces->begin(std::array<void*, 1>{data(current())});
        traces->end();
    }

    void* data(const std::string& name) const { return arrays.at(name).data(); }

    void allocate(const std::string& name, std::int64_t words) {
        arrays[name] = DeviceArray(backend, words * bytes_per_word(precision));
        backend.fill(data(name), 0, arrays[name].bytes());
    }

    void upload(const std::string& name, std::span<const double> values) {
        if (arrays.count(name) == 0) allocate(name, static_cast<std::int64_t>(values.size()));
        const HostArray array = rounded_to(precision, values);
        backend.copy(data(name), array.data(), array.bytes());
        backend.synchronise();
    }

    // Indices of 32 bits in an array whose length counts in words.
    void upload_neighbours() {
        const auto bytes = static_cast<std::int64_t>(of.neighbour.size() * sizeof(std::int32_t));
        const std::int64_t word = bytes_per_word(precision);
        allocate("vmapP", (bytes + word - 1) / word);
        backend.copy(data("vmapP"), of.neighbour.data(), bytes);
        backend.synchronise();
    }

    static bool takes(const Launches& launches, const char* name) {
        const auto& specs = launches.kernel->source().arrays;
        return std::any_of(specs.begin(), specs.end(), [&](const ArraySpec& spec) { return spec.name == name; });
    }

    // Fused stages write the fields elsewhere, so that after a step of five of them old and new
    // have changed places.
    void bind(Launches& launches) {
        const auto& specs = launches.kernel->source().arrays;
        for (std::size_t direction = 0; direction < (takes(launches, "q_next") ? 2U : 1U); ++direction)
            for (std::size_t stage = 0; stage < (takes(launches, "stage") ? stages : 1U); ++stage) {
                std::vector<void*> pointers;
                pointers.reserve(specs.size());
                for (const auto& spec : specs) pointers.push_back(pointer(spec.name, direction, stage));
                launches.bound.emplace_back(launches.kernel, pointers);
            }
    }

    void* pointer(std::string name, std::size_t direction, std::size_t stage) const {
        if (name == "stage") return static_cast<char*>(data(name)) + static_cast<std::int64_t>(stage) * stage_words * bytes_per_word(precision);
        if ((direction + stage) % 2 == 1 && form == StageForm::fused && (name == "q" || name == "q_next")) name = name == "q" ? "q_next" : "q";
        return data(name);
    }

    // launch(launches, kernel, first element, last element, stream)
    template <typename Launch>
    void each_launch(Launch launch) {
        for (std::size_t stage = 0; stage < stages; ++stage) {
            for (Launches& launches : kernels) {
                const bool by_stage = launches.bound.size() > 1;
                const BoundKernel& kernel = launches.bound[by_stage ? (launches.bound.size() > stages ? stages * turned : 0) + stage : 0];
                // A stage's first kernel needs nothing that was launched after the exchange began.
                const bool beside = &launches == &kernels.front(), waits = traces && takes(launches, "vmapP");
                const auto inner = [&] { launch(launches, kernel, waits ? boundary : 0, own, Stream{}); };
                if (traces && beside)
                    traces->begin(std::array<void*, 1>{pointer("q", turned, stage)}, inner);
                else
                    inner();
                if (!waits) continue;
                const Stream arrived = traces->arrive();
                if (!beside) traces->join();
                launch(launches, kernel, 0, boundary, beside ? arrived : Stream{});
                if (beside) traces->join();
            }
        }
        if (form == StageForm::fused) turned = 1 - turned;
    }

    const std::string& current() const {
        static const std::array<std::string, 2> names{"q", "q_next"};
        return names[turned];
    }

    Backend& backend;
    const Discretisation& of;
    Precision precision;
    StageForm form;
    int own;                               ///< elements, of which these have copies of elements elsewhere for neighbours:
    int boundary = 0;                      ///< the first ones
    const WavePart* of_ranks = nullptr;    ///< of several
    std::optional<GatherExchange> traces;  ///< with other ranks
    std::map<std::string, DeviceArray> arrays;
    std::vector<Launches> kernels;
    std::unique_ptr<StopWatch> watch;
    std::size_t turned = 0;  ///< 1: the fields are in q_next
};

WaveSolver::WaveSolver(Backend& backend, KernelLibrary& library, const Discretisation& of, Precision precision, StageForm form,
                       const std::map<std::string, std::string>& configurations, const std::string& arithmetic)
    : state_(std::make_unique<State>(backend, library, of, nullptr, precision, form, configurations, arithmetic)) {
}
WaveSolver::WaveSolver(Backend& backend, KernelLibrary& library, const WavePart& part, Precision precision, StageForm form,
                       const std::map<std::string, std::string>& configurations, const std::string& arithmetic)
    : state_(std::make_unique<State>(backend, library, part.here(), &part, precision, form, configurations, arithmetic)) {
}
WaveSolver::~WaveSolver() = default;

void WaveSolver::renew_exchanges() {
    if (state_->of_ranks == nullptr) return;
    state_->backend.synchronise();
    state_->make_exchange();
}

void WaveSolver::set_fields(std::span<const double> q) {
    State& s = *state_;
    if (static_cast<std::int64_t>(q.size()) != s.of.words())
        throw Error("fields of the wave solver", fmt::format("{} values", q.size()), fmt::format("give {}", s.of.words()));
    s.upload(s.current(), q);
    s.backend.fill(s.data("res"), 0, s.arrays.at("res").bytes());
    s.backend.synchronise();
}

std::vector<double> WaveSolver::fields() const {
    const State& s = *state_;
    HostArray array(s.precision, s.of.words());
    s.backend.copy(array.data(), s.data(s.current()), array.bytes());
    s.backend.synchronise();
    std::vector<double> values(static_cast<std::size_t>(array.words()));
    if (s.precision == Precision::f32)
        std::copy_n(array.values<float>().begin(), values.size(), values.begin());
    else
        std::copy_n(array.values<double>().begin(), values.size(), values.begin());
    return values;
}

void WaveSolver::set_step(double dt) {
    std::vector<double> words;
    for (const RungeKuttaStage& stage : runge_kutta) words.insert(words.end(), {stage.a, stage.b, dt});
    state_->upload("stage", words);
}

void WaveSolver::step() {
    state_->each_launch([](Launches&, const BoundKernel& kernel, int first, int last, Stream stream) { kernel.launch(first, last, stream); });
}

double WaveSolver::timed_step() {
    StopWatch& watch = *state_->watch;
    double before = 0, all = 0;  // of the elements that were launched first; of all launches
    state_->each_launch([&](Launches& launches, const BoundKernel& kernel, int first, int last, Stream stream) {
        watch.start(stream);
        kernel.launch(first, last, stream);
        watch.stop(stream);
        const double own = watch.wait(), seconds = own + before;
        all += own;
        before = first > 0 ? seconds : 0;
        if (first == 0) launches.fastest = launches.fastest == 0 ? seconds : std::min(launches.fastest, seconds);
    });
    return all;
}

void WaveSolver::synchronise() {
    state_->backend.synchronise();
}

std::vector<std::byte> WaveSolver::state() const {
    const State& s = *state_;
    const std::int64_t half = s.arrays.at("q").bytes();
    std::vector<std::byte> bytes(2 * static_cast<std::size_t>(half));
    s.backend.copy(bytes.data(), s.data(s.current()), half);
    s.backend.copy(bytes.data() + half, s.data("res"), half);
    s.backend.synchronise();
    return bytes;
}

void WaveSolver::set_state(std::span<const std::byte> bytes) {
    State& s = *state_;
    const std::int64_t half = s.arrays.at("q").bytes();
    if (static_cast<std::int64_t>(bytes.size()) != 2 * half)
        throw Error("state of the wave solver", fmt::format("{} bytes", bytes.size()), fmt::format("give {}: that of the same problem", 2 * half));
    s.backend.copy(s.data(s.current()), bytes.data(), half);
    s.backend.copy(s.data("res"), bytes.data() + half, half);
    s.backend.synchronise();
}

std::map<std::string, std::string> WaveSolver::configurations() const {
    std::map<std::string, std::string> result;
    for (const Launches& launches : state_->kernels) result[std::string(launches.kernel->problem().family())] = launches.kernel->match().config.key();
    return result;
}

std::vector<KernelRate> WaveSolver::rates() const {
    std::vector<KernelRate> result;
    const double share = static_cast<double>(state_->own) / state_->of.size();
    for (const Launches& launches : state_->kernels) {
        const Kernel& kernel = *launches.kernel;
        const Counts counts = built_in_families().of(kernel.problem()).counts(kernel.problem());
        result.push_back({std::string(kernel.problem().family()), fmt::format("{}, {}", to_string(kernel.match().grade), kernel.match().config.key()),
                          launches.fastest, share * counts.operations, share * kernel.source().executed_operations, share * counts.bytes});
    }
    return result;
}

double WaveSolver::operations_per_step() const {
    double operations = 0;
    for (const KernelRate& rate : rates()) operations += rate.operations;
    return operations * static_cast<double>(stages);
}

}  // namespace hone::inline v0_1::solvers::maxwell
