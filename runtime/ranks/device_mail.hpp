#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// What exchanges of these ranks do: what the environment variables HONE_MESSAGES and HONE_EDGES
/// ask for, else what Communicator::exchange_settings says, else what is usual. Throw Error for
/// other words.
MessageWay message_way(const Communicator& communicator);
EdgePlace edge_place(const Communicator& communicator, EdgePlace usual);

/// Messages between the memories of ranks' GPUs, by the best way that works between two ranks:
///
/// - *peer*: the sender's device stores into memory of the receiver's, between threads of one
///   process or processes of one host (CUDA IPC). Events order the two devices; the host only tells
///   that there is a message, and waits for no device. Between processes flags in the receiver's
///   memory order them, where they work, and hosts speak only when messages change their lengths.
/// - *host*: by the communicator, through page-locked memory of both hosts, or from device memory
///   where it reaches that (GPU-aware MPI). Usual for processes that take turns on a GPU, too (ADR
///   0052).
/// - *nccl*: NCCL's own ways, also between hosts, where it is asked for. Each rank needs a GPU of
///   its own.
///
///     DeviceMail mail(communicator, backend, {{.neighbour = 1, .tag_out = 0, .tag_in = 0}});
///     mail.prepare({{{bytes_out, bytes_in}}});
///     mail.send(std::array{DeviceMail::Words{0, 0, field, own_places, 8}});
///     ...                                         // work that needs none of the messages
///     mail.receive(std::array{DeviceMail::Words{0, 0, field, places_of_copies, 8}});
///
/// Whether peers work between two ranks they find out at their first message: both open what the
/// other one made, and a few words have to arrive.
class DeviceMail {
  public:
    /// Between this rank and another one, messages in both directions. Channels between the same
    /// two ranks are told apart by tags.
    struct Channel {
        int neighbour = 0, tag_out = 0, tag_in = 0;
    };
    struct Sizes {
        std::int64_t out = 0, in = 0;  ///< bytes
    };

    /// What a piece of a channel is made of, or goes to: words of a field at `places`, which lie on
    /// the device, or without them as many as the piece has from `field` on.
    struct Words {
        std::size_t channel = 0, piece = 0;
        void* field = nullptr;
        const std::int64_t* places = nullptr;
        int bytes = 8;  ///< of a word: 4 or 8
    };

    /// Communicator and backend must outlive it. Neighbours make theirs as well, in the same order.
    /// Messages are written and read on `stream`; `way` in place of message_way(communicator).
    DeviceMail(Communicator& communicator, Backend& backend, const std::vector<Channel>& channels, std::optional<MessageWay> way = {},
               Stream stream = {});
    ~DeviceMail();
    DeviceMail(const DeviceMail&) = delete;
    DeviceMail& operator=(const DeviceMail&) = delete;

    /// Finds out with the neighbours whether both have peers; `prepare` does it, too. Ranks on
    /// processors call this alone and send their messages by the communicator: piece by piece, in
    /// order, by the channel's tags, those of no length left out.
    void agree();
    /// Makes place for the messages of an exchange: [channel][piece]. Both ranks of a channel must
    /// agree on their sizes, and neighbours call it alike; all ranks do where NCCL is asked for.
    /// Throws Error where what is asked for does not work, saying why.
    void prepare(const std::vector<std::vector<Sizes>>& sizes);
    /// Where the device writes a piece after `prepare`, and where it finds one after `receive`:
    /// memory that its kernels and copies reach.
    std::byte* out(std::size_t channel, std::size_t piece);
    std::byte* in(std::size_t channel, std::size_t piece) const;
    /// The messages are what is there once all that was queued on the stream has run.
    void send();
    /// What is queued on the stream from now on finds the messages. `in` keeps its message until
    /// the next `send`; `out` is gone. Throws Error for a message of another length than expected.
    void receive();

    /// "peer", "nccl" or "host": how a channel's messages go, known after the first `prepare`. And
    /// why not by peers, where they do not.
    std::string way(std::size_t channel) const;
    std::string why_not_peer(std::size_t channel) const;
    /// Whether streams of both ends wait for each other by flags: then kernels may raise them.
    bool has_flags(std::size_t channel) const;

    /// `send`, of these words as the stream finds them; and `receive`, which brings them where they
    /// belong. Each piece once, those of a channel in their order.
    void send(std::span<const Words> from);
    void receive(std::span<const Words> to);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
