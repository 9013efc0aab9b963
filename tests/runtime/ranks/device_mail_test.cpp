#include "runtime/ranks/device_mail.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/device_gather.hpp"
#include "runtime/ranks/gather_exchange.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/runtime/ranks/late_device.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"

namespace hone::device_mail_test {
namespace {

using ::testing::HasSubstr;
using Peers = test::LateDevice::Peers;
using Bytes = std::vector<std::byte>;

// Channels between ranks, also two between the same ones and those of a rank to itself, and in each
// round pieces of lengths that both ends know.
struct Case {
    struct Pair {
        int first, second, tag;
    };
    int ranks = 1;
    unsigned seed = 0;
    std::vector<Pair> pairs;

    Bytes piece(std::size_t pair, bool to_second, int round, std::size_t number) const {
        std::mt19937 random(seed + static_cast<unsigned>(pair * 1000 + static_cast<std::size_t>(round) * 50 + number * 2 + (to_second ? 1 : 0)));
        Bytes bytes(random() % 5 == 0 ? 0 : random() % (round % 3 == 2 ? 9000 : 700));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        return bytes;
    }
};

Case random_case(std::mt19937& random) {
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
    Case result{draw(1, 4), static_cast<unsigned>(random()), {}};
    for (int tag = 0; tag < draw(1, 6); ++tag) result.pairs.push_back({draw(0, result.ranks - 1), draw(0, result.ranks - 1), tag});
    return result;
}

// One end of a channel.
struct End {
    std::size_t pair;
    bool is_first;
};

// Rounds whose messages are queued without ever waiting for the device. Returns the ways of the
// channels.
std::vector<std::string> run_rounds(const Case& c, Communicator& communicator, test::LateDevice& device) {
    constexpr int rounds = 9;
    constexpr std::size_t pieces = 2;
    std::vector<End> ends;
    std::vector<DeviceMail::Channel> channels;
    for (std::size_t n = 0; n < c.pairs.size(); ++n) {
        const Case::Pair& pair = c.pairs[n];
        if (pair.first == communicator.rank()) ends.push_back({n, true}), channels.push_back({pair.second, 2 * pair.tag, 2 * pair.tag + 1});
        if (pair.second == communicator.rank()) ends.push_back({n, false}), channels.push_back({pair.first, 2 * pair.tag + 1, 2 * pair.tag});
    }
    DeviceMail mail(communicator, device, channels);
    std::vector<Bytes> sent, received, expected;
    sent.reserve(rounds * ends.size() * pieces), received.reserve(rounds * ends.size() * pieces);  // the device has pointers to them
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::vector<DeviceMail::Sizes>> sizes(ends.size());
        for (std::size_t n = 0; n < ends.size(); ++n)
            for (std::size_t piece = 0; piece < pieces; ++piece) {
                sent.push_back(c.piece(ends[n].pair, ends[n].is_first, round, piece));
                expected.push_back(c.piece(ends[n].pair, !ends[n].is_first, round, piece));
                received.emplace_back(expected.back().size(), std::byte{0xAA});
                sizes[n].push_back({std::ssize(sent.back()), std::ssize(expected.back())});
            }
        mail.prepare(sizes);
        std::size_t at = sent.size() - ends.size() * pieces;
        for (std::size_t n = 0; n < ends.size(); ++n)
            for (std::size_t piece = 0; piece < pieces; ++piece, ++at) device.copy(mail.out(n, piece), sent[at].data(), std::ssize(sent[at]), {});
        mail.send();
        mail.receive();
        at -= ends.size() * pieces;
        for (std::size_t n = 0; n < ends.size(); ++n)
            for (std::size_t piece = 0; piece < pieces; ++piece, ++at)
                device.copy(received[at].data(), mail.in(n, piece), std::ssize(received[at]), {});
    }
    device.synchronise({});
    EXPECT_EQ(received, expected) << "rank " << communicator.rank();
    std::vector<std::string> ways;
    for (std::size_t n = 0; n < ends.size(); ++n) ways.push_back(mail.way(n) + ": " + mail.why_not_peer(n));
    return ways;
}

class ConcurrentDeviceMail : public ::testing::Test {
  protected:
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    test::EnvironmentVariable wish_{"HONE_MESSAGES", {}};

    // On so many ranks, with the way that each of them should take.
    void check(const Case& c, const std::function<Peers(int)>& peers_of, const std::function<std::string(int)>& expected_way) {
        std::vector<std::unique_ptr<test::LateDevice>> devices;
        for (int rank = 0; rank < c.ranks; ++rank)
            devices.push_back(std::make_unique<test::LateDevice>(*backend_, c.seed + static_cast<unsigned>(rank), peers_of(rank)));
        run_thread_ranks(c.ranks, [&](Communicator& communicator) {
            const auto ways = run_rounds(c, communicator, *devices[static_cast<std::size_t>(communicator.rank())]);
            for (const std::string& way : ways) EXPECT_THAT(way, HasSubstr(expected_way(communicator.rank())));
        });
    }
};

TEST_F(ConcurrentDeviceMail, BringsMessagesInTheOrderOfTheDevices) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 6; ++attempt)
        check(
            random_case(random), [](int) { return Peers::present; }, [](int) { return "peer: "; });
}

TEST_F(ConcurrentDeviceMail, GoesThroughTheHostWherePeersDoNotWork) {
    test::FreshRandom random;
    for (const Peers first : {Peers::absent, Peers::deaf}) {
        const Case c{2, static_cast<unsigned>(random()), {{0, 1, 0}, {1, 0, 1}}};
        check(
            c, [&](int rank) { return rank == 0 ? first : Peers::present; },
            [&](int rank) {
                if (first == Peers::absent) return rank == 0 ? "host: " : "host: rank 0 found no way";
                return rank == 0 ? "host: rank 1 found no way" : "host: memory that rank 0 stores into: other words arrived";
            });
    }
    const test::EnvironmentVariable host("HONE_MESSAGES", "host");
    check(
        {2, static_cast<unsigned>(random()), {{0, 1, 0}}}, [](int) { return Peers::present; }, [](int) { return "host: it is asked for"; });
}

TEST_F(ConcurrentDeviceMail, SaysWhatIsWrong) {
    const auto reason = [&](Peers peers, const std::function<void(Communicator&, DeviceMail&)>& work) -> std::string {
        try {
            run_thread_ranks(2, [&](Communicator& communicator) {
                test::LateDevice device(*backend_, 1, peers);
                DeviceMail mail(communicator, device, {{1 - communicator.rank(), 0, 0}});
                work(communicator, mail);
            });
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    for (const Peers peers : {Peers::present, Peers::absent})
        EXPECT_THAT(reason(peers,
                           [](Communicator& communicator, DeviceMail& mail) {
                               mail.prepare({{{8, 8}}});
                               mail.send(), mail.receive();
                               mail.prepare({{{8, 8 + 8 * communicator.rank()}}});
                               mail.send(), mail.receive();
                           }),
                    HasSubstr("rank 0 sends 8 bytes with tag 0, rank 1 expects 16"));
    EXPECT_THAT(reason(Peers::present,
                       [](Communicator& communicator, DeviceMail& mail) {
                           mail.prepare({{{8, 8 + 800 * communicator.rank()}}});
                           mail.send(), mail.receive();
                       }),
                HasSubstr("exchange of messages"));
    EXPECT_THAT(reason(Peers::present, [](Communicator&, DeviceMail& mail) { mail.prepare({}); }), HasSubstr("sizes for 0 channels of 1"));
    const test::EnvironmentVariable peer("HONE_MESSAGES", "peer");
    EXPECT_THAT(reason(Peers::absent, [](Communicator&, DeviceMail& mail) { mail.agree(); }),
                HasSubstr("peers are asked for, and there is no such way"));
    const test::EnvironmentVariable nonsense("HONE_MESSAGES", "pigeon");
    EXPECT_THAT(reason(Peers::present, [](Communicator&, DeviceMail&) {}), HasSubstr("\"pigeon\" is not a way"));
}

// A grid that is cut along z, on devices that are late, beside a rank on a processor that has the
// same halo by messages of the host.
TEST_F(ConcurrentDeviceMail, BringsHalosBesideProcessors) {
    for (const bool mixed : {false, true}) {
        const GridPartition partition{{4, 3, 9}, {1, 1, 3}, {false, false, true}, {1, 1, 3}};
        run_thread_ranks(3, [&](Communicator& communicator) {
            test::LateDevice late(*backend_, static_cast<unsigned>(communicator.rank()));
            const bool on_processor = mixed && communicator.rank() == 1;
            Backend& device = on_processor ? *backend_ : late;
            constexpr std::int64_t plane = 12;
            HaloExchange halo(communicator, device, partition, {.strides = {1, 4, plane}, .origin = 2 * plane, .layers = 2});
            std::array<std::vector<double>, 2> fields;
            const auto word = [&](int field, std::int64_t k, std::int64_t cell) {
                return 1000.0 * field + 100.0 * static_cast<double>((k + 9) % 9) + static_cast<double>(cell);
            };
            const std::int64_t first = 3 * communicator.rank();
            for (int field = 0; field < 2; ++field)
                for (std::int64_t k = first - 2; k < first + 5; ++k)
                    for (std::int64_t cell = 0; cell < plane; ++cell)
                        fields[static_cast<std::size_t>(field)].push_back(k >= first && k < first + 3 ? word(field, k, cell) : -1);
            for (int round = 0; round < 3; ++round) {
                halo.begin(std::array{HaloField{fields[0].data(), 2}, HaloField{fields[1].data(), 1}});
                halo.end();
            }
            device.synchronise();
            for (int field = 0; field < 2; ++field)
                for (std::int64_t k = first - 2; k < first + 5; ++k) {
                    const bool untouched = field == 1 && (k == first - 2 || k == first + 4);
                    for (std::int64_t cell = 0; cell < plane; ++cell)
                        EXPECT_EQ(fields[static_cast<std::size_t>(field)][static_cast<std::size_t>((k - first + 2) * plane + cell)],
                                  untouched ? -1 : word(field, k, cell))
                            << "rank " << communicator.rank() << ", plane " << k;
                }
        });
    }
}

// A stencil on a ring of cells, of which the edges are computed beside the interior or before it,
// and travel meanwhile: against the whole ring in plain loops.
class ConcurrentEdges : public ConcurrentDeviceMail, public ::testing::WithParamInterface<const char*> {};

TEST_P(ConcurrentEdges, TravelWhileTheInteriorIsComputed) {
    const test::EnvironmentVariable edges_go("HONE_EDGES", GetParam());
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    constexpr std::int64_t cells = 12, own = 4;
    constexpr int steps = 40;
    const auto next = [](std::uint64_t left, std::uint64_t here, std::uint64_t right) { return 3 * left + 5 * here + 7 * right + 1; };
    std::vector<std::uint64_t> ring(cells);
    for (std::size_t n = 0; n < ring.size(); ++n) ring[n] = n;
    for (int step = 0; step < steps; ++step) {
        const auto before = ring;
        for (std::size_t n = 0; n < ring.size(); ++n) ring[n] = next(before[(n + cells - 1) % cells], before[n], before[(n + 1) % cells]);
    }
    const GridPartition partition{{1, 1, cells}, {1, 1, 3}, {false, false, true}, {1, 1, own}};
    run_thread_ranks(3, [&](Communicator& communicator) {
        test::LateDevice device(*backend_, seed + static_cast<unsigned>(communicator.rank()));
        std::array<std::vector<std::uint64_t>, 2> fields;
        for (auto& field : fields) field.assign(own + 2, 0);
        const std::int64_t first = own * communicator.rank();
        for (std::int64_t n = -1; n <= own; ++n) fields[0][static_cast<std::size_t>(n + 1)] = static_cast<std::uint64_t>((first + n + cells) % cells);
        HaloExchange halo(communicator, device, partition, {.strides = {1, 1, 1}, .origin = 1});
        for (int step = 0; step < steps; ++step) {
            const std::uint64_t* const from = fields[static_cast<std::size_t>(step % 2)].data();
            std::uint64_t* const to = fields[static_cast<std::size_t>(1 - step % 2)].data();
            const auto launch = [&](std::int64_t begin, std::int64_t end, Stream stream) {
                device.queue(
                    [=] {
                        for (std::int64_t n = begin + 1; n < end + 1; ++n) to[n] = next(from[n - 1], from[n], from[n + 1]);
                    },
                    stream);
            };
            const Stream edges = halo.fork();
            launch(0, 1, edges);
            launch(own - 1, own, edges);
            // What is written there besides gives way to what arrives.
            halo.begin(std::array<void*, 1>{to}, [&](Stream stream) { device.queue([=] { to[0] = to[own + 1] = 999; }, stream); });
            launch(1, own - 1, {});
            halo.end();
        }
        device.synchronise({});
        for (std::int64_t n = 0; n < own; ++n)
            EXPECT_EQ(fields[steps % 2][static_cast<std::size_t>(n + 1)], ring[static_cast<std::size_t>(first + n)]) << "cell " << first + n;
    });
}

INSTANTIATE_TEST_SUITE_P(Concurrent, ConcurrentEdges, ::testing::Values("beside", "before", "ahead", "serial"));

// What every device has of all ranks, round by round, while hosts wait for no device.
TEST_F(ConcurrentDeviceMail, GathersTheWordsOfAllDevices) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    constexpr int rounds = 8;
    for (const Peers peers : {Peers::present, Peers::absent, Peers::deaf})
        for (const int ranks : {1, 2, 4}) {
            std::mt19937 random(seed);
            std::vector<std::int64_t> bytes(static_cast<std::size_t>(ranks));
            for (std::int64_t& count : bytes) count = random() % 5 == 0 ? 0 : static_cast<std::int64_t>(random() % 100);
            const auto word = [&](std::size_t rank, std::int64_t at, int round) {
                return static_cast<std::byte>(31 * rank + static_cast<std::size_t>(7 * at + 3 * round));
            };
            run_thread_ranks(ranks, [&](Communicator& communicator) {
                const auto rank = static_cast<std::size_t>(communicator.rank());
                test::LateDevice late(*backend_, seed + static_cast<unsigned>(rank), rank == 1 ? peers : Peers::present);
                // The last one has no device where words go through the hosts.
                Backend& device = peers == Peers::absent && rank + 1 == bytes.size() && ranks > 2 ? *backend_ : late;
                DeviceGather gather(communicator, device, bytes);
                std::vector<Bytes> own, found, expected;
                own.reserve(rounds), found.reserve(rounds);  // the device has pointers to them
                for (int round = 0; round < rounds; ++round) {
                    own.emplace_back();
                    for (std::int64_t at = 0; at < bytes[rank]; ++at) own.back().push_back(word(rank, at, round));
                    expected.emplace_back();
                    for (std::size_t of = 0; of < bytes.size(); ++of)
                        for (std::int64_t at = 0; at < bytes[of]; ++at) expected.back().push_back(word(of, at, round));
                    found.emplace_back(expected.back().size(), std::byte{0xAA});
                    device.copy(found.back().data(), gather.gather(own.back().data()), std::ssize(found.back()), {});
                }
                device.synchronise({});
                EXPECT_EQ(found, expected) << "rank " << rank << " of " << ranks;
            });
        }
    EXPECT_THROW(run_thread_ranks(2, [&](Communicator& communicator) { DeviceGather(communicator, *backend_, {8}); }), Error);
}

// Through the calls of a CUDA driver: two GPUs of one process.
TEST(DeviceMailOnCuda, StoresIntoTheMemoryOfPeers) {
    const test::EnvironmentVariable wish("HONE_MESSAGES", {});
    for (const bool peers : {true, false}) {
        test::FakeMachine machine;
        machine.state().devices = 2;
        machine.state().peers = peers;
        const std::array<std::unique_ptr<Backend>, 2> devices{machine.backend(0), machine.backend(1)};
        run_thread_ranks(2, [&](Communicator& communicator) {
            Backend& device = *devices[static_cast<std::size_t>(communicator.rank())];
            DeviceArray field(device, 4 * sizeof(std::uint64_t));
            const std::uint64_t base = 10 * static_cast<std::uint64_t>(communicator.rank());
            std::array<std::uint64_t, 4> words{base, base + 1, 0, 0};
            device.copy(field.data(), words.data(), sizeof words);
            GatherExchange exchange(communicator, device, {{1 - communicator.rank(), {1, 0}, {2, 3}}}, 8);
            int between = 0;
            for (int round = 0; round < 3; ++round) {
                exchange.begin(std::array<void*, 1>{field.data()}, [&] { ++between; });
                exchange.end();
            }
            EXPECT_EQ(between, 3);
            device.copy(words.data(), field.data(), sizeof words);
            device.synchronise();
            EXPECT_EQ(words, (std::array<std::uint64_t, 4>{base, base + 1, 11 - base, 10 - base}));
            DeviceMail mail(communicator, device, {{1 - communicator.rank(), 0, 0}});
            mail.prepare({{{8, 8}}});
            EXPECT_EQ(mail.way(0), peers ? "peer" : "host");
            if (!peers && communicator.rank() == 0) {
                EXPECT_THAT(mail.why_not_peer(0), HasSubstr("no peer access to device 1"));
            }
        });
    }
}

// Threads' messages reach the fake driver's device memory, as those of a GPU-aware MPI do a GPU's.
class ReachingDevices final : public Communicator {
  public:
    explicit ReachingDevices(Communicator& of) : of_(of) {}
    int rank() const override { return of_.rank(); }
    int size() const override { return of_.size(); }
    int local_rank() const override { return of_.local_rank(); }
    int local_size() const override { return of_.local_size(); }
    std::string transport() const override { return of_.transport(); }
    bool reaches_devices() const override { return true; }
    void begin_exchange(std::span<const Send> sends, std::span<const Receive> receives) override { of_.begin_exchange(sends, receives); }
    void end_exchange() override { of_.end_exchange(); }
    void all_gather(std::span<const double> own, std::span<const int> counts, std::span<double> all) override { of_.all_gather(own, counts, all); }
    void broadcast(std::span<std::byte> bytes, int root) override { of_.broadcast(bytes, root); }
    void barrier() override { of_.barrier(); }

  private:
    Communicator& of_;
};

TEST(DeviceMailOnCuda, SendsFromDeviceMemoryWhereTheCommunicatorReachesIt) {
    const test::EnvironmentVariable wish("HONE_MESSAGES", "host");
    test::FakeMachine machine;
    machine.state().devices = 2;
    const std::array<std::unique_ptr<Backend>, 2> devices{machine.backend(0), machine.backend(1)};
    run_thread_ranks(2, [&](Communicator& threads) {
        ReachingDevices communicator(threads);
        Backend& device = *devices[static_cast<std::size_t>(communicator.rank())];
        const DeviceArray field(device, 2 * sizeof(std::uint64_t));
        GatherExchange exchange(communicator, device, {{1 - communicator.rank(), {0}, {1}}}, 8);
        for (std::uint64_t round = 0; round < 3; ++round) {
            std::array<std::uint64_t, 2> words{10 * round + static_cast<std::uint64_t>(communicator.rank()), 99};
            device.copy(field.data(), words.data(), sizeof words);
            exchange.begin(std::vector<void*>(1 + round, field.data()));
            exchange.end();
            device.copy(words.data(), field.data(), sizeof words);
            device.synchronise();
            EXPECT_EQ(words[1], 10 * round + static_cast<std::uint64_t>(1 - communicator.rank()));
        }
        communicator.barrier();
        EXPECT_TRUE(machine.state().pinned_memory.empty()) << "words went through the host's memory";
    });
}

// Blocks that are cut along x and y, whose faces do not lie in one piece, on four GPUs.
TEST(DeviceMailOnCuda, PacksFacesOfBlocks) {
    const test::EnvironmentVariable wish("HONE_MESSAGES", {});
    constexpr std::int64_t nx = 3, ny = 2, nz = 3, beyond = 2, width = nx + 2 * beyond, height = ny + 2 * beyond, words = width * height * nz;
    const GridPartition partition{{2 * nx, 2 * ny, nz}, {2, 2, 1}, {true, false, false}};
    for (const bool peers : {true, false}) {
        test::FakeMachine machine;
        machine.state().devices = 4;
        machine.state().peers = peers;
        std::vector<std::unique_ptr<Backend>> devices;
        for (int number = 0; number < 4; ++number) devices.push_back(machine.backend(number));
        run_thread_ranks(4, [&](Communicator& communicator) {
            Backend& device = *devices[static_cast<std::size_t>(communicator.rank())];
            const auto block = partition.block(communicator.rank());
            // Of so many layers around the own cells words are known once they have come; corners
            // never.
            const auto expected = [&](int field, std::int64_t layers, std::int64_t i, std::int64_t j, std::int64_t k) -> double {
                const std::int64_t x = (block[0].first + i + 2 * nx) % (2 * nx), y = block[1].first + j;
                const bool along_x = i >= -layers && i < nx + layers, along_y = j >= -layers && j < ny + layers && y >= 0 && y < 2 * ny;
                const bool in_x = i >= 0 && i < nx, in_y = j >= 0 && j < ny;
                return (in_x && along_y) || (in_y && along_x) ? static_cast<double>(1000 * field + 100 * k + 10 * y + x) : -1;
            };
            const auto for_cells = [&](const auto& visit) {
                for (std::int64_t k = 0; k < nz; ++k)
                    for (std::int64_t j = -beyond; j < ny + beyond; ++j)
                        for (std::int64_t i = -beyond; i < nx + beyond; ++i)
                            visit(i, j, k, static_cast<std::size_t>((i + beyond) + width * (j + beyond) + width * height * k));
            };
            std::array<std::vector<double>, 2> host{std::vector<double>(words), std::vector<double>(words)};
            std::array<DeviceArray, 2> fields;
            const std::array<int, 2> layers{2, 1};
            for (std::size_t field = 0; field < 2; ++field) {
                for_cells([&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t at) {
                    host[field][at] = expected(static_cast<int>(field), 0, i, j, k);
                });
                fields[field] = DeviceArray(device, words * static_cast<std::int64_t>(sizeof(double)));
                device.copy(fields[field].data(), host[field].data(), fields[field].bytes());
            }
            HaloExchange halo(communicator, device, partition,
                              {.strides = {1, width, width * height}, .origin = beyond + beyond * width, .layers = beyond});
            for (int round = 0; round < 3; ++round) {
                halo.begin(std::array{HaloField{fields[0].data(), layers[0]}, HaloField{fields[1].data(), layers[1]}});
                halo.end();
            }
            for (std::size_t field = 0; field < 2; ++field) device.copy(host[field].data(), fields[field].data(), fields[field].bytes());
            device.synchronise();
            for (std::size_t field = 0; field < 2; ++field)
                for_cells([&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t at) {
                    EXPECT_EQ(host[field][at], expected(static_cast<int>(field), layers[field], i, j, k))
                        << "rank " << communicator.rank() << ", cell " << i << ' ' << j << ' ' << k;
                });
        });
    }
}

}  // namespace
}  // namespace hone::device_mail_test
