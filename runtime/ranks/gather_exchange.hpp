#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// An exchange with another rank, by places of words in its arrays. Both ranks must list the same
/// things in the same order.
struct GatherLink {
    int neighbour = 0;
    std::vector<std::int64_t> own;     ///< words that go there
    std::vector<std::int64_t> copies;  ///< where the words go that come from there
};

/// Brings words that other ranks have to their copies here, in two halves, so that work which needs
/// none of them runs in between. For unstructured meshes: traces of discontinuous elements, and
/// degrees of freedom that continuous elements share.
///
///     GatherExchange traces(communicator, backend, links, 8);
///     traces.begin(std::array<void*, 1>{q});        // own words are read here
///     step.launch(boundary, own);
///     step.launch(0, boundary, traces.arrive());    // the copies in q are there on the exchange's stream,
///     traces.join();                                // and here, with what was queued there
///
/// On a GPU everything of an exchange has a stream of its own, and the default stream goes on
/// meanwhile.
///
/// It adds nothing up: a value that several ranks need is made by the rank that owns it, and its
/// copies have the same bits. So no digit knows how many ranks there are. Words are packed, on a
/// GPU by a small kernel that stores them where a DeviceMail wants them: into the memory of the
/// neighbour's GPU where that works, else into page-locked host memory.
class GatherExchange {
  public:
    /// Communicator and backend must outlive it. Throws Error for a neighbour that there is not,
    /// two links to the same one, a word of another size than 4 or 8 bytes, or a negative place.
    GatherExchange(Communicator& communicator, Backend& backend, std::vector<GatherLink> links, int word_bytes);
    ~GatherExchange();
    GatherExchange(GatherExchange&&) noexcept;
    GatherExchange& operator=(GatherExchange&&) noexcept;

    /// All fields at once, as what was queued on the default stream leaves them. Until `end` own
    /// words must not change, nor may copies be written or read. `meanwhile`, if given, queues work
    /// on the default stream that needs none of the copies: on a GPU ahead of what packs messages,
    /// so that it need not wait for that to begin.
    void begin(std::span<void* const> fields, const std::function<void()>& meanwhile = {});
    /// What is queued on the default stream from now on finds the copies: `arrive` and `join`.
    void end();
    /// The exchange's stream: what is queued on it from now on finds the copies, and what was there
    /// on the default stream at `begin`.
    Stream arrive();
    /// What is queued on the default stream from now on runs after what was queued on the
    /// exchange's.
    void join();

    /// Bytes that this rank sends of each field.
    std::int64_t bytes_per_field() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
