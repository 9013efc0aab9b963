#include "runtime/ranks/device_gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

// What the hosts' gathering counts in.
std::size_t whole_words(std::int64_t bytes) {
    return (static_cast<std::size_t>(bytes) + sizeof(double) - 1) / sizeof(double);
}

}  // namespace

struct DeviceGather::State {
    Communicator& communicator;
    Backend& backend;
    std::vector<std::int64_t> bytes, begins;  // of each rank, and where they lie in `all`
    DeviceArray all;
    std::optional<DeviceMail> mail;   // nothing where words go through the hosts' memory
    std::vector<std::size_t> others;  // the ranks at the ends of its channels
    std::vector<std::vector<DeviceMail::Sizes>> sizes;
    std::unique_ptr<PeerWords> words;  // faster than mail, where it works
    std::byte* pinned = nullptr;       // all words, on their way through the host

    State(Communicator& ranks, Backend& of, std::vector<std::int64_t> with, MessageWay way)
        : communicator(ranks), backend(of), bytes(std::move(with)) {
        if (std::ssize(bytes) != ranks.size() || std::any_of(bytes.begin(), bytes.end(), [](std::int64_t count) { return count < 0; }))
            throw Error("gathering between devices", fmt::format("{} sizes", bytes.size()),
                        fmt::format("give one for each of {} ranks", ranks.size()));
        begins.resize(bytes.size());
        std::exclusive_scan(bytes.begin(), bytes.end(), begins.begin(), std::int64_t{0});
        all = DeviceArray(of, begins.back() + bytes.back());
        open_mail(way);
        if (!mail) pinned = static_cast<std::byte*>(of.allocate_pinned(all.bytes()));
    }
    ~State() {
        if (pinned != nullptr) backend.free_pinned(pinned);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::size_t rank() const { return static_cast<std::size_t>(communicator.rank()); }
    std::byte* place(void* of_all, std::size_t of_rank) const { return static_cast<std::byte*>(of_all) + begins[of_rank]; }

    // Only where all ranks have a way to all others: gathering by hosts takes fewer messages than
    // each with each.
    void open_mail(MessageWay way) {
        std::vector<DeviceMail::Channel> channels;
        for (std::size_t other = 0; other < bytes.size(); ++other) {
            if (other == rank()) continue;
            others.push_back(other);
            channels.push_back({static_cast<int>(other), 0, 0});
            sizes.push_back({{bytes[rank()], bytes[other]}});
        }
        mail.emplace(communicator, backend, channels, way);
        const bool has_device = !traits_of(backend.device().fingerprint.target).host_memory;
        has_device ? mail->prepare(sizes) : mail->agree();
        bool reaches_all = has_device;
        for (std::size_t channel = 0; has_device && channel < channels.size(); ++channel) reaches_all = reaches_all && mail->way(channel) != "host";
        if (all_reduce(communicator, Reduction::smallest, reaches_all ? 1 : 0) == 0) return mail.reset();
        const bool by_nccl = !others.empty() && mail->way(0) == "nccl";
        if (!others.empty() && !by_nccl && way != MessageWay::events) words = PeerWords::make(communicator, backend, bytes);
    }

    void by_mail(const void* own) {
        mail->prepare(sizes);
        for (std::size_t channel = 0; channel < others.size(); ++channel) backend.copy(mail->out(channel, 0), own, bytes[rank()]);
        mail->send();
        backend.copy(place(all.data(), rank()), own, bytes[rank()]);
        mail->receive();
        for (std::size_t channel = 0; channel < others.size(); ++channel)
            backend.copy(place(all.data(), others[channel]), mail->in(channel, 0), bytes[others[channel]]);
    }

    void by_host(const void* own) {
        backend.copy(place(pinned, rank()), own, bytes[rank()]);
        backend.synchronise();
        std::vector<double> own_words(whole_words(bytes[rank()]));
        if (bytes[rank()] > 0) std::memcpy(own_words.data(), place(pinned, rank()), static_cast<std::size_t>(bytes[rank()]));
        std::vector<int> counts(bytes.size());
        std::transform(bytes.begin(), bytes.end(), counts.begin(), [](std::int64_t count) { return static_cast<int>(whole_words(count)); });
        std::vector<double> all_words(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0)));
        communicator.all_gather(own_words, counts, all_words);
        const double* from = all_words.data();
        for (std::size_t of_rank = 0; of_rank < bytes.size(); from += counts[of_rank++])
            if (bytes[of_rank] > 0) std::memcpy(place(pinned, of_rank), from, static_cast<std::size_t>(bytes[of_rank]));
        backend.copy(all.data(), pinned, all.bytes());
    }
};

DeviceGather::DeviceGather(Communicator& communicator, Backend& backend, std::vector<std::int64_t> bytes, std::optional<MessageWay> way)
    : state_(std::make_unique<State>(communicator, backend, std::move(bytes), way ? *way : message_way(communicator))) {
}
DeviceGather::~DeviceGather() = default;

PeerWords* DeviceGather::for_kernels() const {
    return state_->words.get();
}

const void* DeviceGather::gather(const void* own) {
    if (state_->words) return state_->words->gather(own);
    state_->mail ? state_->by_mail(own) : state_->by_host(own);
    return state_->all.data();
}

}  // namespace hone::inline v0_1
