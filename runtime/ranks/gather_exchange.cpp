#include "runtime/ranks/gather_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "generator/error.hpp"
#include "runtime/ranks/device_mail.hpp"
#include "runtime/ranks/edge_choice.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int block_threads = 256;

template <typename Word>
void pack(const void* field, std::span<const std::int64_t> places, std::byte* packed) {
    const auto* const from = static_cast<const Word*>(field);
    for (std::size_t n = 0; n < places.size(); ++n) std::memcpy(packed + n * sizeof(Word), from + places[n], sizeof(Word));
}

template <typename Word>
void unpack(const std::byte* packed, std::span<const std::int64_t> places, void* field) {
    auto* const to = static_cast<Word*>(field);
    for (std::size_t n = 0; n < places.size(); ++n) std::memcpy(to + places[n], packed + n * sizeof(Word), sizeof(Word));
}

constexpr const char* cuda_text = R"cpp(
    extern "C" __global__ void pack(word* field, const long long* places, word* packed, int first, int last) {
        const int n = first + blockIdx.x * blockDim.x + threadIdx.x;
        if (n < last) packed[n] = field[places[n]];
    }

    extern "C" __global__ void unpack(word* field, const long long* places, word* packed, int first, int last) {
        const int n = first + blockIdx.x * blockDim.x + threadIdx.x;
        if (n < last) field[places[n]] = packed[n];
    }
)cpp";

// What a GPU has of it: the places of all links' words, and the kernels that pack them into messages and back. A message may lie in page-locked
// memory of the host, or in another GPU's: kernels reach both.
class OnDevice {
  public:
    OnDevice(Backend& backend, Stream stream, int word_bytes, const std::vector<std::int64_t>& own, const std::vector<std::int64_t>& copies)
        : backend_(backend),
          stream_(stream),
          module_(load(backend, word_bytes)),
          pack_(module_->entry("pack")),
          unpack_(module_->entry("unpack")),
          own_(uploaded(own)),
          copies_(uploaded(copies)) {}

    // The words first to last of all links' own, or copies.
    void pack(void* field, std::int64_t first, std::int64_t last, std::byte* message) const { launch(pack_, field, own_, first, last, message); }
    void unpack(const std::byte* message, std::int64_t first, std::int64_t last, void* field) const {
        launch(unpack_, field, copies_, first, last, const_cast<std::byte*>(message));
    }

  private:
    static std::unique_ptr<Module> load(Backend& backend, int word_bytes) {
        const CompileOutcome outcome = backend.compiler().compile(GatherExchange::kernels(word_bytes));
        if (!outcome.ok)
            throw Error("the kernels that pack messages", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
        return backend.load(outcome.code);
    }

    DeviceArray uploaded(const std::vector<std::int64_t>& places) const {
        const auto bytes = static_cast<std::int64_t>(places.size() * sizeof(std::int64_t));
        DeviceArray array(backend_, std::max<std::int64_t>(bytes, 1));
        if (bytes > 0) backend_.copy(array.data(), places.data(), bytes);
        backend_.synchronise();
        return array;
    }

    void launch(int entry, void* field, const DeviceArray& of, std::int64_t first, std::int64_t last, std::byte* message) const {
        if (first == last) return;
        void* places = static_cast<std::int64_t*>(of.data()) + first;
        void* packed = message;
        int begin = 0, end = static_cast<int>(last - first);
        std::array<void*, 5> arguments{&field, &places, &packed, &begin, &end};
        module_->launch(entry, {(end + block_threads - 1) / block_threads, 1, 1}, {block_threads, 1, 1}, 0, stream_, arguments.data());
    }

    Backend& backend_;
    Stream stream_;
    std::unique_ptr<Module> module_;
    int pack_, unpack_;
    DeviceArray own_, copies_;
};

}  // namespace

struct GatherExchange::State {
    Communicator& communicator;
    Backend& backend;
    std::vector<GatherLink> links;
    int word_bytes;
    std::vector<std::int64_t> own, copies;  // of all links, one after the other
    OwnStream stream;
    bool edges_beside = asked_edge_place().value_or(EdgePlace::beside) == EdgePlace::beside;
    std::unique_ptr<OnDevice> device;  // nothing where the fields are the host's
    DeviceMail mail;                   // a channel of each link
    std::vector<std::byte> host_buffer;
    std::vector<void*> fields;  // of the exchange that is under way

    State(Communicator& ranks, Backend& of, std::vector<GatherLink> with, int bytes)
        : communicator(ranks),
          backend(of),
          links(checked(std::move(with), ranks)),
          word_bytes(bytes),
          stream(of),
          mail(ranks, of, channels_of(links), asked_message_way(), stream.get()) {
        if (bytes != 4 && bytes != 8) throw Error("exchange of gathered words", fmt::format("words of {} bytes", bytes), "use words of 4 or 8");
        for (const GatherLink& link : links) {
            own.insert(own.end(), link.own.begin(), link.own.end());
            copies.insert(copies.end(), link.copies.begin(), link.copies.end());
        }
        if (of.device().fingerprint.target != Target::cpu) device = std::make_unique<OnDevice>(of, stream.get(), bytes, own, copies);
    }
    static std::vector<GatherLink> checked(std::vector<GatherLink> links, const Communicator& ranks) {
        std::set<int> seen;
        for (const GatherLink& link : links) {
            if (link.neighbour < 0 || link.neighbour >= ranks.size())
                throw Error("exchange of gathered words", fmt::format("a link to rank {} of {}", link.neighbour, ranks.size()), "ranks count from 0");
            if (!seen.insert(link.neighbour).second)
                throw Error("exchange of gathered words", fmt::format("two links to rank {}", link.neighbour), "join their lists");
            for (const auto* places : {&link.own, &link.copies})
                if (std::any_of(places->begin(), places->end(), [](std::int64_t place) { return place < 0; }))
                    throw Error("exchange of gathered words", "a negative place of a word", "count words from 0");
        }
        return links;
    }
    static std::vector<DeviceMail::Channel> channels_of(const std::vector<GatherLink>& links) {
        std::vector<DeviceMail::Channel> channels;
        channels.reserve(links.size());
        for (const GatherLink& link : links) channels.push_back({link.neighbour, 0, 0});
        return channels;
    }

    std::size_t size(std::size_t words) const { return words * static_cast<std::size_t>(word_bytes); }

    // [field]: all that is sent of it, then all that is received.
    std::span<std::byte> sent(std::size_t field) {
        return std::span(host_buffer).subspan(field * size(own.size() + copies.size()), size(own.size()));
    }
    std::span<std::byte> received(std::size_t field) {
        return std::span(host_buffer).subspan(field * size(own.size() + copies.size()) + size(own.size()), size(copies.size()));
    }

    // For each link its number and where its words begin and end among all links'.
    template <typename Action>
    void for_links(std::vector<std::int64_t> GatherLink::*places, const Action& action) const {
        std::int64_t first = 0;
        for (std::size_t n = 0; n < links.size(); ++n) {
            const std::int64_t last = first + std::ssize(links[n].*places);
            action(n, first, last);
            first = last;
        }
    }

    void begin(std::span<void* const> of) {
        fields.assign(of.begin(), of.end());
        device != nullptr ? begin_on_device() : begin_on_host();
    }
    void arrive() { device != nullptr ? end_on_device() : end_on_host(); }

    void begin_on_device() {
        std::vector<std::vector<DeviceMail::Sizes>> sizes;
        for (const GatherLink& link : links)
            sizes.emplace_back(fields.size(), DeviceMail::Sizes{std::ssize(link.own) * word_bytes, std::ssize(link.copies) * word_bytes});
        mail.prepare(sizes);
        stream.follow();
        for (std::size_t field = 0; field < fields.size(); ++field)
            for_links(&GatherLink::own, [&](std::size_t link, std::int64_t first, std::int64_t last) {
                device->pack(fields[field], first, last, mail.out(link, field));
            });
        mail.send();
    }
    void end_on_device() {
        mail.receive();
        for (std::size_t field = 0; field < fields.size(); ++field)
            for_links(&GatherLink::copies, [&](std::size_t link, std::int64_t first, std::int64_t last) {
                device->unpack(mail.in(link, field), first, last, fields[field]);
            });
    }

    void begin_on_host() {
        mail.agree();
        host_buffer.resize(fields.size() * size(own.size() + copies.size()));
        for (std::size_t field = 0; field < fields.size(); ++field) {
            if (word_bytes == 4)
                pack<std::uint32_t>(fields[field], own, sent(field).data());
            else
                pack<std::uint64_t>(fields[field], own, sent(field).data());
        }
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (std::size_t field = 0; field < fields.size(); ++field) {
            std::size_t out = 0, in = 0;
            // Messages between two ranks keep their order, so that fields need no tags.
            for (const GatherLink& link : links) {
                const std::size_t going = size(link.own.size()), coming = size(link.copies.size());
                if (going > 0) sends.push_back({link.neighbour, 0, sent(field).subspan(out, going)});
                if (coming > 0) receives.push_back({link.neighbour, 0, received(field).subspan(in, coming)});
                out += going, in += coming;
            }
        }
        communicator.begin_exchange(sends, receives);
    }
    void end_on_host() {
        communicator.end_exchange();
        for (std::size_t field = 0; field < fields.size(); ++field) {
            if (word_bytes == 4)
                unpack<std::uint32_t>(received(field).data(), copies, fields[field]);
            else
                unpack<std::uint64_t>(received(field).data(), copies, fields[field]);
        }
    }
};

GatherExchange::GatherExchange(Communicator& communicator, Backend& backend, std::vector<GatherLink> links, int word_bytes)
    : state_(std::make_unique<State>(communicator, backend, std::move(links), word_bytes)) {
}
GatherExchange::~GatherExchange() = default;
GatherExchange::GatherExchange(GatherExchange&&) noexcept = default;
GatherExchange& GatherExchange::operator=(GatherExchange&&) noexcept = default;

void GatherExchange::begin(std::span<void* const> fields) {
    state_->begin(fields);
}
void GatherExchange::end() {
    arrive();
    join();
}
Stream GatherExchange::arrive() {
    state_->arrive();
    if (state_->edges_beside) return state_->stream.get();
    join();
    return {};
}
void GatherExchange::join() {
    state_->stream.join();
}
std::int64_t GatherExchange::bytes_per_field() const {
    return static_cast<std::int64_t>(state_->size(state_->own.size()));
}

KernelSource GatherExchange::kernels(int word_bytes) {
    KernelSource source;
    source.target = Target::cuda;
    source.precision = word_bytes == 4 ? Precision::f32 : Precision::f64;
    source.text = fmt::format("// Words of a message: packed from their places in a field, and back.\nusing word = unsigned {};\n{}",
                              word_bytes == 4 ? "int" : "long long", cuda_text);
    for (const char* const name : {"field", "places", "packed"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const char* const name : {"pack", "unpack"}) {
        source.entries.emplace_back(name);
        Launch launch;
        launch.entry = name;
        launch.block = {block_threads, 1, 1};
        source.step.push_back(launch);
    }
    return source;
}

}  // namespace hone::inline v0_1
