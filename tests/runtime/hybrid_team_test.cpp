// Launches shared by two backends give what one gives: bit for bit here, where both compile the
// same source.
#include "runtime/hybrid_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::hybrid_team_test {
namespace {

std::vector<void*> pointers_to(std::vector<HostArray>& arrays) {
    std::vector<void*> all(arrays.size());
    std::transform(arrays.begin(), arrays.end(), all.begin(), [](HostArray& array) { return array.data(); });
    return all;
}

// Looks like a GPU from outside: copies are queued, and done when somebody waits for them.
class QueueingBackend final : public Backend {
  public:
    explicit QueueingBackend(Backend& of) : of_(of), device_(of.device()) { device_.limits.target = Target::cuda; }

    const Device& device() const override { return device_; }
    const Compiler& compiler() const override { return of_.compiler(); }
    std::unique_ptr<Module> load(const CompiledCode& code) override { return of_.load(code); }
    void* allocate(std::int64_t bytes) override { return of_.allocate(bytes); }
    void free(void* pointer) noexcept override { of_.free(pointer); }
    void* allocate_pinned(std::int64_t bytes) override { return of_.allocate_pinned(bytes); }
    void free_pinned(void* pointer) noexcept override { of_.free_pinned(pointer); }
    void copy(void* to, const void* from, std::int64_t bytes, Stream) override {
        queue_.emplace_back([this, to, from, bytes] { of_.copy(to, from, bytes, {}); });
    }
    void fill(void* to, unsigned char byte, std::int64_t bytes, Stream) override {
        queue_.emplace_back([this, to, byte, bytes] { of_.fill(to, byte, bytes, {}); });
    }
    void synchronise(Stream) override { finish(queue_.size()); }
    double seconds(Stream stream, const std::function<void()>& work) override { return of_.seconds(stream, work); }
    std::unique_ptr<StopWatch> make_stop_watch() override { return std::make_unique<Watch>(*this); }
    double largest_difference(const void* a, const void* b, std::int64_t count, ValueType type) override {
        return of_.largest_difference(a, b, count, type);
    }
    bool idle() const { return done_ == queue_.size(); }

  private:
    class Watch final : public StopWatch {
      public:
        explicit Watch(QueueingBackend& of) : of_(of) {}
        void start(Stream) override {}
        void stop(Stream) override { behind_ = of_.queue_.size(); }
        std::optional<double> seconds() override { return of_.done_ >= behind_ ? std::optional(1e-3) : std::nullopt; }
        double wait() override {
            of_.finish(behind_);
            return 1e-3;
        }

      private:
        QueueingBackend& of_;
        std::size_t behind_ = 0;
    };
    void finish(std::size_t until) {
        for (; done_ < until; ++done_) queue_[done_]();
    }

    Backend& of_;
    Device device_;
    std::vector<std::function<void()>> queue_;
    std::size_t done_ = 0;
};

// Two launches in turn: the stress that `points` leaves is what `energy` goes on with. The
// reference's loops, so that nothing is compiled.
class HybridTeamTest : public ::testing::Test {
  protected:
    static constexpr std::int64_t zones = 23;
    enum Points : std::size_t { x, v, e, initial_inverse, mass, gamma, settings, stress, force, dt };

    // Arrays of one memory, the same data in each; results poisoned.
    struct Memory {
        std::vector<HostArray> points, energy;

        std::vector<void*> of_points() { return pointers_to(points); }
        std::vector<void*> of_energy() { return {energy[0].data(), points[stress].data(), energy[2].data()}; }
    };
    Memory memory() const {
        Memory made;
        for (const auto& array : points_data_.arrays) made.points.push_back(array.copy());
        for (const auto& array : energy_data_.arrays) made.energy.push_back(array.copy());
        return made;
    }
    Problem problem(const std::string& result) const {
        return built_in_families().parse_problem("corner_force result=" + result +
                                                 " dimension=2 order=2 precision=f64 zones=" + std::to_string(zones));
    }
    std::shared_ptr<const Kernel> kernel(Backend& on, const Problem& of) const {
        const Family& family = built_in_families().of(of);
        Match match;
        match.config = family.space(of, on.device().limits).safe();
        return std::make_shared<const Kernel>(Kernel::reference(on, family, of, match, on.device().limits));
    }
    TeamPart part(Backend& on, const Problem& of, std::vector<void*> arrays) const { return {kernel(on, of), std::move(arrays)}; }

    test::TemporaryFolder folder_;
    DiskCache cache_{folder_.path()};
    std::unique_ptr<Backend> one_ = make_backend("cpu", cache_);
    std::unique_ptr<Backend> two_ = make_backend("cpu", cache_);
    std::random_device::result_type seed_ = std::random_device{}();
    const Family& family_ = built_in_families().of(problem("points"));
    Workload points_data_ = family_.workload(problem("points"), seed_);
    Workload energy_data_ = family_.workload(problem("energy"), seed_ + 1);
};

TEST_F(HybridTeamTest, GivesTheResultOfOneDeviceAndKeepsWhatIsNotReturnedWhereItIsWanted) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_);
    std::mt19937_64 random(seed_);
    Memory alone = memory();
    kernel(*one_, problem("points"))->launch(alone.of_points());
    kernel(*one_, problem("energy"))->launch(alone.of_energy());
    Memory first = memory();
    Memory second = memory();
    // Nobody has told the second device yet.
    for (const std::size_t sent : {x, v, e}) second.points[sent].poison();
    second.energy[0].poison();
    HybridTeam team(*one_, *two_, zones, zones);
    EXPECT_EQ(team.range(), zones);
    const auto points = team.add(family_, part(*one_, problem("points"), first.of_points()), part(*two_, problem("points"), second.of_points()),
                                 {.sent = {x, v, e}, .returned = {force, dt}});
    const auto energy = team.add(family_, part(*one_, problem("energy"), first.of_energy()), part(*two_, problem("energy"), second.of_energy()),
                                 {.sent = {0}, .returned = {2}});
    for (int round = 0; round < 20; ++round) {
        const auto drawn = [&] { return static_cast<std::int64_t>(random() % (zones + 1)); };
        const std::int64_t found_with = round == 0 ? zones : round == 1 ? 0 : drawn();
        const std::int64_t used_with = drawn();
        SCOPED_TRACE(testing::Message() << found_with << " zones, then " << used_with);
        for (Memory* of : {&first, &second})
            for (HostArray* result : {&of->points[stress], &of->points[force], &of->points[dt], &of->energy[2]}) result->poison();
        team.set_units(found_with);
        team.launch(points);
        const HybridStep times = team.times();
        EXPECT_EQ(times.first > 0, found_with > 0);
        EXPECT_EQ(times.second > 0, found_with < zones);
        EXPECT_GE(times.second, times.exchange);
        EXPECT_GE(times.step, std::max(times.first, times.second - times.exchange));
        for (const std::size_t result : {force, dt}) EXPECT_EQ(largest_difference(first.points[result], alone.points[result]), 0);
        const Transfers before = team.moved();
        team.set_units(used_with);  // the stress goes along
        EXPECT_EQ(team.units(), used_with);
        const std::int64_t words = first.points[stress].bytes() / zones;
        EXPECT_EQ(team.moved().bytes - before.bytes, std::abs(used_with - found_with) * words);
        team.launch(energy);
        team.launch(energy);
        EXPECT_EQ(largest_difference(first.energy[2], alone.energy[2]), 0);
        team.times();
        EXPECT_EQ(team.times().step, 0) << "nothing since";
    }
}

// The processor begins when its words have come, and nobody waits for those that go back.
TEST_F(HybridTeamTest, WaitsForWhatAGpuSendsAndForNothingElse) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_);
    Memory alone = memory();
    kernel(*one_, problem("points"))->launch(alone.of_points());
    kernel(*one_, problem("energy"))->launch(alone.of_energy());
    Memory first = memory();
    Memory second = memory();
    for (const std::size_t sent : {x, v, e}) second.points[sent].poison();
    second.energy[0].poison();
    QueueingBackend gpu(*one_);
    HybridTeam team(gpu, *two_, zones, 9);
    const auto points = team.add(family_, part(*one_, problem("points"), first.of_points()), part(*two_, problem("points"), second.of_points()),
                                 {.sent = {x, v, e}, .returned = {force, dt}});
    const auto energy = team.add(family_, part(*one_, problem("energy"), first.of_energy()), part(*two_, problem("energy"), second.of_energy()),
                                 {.sent = {0}, .returned = {2}});
    team.launch(points);
    EXPECT_FALSE(gpu.idle()) << "what goes back is in order before what follows on the GPU";
    team.set_units(14);
    EXPECT_TRUE(gpu.idle()) << "the processor reads what was moved without asking the GPU";
    team.launch(energy);
    EXPECT_FALSE(gpu.idle());
    EXPECT_DOUBLE_EQ(team.times().step, 2e-3);
    gpu.synchronise({});
    for (const std::size_t result : {force, dt}) EXPECT_EQ(largest_difference(first.points[result], alone.points[result]), 0);
    EXPECT_EQ(largest_difference(first.energy[2], alone.energy[2]), 0);
    EXPECT_THROW(HybridTeam(gpu, gpu, zones, 0), Error) << "two GPUs";
}

TEST_F(HybridTeamTest, RefusesWhatItCannotShare) {
    Memory first = memory();
    Memory second = memory();
    EXPECT_THROW(HybridTeam(*one_, *two_, zones, zones + 1), Error);
    HybridTeam team(*one_, *two_, zones, 5);
    EXPECT_THROW(team.set_units(-1), Error);
    const TeamPart mine = part(*one_, problem("points"), first.of_points());
    const TeamPart other = part(*two_, problem("points"), second.of_points());
    EXPECT_THROW(team.add(family_, mine, part(*two_, problem("energy"), second.of_energy()), {}), Error) << "another problem";
    EXPECT_THROW(team.add(family_, mine, {other.kernel, {other.arrays.begin(), other.arrays.end() - 1}}, {}), Error) << "an array is missing";
    EXPECT_THROW(team.add(family_, mine, other, {.sent = {force}, .returned = {}}), Error) << "a result";
    EXPECT_THROW(team.add(family_, mine, other, {.sent = {}, .returned = {x}}), Error) << "not a result";
    EXPECT_THROW(team.add(family_, mine, other, {.sent = {settings}, .returned = {}}), Error) << "belongs to no unit";
    EXPECT_THROW(team.add(family_, mine, other, {.sent = {17}, .returned = {}}), Error);
    HybridTeam small(*one_, *two_, zones - 1, 0);
    EXPECT_THROW(small.add(family_, mine, other, {}), Error) << "another range";
    const Problem sweep = built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=7 ny=6 nz=8");
    HybridTeam planes(*one_, *two_, kernel(*one_, sweep)->range(), 0);
    EXPECT_THROW(planes.add(built_in_families().of(sweep), {kernel(*one_, sweep), {}}, {kernel(*two_, sweep), {}}, {}), Error) << "neighbours";
}

}  // namespace
}  // namespace hone::hybrid_team_test
