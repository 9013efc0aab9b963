#include "runtime/ranks/gather_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "foundation/error.hpp"
#include "runtime/ranks/device_mail.hpp"

namespace hone::inline v0_1 {
namespace {

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

// What a GPU has of it: the places of all links' words.
struct OnDevice {
    DeviceArray own, copies;

    OnDevice(Backend& backend, const std::vector<std::int64_t>& of_own, const std::vector<std::int64_t>& of_copies)
        : own(uploaded(backend, of_own)), copies(uploaded(backend, of_copies)) {}

    static DeviceArray uploaded(Backend& backend, const std::vector<std::int64_t>& places) {
        const auto bytes = static_cast<std::int64_t>(places.size() * sizeof(std::int64_t));
        DeviceArray array(backend, std::max<std::int64_t>(bytes, 1));
        if (bytes > 0) backend.copy(array.data(), places.data(), bytes);
        backend.synchronise();
        return array;
    }
};

}  // namespace

struct GatherExchange::State {
    Communicator& communicator;
    Backend& backend;
    std::vector<GatherLink> links;
    int word_bytes;
    std::vector<std::int64_t> own, copies;  // of all links, one after the other
    OwnStream stream;
    EdgePlace edges;
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
          edges(edge_place(ranks, EdgePlace::beside)),
          mail(ranks, of, channels_of(links), std::nullopt, stream.get()) {
        if (bytes != 4 && bytes != 8) throw Error("exchange of gathered words", fmt::format("words of {} bytes", bytes), "use words of 4 or 8");
        for (const GatherLink& link : links) {
            own.insert(own.end(), link.own.begin(), link.own.end());
            copies.insert(copies.end(), link.copies.begin(), link.copies.end());
        }
        if (!traits_of(of.device().fingerprint.target).host_memory) device = std::make_unique<OnDevice>(of, own, copies);
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

    void begin(std::span<void* const> of, const std::function<void()>& meanwhile) {
        fields.assign(of.begin(), of.end());
        const bool ahead = device != nullptr && edges != EdgePlace::serial;
        stream.follow();
        if (ahead && meanwhile) meanwhile();
        device != nullptr ? begin_on_device() : begin_on_host();
        if (edges == EdgePlace::serial) {
            finish();
            stream.join();
        }
        if (!ahead && meanwhile) meanwhile();
    }
    void arrive() {
        if (edges != EdgePlace::serial) finish();
    }
    bool joins_at_once() const { return edges == EdgePlace::before || edges == EdgePlace::serial; }
    void finish() { device != nullptr ? end_on_device() : end_on_host(); }

    void begin_on_device() {
        std::vector<std::vector<DeviceMail::Sizes>> sizes;
        for (const GatherLink& link : links)
            sizes.emplace_back(fields.size(), DeviceMail::Sizes{std::ssize(link.own) * word_bytes, std::ssize(link.copies) * word_bytes});
        mail.prepare(sizes);
        mail.send(words_of(&GatherLink::own, device->own));
    }
    void end_on_device() { mail.receive(words_of(&GatherLink::copies, device->copies)); }

    // Of all fields and links, by their places.
    std::vector<DeviceMail::Words> words_of(std::vector<std::int64_t> GatherLink::*list, const DeviceArray& places) const {
        std::vector<DeviceMail::Words> words;
        for (std::size_t field = 0; field < fields.size(); ++field) {
            const auto* place = static_cast<const std::int64_t*>(places.data());
            for (std::size_t link = 0; link < links.size(); place += std::ssize(links[link].*list), ++link)
                words.push_back({link, field, fields[field], place, word_bytes});
        }
        return words;
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

void GatherExchange::begin(std::span<void* const> fields, const std::function<void()>& meanwhile) {
    state_->begin(fields, meanwhile);
}
void GatherExchange::end() {
    arrive();
    join();
}
Stream GatherExchange::arrive() {
    state_->arrive();
    if (!state_->joins_at_once()) return state_->stream.get();
    join();
    return {};
}
void GatherExchange::join() {
    state_->stream.join();
}
std::int64_t GatherExchange::bytes_per_field() const {
    return static_cast<std::int64_t>(state_->size(state_->own.size()));
}

}  // namespace hone::inline v0_1
