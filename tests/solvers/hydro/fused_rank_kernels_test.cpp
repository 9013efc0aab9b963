#include "solvers/hydro/fused_rank_kernels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "runtime/library.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/hydro/discretisation.hpp"
#include "solvers/hydro/mass_solver.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::hydro::fused_rank_kernels_test {
namespace {

constexpr int iterations = 3;

// Memory that processes share which were forked since.
class SharedWords {
  public:
    explicit SharedWords(std::size_t words) : bytes_(words * sizeof(double)) {
        void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw Error("shared memory of a test", "there is none", "free some");
        words_ = {static_cast<double*>(memory), words};
    }
    ~SharedWords() { munmap(words_.data(), bytes_); }
    SharedWords(const SharedWords&) = delete;
    SharedWords& operator=(const SharedWords&) = delete;
    std::span<double> words() const { return words_; }

  private:
    std::size_t bytes_;
    std::span<double> words_;
};

// A rank's part of the mesh and of the vectors.
struct Here {
    FusedRankKernels::Part part;
    MassSystem system;
    std::vector<double> r, p, x_after, r_after, p_after;
};

class FusedRankKernelsTest : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    // The first iterations of the whole mesh, by the separate kernels of a processor.
    void prepare(const char* name, int dimension, int order, std::array<int, 3> zones, int ranks) {
        if (!test::rounds_once()) GTEST_SKIP() << "this processor rounds products and sums apart, a GPU together";
        HydroProblem problem = hydro_problem(name, dimension);
        problem.box.zones = zones;
        const QuadMesh mesh = quad_box(problem.box);
        const Discretisation whole(problem, order, mesh);
        const MassSystem& system = whole.velocity_mass;
        const auto rows = static_cast<std::size_t>(system.matrix.rows()), words = rows * static_cast<std::size_t>(dimension);
        std::uniform_real_distribution<> uniform(-1, 1);
        std::vector<double> b(words), x(words), r(words), p(words), w(words), dot(static_cast<std::size_t>(dimension));
        for (double& word : b) word = uniform(random_);
        std::vector<double> sums(static_cast<std::size_t>(MassKernels::sum_words(dimension, system.matrix.rows())));
        std::vector<double> scalars(static_cast<std::size_t>(dimension) * MassKernels::words);
        for (int c = 0; c < dimension; ++c) scalars[static_cast<std::size_t>(c) * MassKernels::words + MassKernels::tolerance] = 1e-20;
        const std::vector<double> q = inverse_diagonal(system);
        const std::vector<std::int32_t> held = held_components(system);
        KernelLibrary library(*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {});
        const std::vector<DeviceArray> matrix = product_arrays(*backend_, system, MassForm::elements);
        std::vector<void*> arrays;
        for (const DeviceArray& array : matrix) arrays.push_back(array.data());
        arrays.insert(arrays.end(), {p.data(), w.data(), dot.data()});
        const BoundKernel multiply(library.kernel(product_problem(system, MassForm::elements)), arrays);
        const MassKernels kernels(*backend_, dimension, system.matrix.rows());
        const MassKernels::Arrays of{b.data(), q.data(), held.data(), w.data(),    dot.data(),
                                     x.data(), r.data(), p.data(),    sums.data(), scalars.data()};
        kernels.start(of);
        first_scalars_ = scalars;
        const std::vector<double> first_r = r, first_p = p;
        for (int n = 0; n < iterations; ++n) multiply.launch(), kernels.update(of), kernels.direction(of);
        scalars_ = scalars;

        here_.resize(static_cast<std::size_t>(ranks));
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            const ZonePart part(communicator, problem, order, mesh);
            const auto words_here = [&](const std::vector<double>& field) {
                State state = whole.first;
                state.velocities = field;
                return part.part_of(state).velocities;
            };
            here_[static_cast<std::size_t>(communicator.rank())] = {FusedRankKernels::part_of(part),
                                                                    part.here().velocity_mass,
                                                                    words_here(first_r),
                                                                    words_here(first_p),
                                                                    words_here(x),
                                                                    words_here(r),
                                                                    words_here(p)};
        });
    }

    FusedRankKernels::Places places() const {
        int stride = 0;
        for (const Here& here : here_) stride = std::max(stride, here.part.stride);
        return FusedRankKernels::places(here_[0].part.components, stride, here_[0].part.whole_rows, here_[0].part.ranks);
    }

    // All that a rank's kernels need on a device, but for the array that others reach.
    struct OnDevice {
        std::vector<DeviceArray> matrix;
        DeviceArray q, held, w, dot, x, r, scalars;

        template <typename Number>
        static DeviceArray array_of(Backend& backend, const std::vector<Number>& numbers) {
            DeviceArray array(backend, static_cast<std::int64_t>(numbers.size() * sizeof(Number)));
            backend.copy(array.data(), numbers.data(), array.bytes());
            backend.synchronise();
            return array;
        }
        OnDevice(Backend& backend, const Here& here, const std::vector<double>& first_scalars)
            : matrix(product_arrays(backend, here.system, MassForm::elements)),
              q(array_of(backend, inverse_diagonal(here.system))),
              held(array_of(backend, held_components(here.system))),
              w(array_of(backend, std::vector<double>(here.r.size(), std::nan("")))),
              dot(backend, 3 * sizeof(double)),
              x(array_of(backend, std::vector<double>(here.r.size(), 0.0))),
              r(array_of(backend, here.r)),
              scalars(array_of(backend, first_scalars)) {}
        void reset(Backend& backend, const Here& here, const std::vector<double>& first_scalars) {
            backend.fill(x.data(), 0, x.bytes());
            backend.copy(r.data(), here.r.data(), r.bytes());
            backend.copy(scalars.data(), first_scalars.data(), scalars.bytes());
            backend.synchronise();
        }
        FusedMassKernels::Product product(const Here& here, const Limits& limits) const {
            const Problem problem = product_problem(here.system, MassForm::elements);
            const Family& family = built_in_families().of(problem);
            FusedMassKernels::Product product{family.kernel(problem, family.space(problem, limits).safe(), limits), {}};
            for (const DeviceArray& array : matrix) product.matrix.push_back(array.data());
            return product;
        }
        FusedRankKernels::Arrays arrays() const { return {q.data(), held.data(), w.data(), dot.data(), x.data(), r.data(), scalars.data()}; }
    };

    // `found`: x, r, then p and scalars. Those of own rows, and all of p, which others have stored
    // here.
    void expect_digits(const Here& here, std::span<const double> found) const {
        const std::size_t words = here.r.size(), own = static_cast<std::size_t>(here.part.own), stride = static_cast<std::size_t>(here.part.stride);
        const auto differing = [&](std::span<const double> is, const std::vector<double>& expected, std::size_t rows) {
            int count = 0;
            for (std::size_t c = 0; c * stride < expected.size(); ++c)
                for (std::size_t row = 0; row < rows; ++row) count += std::memcmp(&is[c * stride + row], &expected[c * stride + row], 8) != 0 ? 1 : 0;
            return count;
        };
        EXPECT_EQ(differing(found.first(words), here.x_after, own), 0) << "x of rank " << here.part.rank;
        EXPECT_EQ(differing(found.subspan(words, words), here.r_after, own), 0) << "r of rank " << here.part.rank;
        EXPECT_EQ(differing(found.subspan(2 * words, words), here.p_after, stride), 0) << "p of rank " << here.part.rank;
        const auto of_scalars = found.subspan(3 * words);
        EXPECT_TRUE(std::equal(of_scalars.begin(), of_scalars.end(), scalars_.begin(), scalars_.end())) << "scalars of rank " << here.part.rank;
    }

    std::random_device::result_type seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_backend("cpu", cache_);
    std::vector<Here> here_;
    std::vector<double> first_scalars_, scalars_;
};

// The text for GPUs in the emulator, which has one block after the other: each rank is a process
// and has one block.
TEST_F(FusedRankKernelsTest, HaveTheDigitsOfOneRank) {
    SCOPED_TRACE(seed_);
    for (const auto& [ranks, most_kept_bytes] : {std::pair{2, 40960}, {3, 40960}, {2, 0}}) {
        prepare("sedov", 3, 2, {4, 4, 5}, ranks);
        if (IsSkipped()) return;
        Limits limits = cuda_limits(90);
        limits.multiprocessors = 1;
        const FusedRankKernels::Places at = places();
        std::vector<std::unique_ptr<SharedWords>> boxes, results;
        std::vector<double*> all;
        std::vector<OnDevice> devices;
        std::vector<FusedRankKernels> kernels;
        for (const Here& here : here_) {
            ASSERT_GT(here.part.border.size(), 0U);
            boxes.push_back(std::make_unique<SharedWords>(static_cast<std::size_t>(at.words)));
            std::copy(here.p.begin(), here.p.end(), boxes.back()->words().begin());
            results.push_back(std::make_unique<SharedWords>(2 * here.r.size() + scalars_.size()));
            all.push_back(boxes.back()->words().data());
        }
        for (std::size_t rank = 0; rank < here_.size(); ++rank) {
            const Here& here = here_[rank];
            devices.emplace_back(*backend_, here, first_scalars_);
            const FusedMassKernels::Product product = devices.back().product(here, limits);
            KernelSource source = FusedRankKernels::source(limits, here.part, product.source, most_kept_bytes);
            // Ranks take turns only where they wait for each other, so that a fence has nothing to
            // do.
            source.text = "inline void __threadfence_system() {}\n" + source.text;
            kernels.emplace_back(*backend_, limits, test::emulated(source), here.part, at, FusedRankKernels::Memory{all[rank], all.data()}, product,
                                 test::emulated(product.source));
        }
        std::vector<pid_t> children;
        for (std::size_t rank = 0; rank < here_.size(); ++rank) {
            const pid_t child = fork();
            ASSERT_GE(child, 0);
            if (child > 0) {
                children.push_back(child);
                continue;
            }
            alarm(60);
            for (int n = 0; n < iterations; ++n) kernels[rank].iterate(devices[rank].arrays());
            const auto result = results[rank]->words();
            const OnDevice& device = devices[rank];
            std::memcpy(result.data(), device.x.data(), static_cast<std::size_t>(device.x.bytes()));
            std::memcpy(&result[here_[rank].r.size()], device.r.data(), static_cast<std::size_t>(device.r.bytes()));
            std::memcpy(&result[2 * here_[rank].r.size()], device.scalars.data(), static_cast<std::size_t>(device.scalars.bytes()));
            _exit(0);
        }
        for (const pid_t child : children) {
            int status = 1;
            waitpid(child, &status, 0);
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        }
        for (std::size_t rank = 0; rank < here_.size(); ++rank) {
            const std::size_t words = here_[rank].r.size();
            const auto result = results[rank]->words(), p = boxes[rank]->words().first(words);
            std::vector<double> found(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(2 * words));
            found.insert(found.end(), p.begin(), p.end());
            found.insert(found.end(), result.begin() + static_cast<std::ptrdiff_t>(2 * words), result.end());
            expect_digits(here_[rank], found);
        }
    }
}

TEST_F(FusedRankKernelsTest, CompileForGpus) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    prepare("sedov", 3, 2, {4, 4, 4}, 2);
    if (IsSkipped()) return;
    const Limits limits = cuda_limits(90);
    const OnDevice device(*backend_, here_[0], first_scalars_);
    const CompileOutcome outcome = nvrtc->compile(FusedRankKernels::source(limits, here_[0].part, device.product(here_[0], limits).source));
    EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
}

// On a GPU, which ranks share in this test alone: each takes a stream, and so few blocks that all
// of them have room together.
using GpuFusedRankKernels = test::OnGpu<FusedRankKernelsTest>;
TEST_F(GpuFusedRankKernels, HaveTheDigitsOfOneRank) {
    SCOPED_TRACE(seed_);
    if (!gpu_) return;
    for (const int blocks : {2, 30}) {
        for (const int ranks : {2, 4}) {
            prepare("sedov", 3, 2, {12, 12, 12}, ranks);
            if (IsSkipped()) return;
            Limits limits = gpu_->device().limits;
            limits.multiprocessors = std::min(blocks, limits.multiprocessors / ranks);
            const FusedRankKernels::Places at = places();
            std::vector<DeviceArray> boxes;
            std::vector<std::uint64_t> addresses;
            std::vector<OnDevice> devices;
            std::vector<FusedRankKernels> kernels;
            std::vector<std::unique_ptr<OwnStream>> streams;
            for (std::size_t rank = 0; rank < here_.size(); ++rank) {
                boxes.push_back(OnDevice::array_of(*gpu_, std::vector<double>(static_cast<std::size_t>(at.words), 0.0)));
                addresses.push_back(reinterpret_cast<std::uintptr_t>(boxes.back().data()));
            }
            const DeviceArray all = OnDevice::array_of(*gpu_, addresses);
            for (std::size_t rank = 0; rank < here_.size(); ++rank) {
                devices.emplace_back(*gpu_, here_[rank], first_scalars_);
                const FusedMassKernels::Product product = devices.back().product(here_[rank], limits);
                kernels.emplace_back(*gpu_, limits, FusedRankKernels::source(limits, here_[rank].part, product.source), here_[rank].part, at,
                                     FusedRankKernels::Memory{boxes[rank].data(), all.data()}, product, product.source);
                streams.push_back(std::make_unique<OwnStream>(*gpu_));
            }
            // Each by itself first, where nobody waits since all flags are up: a driver that loads
            // kernels at their first launch waits for those that run.
            for (std::size_t rank = 0; rank < here_.size(); ++rank) {
                auto* const flags = static_cast<std::byte*>(boxes[rank].data()) + at.flags * static_cast<std::int64_t>(sizeof(double));
                gpu_->fill(flags, 0x70, (at.words - at.flags) * static_cast<std::int64_t>(sizeof(double)));
                kernels[rank].iterate(devices[rank].arrays(), false, streams[rank]->get());
                gpu_->synchronise(streams[rank]->get());
            }
            for (std::size_t rank = 0; rank < here_.size(); ++rank) {
                devices[rank].reset(*gpu_, here_[rank], first_scalars_);
                std::vector<double> words(static_cast<std::size_t>(at.words), 0.0);
                std::copy(here_[rank].p.begin(), here_[rank].p.end(), words.begin());
                gpu_->copy(boxes[rank].data(), words.data(), boxes[rank].bytes());
                gpu_->synchronise();
            }
            for (int n = 0; n < iterations; ++n)
                for (std::size_t rank = 0; rank < here_.size(); ++rank) kernels[rank].iterate(devices[rank].arrays(), false, streams[rank]->get());
            for (const auto& stream : streams) gpu_->synchronise(stream->get());
            for (std::size_t rank = 0; rank < here_.size(); ++rank) {
                const std::size_t words = here_[rank].r.size();
                std::vector<double> found(3 * words + scalars_.size());
                double* to = found.data();
                const std::array<std::pair<const void*, std::size_t>, 4> from{std::pair<const void*, std::size_t>{devices[rank].x.data(), words},
                                                                              {devices[rank].r.data(), words},
                                                                              {boxes[rank].data(), words},
                                                                              {devices[rank].scalars.data(), scalars_.size()}};
                for (const auto& [array, count] : from) {
                    gpu_->copy(to, array, static_cast<std::int64_t>(count * sizeof(double)));
                    to += count;
                }
                gpu_->synchronise();
                SCOPED_TRACE(fmt::format("{} blocks, {} ranks", blocks, ranks));
                expect_digits(here_[rank], found);
            }
        }
    }
}

}  // namespace
}  // namespace hone::solvers::hydro::fused_rank_kernels_test
