#include "runtime/ranks/peer_arrays.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/peer_memory.hpp"

namespace hone::inline v0_1 {

struct PeerArrays::State {
    Communicator& communicator;
    Backend& backend;
    std::vector<std::unique_ptr<PeerBox>> boxes;  // [rank]: the own one, and the others' as this device sees them
    DeviceArray pointers;

    State(Communicator& ranks, Backend& of) : communicator(ranks), backend(of), boxes(static_cast<std::size_t>(ranks.size())) {}

    std::size_t rank() const { return static_cast<std::size_t>(communicator.rank()); }

    // Makes the own one. Returns what the others open it by; nothing where there is no way.
    std::vector<std::byte> make_own(std::int64_t bytes) {
        if (bytes <= 0 || backend.peers() == nullptr) return {};
        try {
            boxes[rank()] = backend.peers()->make(bytes);
            backend.fill(boxes[rank()]->memory(), 0, bytes);
            backend.synchronise();
            return boxes[rank()]->ticket();
        } catch (const Error&) {
            return {};
        }
    }
    bool open(std::size_t other, std::span<const std::byte> ticket) {
        if (other == rank()) return true;
        try {
            boxes[other] = backend.peers()->open(ticket);
        } catch (const Error&) {
            return false;
        }
        return boxes[other]->is_apart();
    }

    // On all ranks, or on none.
    bool connect(std::int64_t bytes) {
        const std::vector<std::byte> own = make_own(bytes);
        std::vector<double> lengths(boxes.size());
        const auto length = static_cast<double>(own.size());
        communicator.all_gather({&length, 1}, equal_counts(communicator, 1), lengths);
        if (*std::min_element(lengths.begin(), lengths.end()) == 0) return false;
        // Bytes travel as whole words, all tickets as long as the longest.
        const auto words = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()) + sizeof(double) - 1) / sizeof(double);
        std::vector<double> ticket(words), all(words * boxes.size());
        std::memcpy(ticket.data(), own.data(), own.size());
        communicator.all_gather(ticket, equal_counts(communicator, static_cast<int>(words)), all);
        bool good = true;
        for (std::size_t other = 0; good && other < boxes.size(); ++other)
            good = open(other, std::as_bytes(std::span(all).subspan(other * words, words)).first(static_cast<std::size_t>(lengths[other])));
        if (all_reduce(communicator, Reduction::smallest, good ? 1 : 0) == 0) return false;
        std::vector<std::uint64_t> addresses(boxes.size());
        std::transform(boxes.begin(), boxes.end(), addresses.begin(),
                       [](const auto& box) { return reinterpret_cast<std::uintptr_t>(box->memory()); });
        pointers = DeviceArray(backend, static_cast<std::int64_t>(addresses.size() * sizeof addresses[0]));
        backend.copy(pointers.data(), addresses.data(), pointers.bytes());
        backend.synchronise();
        return true;
    }
};

PeerArrays::PeerArrays(std::unique_ptr<State> state) : state_(std::move(state)) {
}
PeerArrays::~PeerArrays() {
    try {
        state_->backend.synchronise();  // whoever stores here, and what is stored from here, is done
    } catch (const Error&) {            // the device is lost; the run ends by whoever saw it first
    }
}

std::unique_ptr<PeerArrays> PeerArrays::make(Communicator& communicator, Backend& backend, std::int64_t bytes) {
    auto state = std::make_unique<State>(communicator, backend);
    return state->connect(bytes) ? std::unique_ptr<PeerArrays>(new PeerArrays(std::move(state))) : nullptr;
}

std::byte* PeerArrays::own() const {
    return state_->boxes[state_->rank()]->memory();
}
const void* PeerArrays::all() const {
    return state_->pointers.data();
}

}  // namespace hone::inline v0_1
