#include "runtime/ranks/device_mail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "runtime/peer_memory.hpp"
#include "runtime/ranks/message_kernels.hpp"
#include "runtime/ranks/nccl_ranks.hpp"

namespace hone::inline v0_1 {
namespace {

// Boxes begin at multiples of it, as device memory does.
constexpr std::int64_t alignment = 256;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

// Two messages may be on their way in one direction: a rank that has received may send again before
// its neighbour has taken what it sent last. It cannot be two ahead, for it waits for the
// neighbour's message in between.
constexpr int slots = PeerBox::events;

struct Line {
    DeviceMail::Channel channel;
    std::vector<DeviceMail::Sizes> pieces;  // of the exchange that is under way
    DeviceMail::Sizes said;                 // of them all: what the neighbour is told, and should tell
    DeviceMail::Sizes all;                  // the same, each aligned
    std::unique_ptr<PeerBox> mine;          // what the neighbour stores into
    std::unique_ptr<PeerBox> theirs;        // the neighbour's, as this device sees it
    DeviceMail::Sizes room;                 // of a slot: in `theirs`, and in `mine`
    bool by_host = false;                   // found to have no other way
    std::string reason;                     // why
    std::vector<std::byte*> out, in;        // of each piece
    bool by_flags = false;                  // streams wait for each other by flags, and hosts not at all
    std::uint32_t sent = 0, received = 0;   // what they count
    bool owes_wait = false;                 // for the flag at `received`, before anything is stored there again
    bool is_told = false;                   // the neighbour was told the messages' length, which is that of the last ones
};

// What peers tell each other when they make room for messages.
struct Offer {
    std::int64_t room_in = 0;
    std::int64_t ticket_bytes = 0;  // 0: none could be made
    std::array<std::byte, 1024> ticket{};
};

std::vector<std::byte> words_of_trial(int from, int to, int slot) {
    std::vector<std::byte> words(alignment);
    for (std::size_t n = 0; n < words.size(); ++n)
        words[n] = static_cast<std::byte>(n * 7 + static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 101 +
                                          static_cast<std::size_t>(slot) * 57 + 1);
    return words;
}

}  // namespace

struct DeviceMail::State {
    Communicator& communicator;
    Backend& backend;
    MessageWay wish;
    Stream stream;
    std::vector<Line> lines;
    bool agreed = false;
    bool is_open = false;  // an exchange of the hosts
    std::optional<NcclRanks> nccl;
    DeviceArray boxes;  // of messages by NCCL, or by a communicator that reaches devices
    int turn = 0;       // the slot of the exchange that is under way
    void* pinned = nullptr;
    std::int64_t pinned_bytes = 0;
    std::vector<std::int64_t> told_out, told_in;  // what peers say of a message: its length
    MessageKernels kernels;

    State(Communicator& ranks, Backend& of, const std::vector<Channel>& channels, MessageWay way, Stream on)
        : communicator(ranks), backend(of), wish(way), stream(on), kernels(of, on) {
        for (const Channel& channel : channels) lines.emplace_back().channel = channel;
        told_out.resize(lines.size());
        told_in.resize(lines.size());
    }
    ~State() {
        if (std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.theirs != nullptr; })) try {
                // Whoever stores here, and what is stored from here, is done: a process may end
                // now.
                for (Line& line : lines) wait_if_owed(line);
                backend.synchronise(stream);
            } catch (const Error&) {  // the device is lost; the run ends by whoever saw it first
            }
        if (pinned != nullptr) backend.free_pinned(pinned);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    static void give_up(Line& line, const std::string& reason) {
        line.by_host = true;
        if (line.reason.empty()) line.reason = reason;
        line.mine.reset(), line.theirs.reset();
    }

    std::vector<Line*> lines_where(const std::function<bool(const Line&)>& wanted) {
        std::vector<Line*> result;
        for (Line& line : lines)
            if (wanted(line)) result.push_back(&line);
        return result;
    }

    void agree() {
        if (std::exchange(agreed, true)) return;
        if (wish == MessageWay::nccl) {
            nccl.emplace(communicator, backend);
            return;
        }
        const auto all = lines_where([](const Line&) { return true; });
        for_all_or_none(all, [&](std::size_t, Line&) {
            if (wish == MessageWay::host) throw Error("it is asked for");
            if (backend.peers() == nullptr) throw Error(backend.device().fingerprint.name, "it has no peers", "use a GPU");
        });
        expect_wish(all);
    }

    void expect_wish(std::span<Line* const> of) const {
        for (const Line* line : of)
            if (wish != MessageWay::best && wish != MessageWay::host && line->by_host)
                throw Error(fmt::format("messages from rank {} to rank {}", communicator.rank(), line->channel.neighbour),
                            "peers are asked for, and there is no such way: " + line->reason, "ask for no way, or use GPUs of one host");
    }

    void prepare(const std::vector<std::vector<Sizes>>& sizes) {
        if (sizes.size() != lines.size())
            throw Error("messages between devices", fmt::format("sizes for {} channels of {}", sizes.size(), lines.size()), "give those of each");
        agree();
        for (std::size_t n = 0; n < lines.size(); ++n) {
            const DeviceMail::Sizes before = lines[n].said;
            lines[n].pieces = sizes[n];
            lines[n].all = lines[n].said = {};
            for (const Sizes& piece : sizes[n]) {
                lines[n].said.out += piece.out, lines[n].said.in += piece.in;
                lines[n].all.out += aligned(piece.out), lines[n].all.in += aligned(piece.in);
            }
            lines[n].is_told = lines[n].is_told && lines[n].said.out == before.out && lines[n].said.in == before.in;
        }
        const auto small = lines_where(
            [](const Line& line) { return !line.by_host && (line.theirs == nullptr || line.all.out > line.room.out || line.all.in > line.room.in); });
        if (!small.empty()) connect(small);
        turn = 1 - turn;
        place();
    }

    // Everything to its neighbour, and from there the same of it. `Word` is what is sent of each
    // line.
    template <typename Word>
    void swap_words(std::span<Line* const> of, std::span<const Word> out, std::span<Word> in) {
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (std::size_t n = 0; n < of.size(); ++n) {
            sends.push_back({of[n]->channel.neighbour, of[n]->channel.tag_out, std::as_bytes(out.subspan(n, 1))});
            receives.push_back({of[n]->channel.neighbour, of[n]->channel.tag_in, std::as_writable_bytes(in.subspan(n, 1))});
        }
        communicator.begin_exchange(sends, receives);
        communicator.end_exchange();
    }
    // Does something for each line; what fails, here or there, goes through the host from then on.
    void for_all_or_none(std::span<Line* const> of, const std::function<void(std::size_t, Line&)>& action) {
        std::vector<std::int32_t> own(of.size(), 1), others(of.size(), 0);
        for (std::size_t n = 0; n < of.size(); ++n) {
            if (!of[n]->by_host) try {
                    action(n, *of[n]);
                } catch (const Error& error) {
                    give_up(*of[n], error.what());
                }
            own[n] = of[n]->by_host ? 0 : 1;
        }
        swap_words<std::int32_t>(of, own, others);
        for (std::size_t n = 0; n < of.size(); ++n)
            if (others[n] == 0) give_up(*of[n], fmt::format("rank {} found no way", of[n]->channel.neighbour));
    }

    // New boxes with enough room. All neighbours of a channel that has too little come here with
    // it, for they know the same sizes.
    void connect(std::span<Line* const> of) {
        for (Line* line : of) wait_if_owed(*line);
        backend.synchronise(stream);  // what still uses the old ones
        std::vector<Offer> own(of.size()), others(of.size());
        for_all_or_none(of, [&](std::size_t n, Line& line) {
            line.theirs.reset(), line.mine.reset();
            line.room = {std::max({line.room.out, line.all.out, alignment}), std::max({line.room.in, line.all.in, alignment})};
            line.mine = backend.peers()->make(slots * line.room.in);
            const std::vector<std::byte> ticket = line.mine->ticket();
            if (ticket.size() > own[n].ticket.size())
                throw Error("memory for other ranks", fmt::format("a ticket of {} bytes", ticket.size()), "shorten it");
            own[n].room_in = line.room.in;
            own[n].ticket_bytes = std::ssize(ticket);
            std::copy(ticket.begin(), ticket.end(), own[n].ticket.begin());
        });
        swap_words<Offer>(of, own, others);
        for_all_or_none(of, [&](std::size_t n, Line& line) {
            const Offer& offer = others[n];
            if (offer.room_in != line.room.out)
                throw Error(fmt::format("rank {}", line.channel.neighbour),
                            fmt::format("it expects {} bytes of rank {}, which sends {}", offer.room_in, communicator.rank(), line.room.out),
                            "sender and receiver must agree");
            line.theirs = backend.peers()->open(std::span(offer.ticket).first(static_cast<std::size_t>(offer.ticket_bytes)));
            if (wish == MessageWay::best && takes_turns(line))
                throw Error("processes take turns on a GPU", "who waits there for another one's event keeps the GPU for a whole turn",
                            "start a rank for each GPU, or NVIDIA's multi-process service");
            line.by_flags = line.is_told = false;
            line.sent = line.received = 0;
        });
        try_out(of);
        if (wish != MessageWay::events) try_flags(of);
        expect_wish(of);
    }

    // A few words in each slot. That a driver opens memory does not say that what is stored there
    // arrives.
    void try_out(std::span<Line* const> of) {
        for_all_or_none(of, [&](std::size_t, Line& line) {
            std::array<std::vector<std::byte>, slots> words;
            for (int slot = 0; slot < slots; ++slot) {
                auto& own = words[static_cast<std::size_t>(slot)] = words_of_trial(communicator.rank(), line.channel.neighbour, slot);
                // By way of the own device, as messages go.
                const DeviceArray here(backend, std::ssize(own));
                backend.copy(here.data(), own.data(), std::ssize(own), stream);
                backend.copy(line.theirs->memory() + slot * line.room.out, here.data(), std::ssize(own), stream);
                line.mine->record(slot, stream, line.theirs->is_outside());
                backend.synchronise(stream);
            }
        });
        for_all_or_none(of, [&](std::size_t, Line& line) {
            for (int slot = 0; slot < slots; ++slot) {
                const auto expected = words_of_trial(line.channel.neighbour, communicator.rank(), slot);
                std::vector<std::byte> words(expected.size());
                line.theirs->wait(slot, stream);
                backend.copy(words.data(), line.mine->memory() + slot * line.room.in, std::ssize(words), stream);
                backend.synchronise(stream);
                if (words != expected)
                    throw Error(fmt::format("memory that rank {} stores into", line.channel.neighbour), "other words arrived than were sent",
                                "ask for the state of the links (nvidia-smi topo -p2p w), and whether the IOMMU stands in between");
            }
        });
    }

    // A host has more ranks than GPUs, so that some share one.
    bool is_crowded() const { return communicator.local_size() > backend.peers()->devices(); }
    // Without the multi-process service only one of the processes that share a GPU is on it at a
    // time, for milliseconds, also when all that it has there waits for another one.
    bool takes_turns(const Line& line) const {
        return line.theirs->is_outside() && (is_crowded() || !line.theirs->is_apart()) && !backend.device().is_shared;
    }

    // Between processes with a GPU each, whether a flag that is set there is seen here. Else events
    // serve, which take longer; but where processes share a GPU, what waits for a flag keeps places
    // on it. So they do where a host has more ranks than GPUs, between ranks on different GPUs as
    // well.
    void try_flags(std::span<Line* const> of) {
        std::vector<std::int32_t> own(of.size(), 1), others(of.size(), 1);
        // What both ends of a line can do.
        const auto for_lines = [&](const auto& works) {
            for (std::size_t n = 0; n < of.size(); ++n) try {
                    own[n] = own[n] != 0 && others[n] != 0 && works(*of[n]) ? 1 : 0;
                } catch (const Error&) {
                    own[n] = 0;
                }
            swap_words<std::int32_t>(of, own, others);
        };
        for_lines([&](Line& line) {
            if (line.by_host || is_crowded() || !line.theirs->is_outside() || !line.theirs->is_apart() || line.theirs->flag() == nullptr)
                return false;
            line.theirs->set_flag(++line.sent, stream);
            backend.synchronise(stream);
            return true;
        });
        for_lines([&](Line& line) {
            std::uint32_t flag = 0;
            backend.copy(&flag, line.mine->flag(), sizeof flag, stream);
            backend.synchronise(stream);
            return flag == ++line.received;
        });
        for (std::size_t n = 0; n < of.size(); ++n) of[n]->by_flags = own[n] != 0 && others[n] != 0;
    }

    // Where the messages of this exchange are written and read.
    void place() {
        const bool on_device = nccl || communicator.reaches_devices();
        std::int64_t wanted = 0;
        for (const Line& line : lines)
            if (line.by_host || nccl) wanted += line.all.out + line.all.in;
        if (on_device && wanted > boxes.bytes()) {
            backend.synchronise(stream);  // what still copies from the old ones
            boxes = DeviceArray(backend, wanted);
        }
        if (!on_device && wanted > pinned_bytes) {
            backend.synchronise(stream);  // what still copies from the old one
            if (pinned != nullptr) backend.free_pinned(std::exchange(pinned, nullptr));
            pinned = backend.allocate_pinned(wanted);
            pinned_bytes = wanted;
        }
        auto* free = static_cast<std::byte*>(on_device ? boxes.data() : pinned);
        for (Line& line : lines) {
            const bool by_peer = !nccl && !line.by_host;
            std::byte* out = by_peer ? line.theirs->memory() + turn * line.room.out : free;
            std::byte* in = by_peer ? line.mine->memory() + turn * line.room.in : free + line.all.out;
            if (!by_peer) free += line.all.out + line.all.in;
            line.out.clear(), line.in.clear();
            for (const Sizes& piece : line.pieces) {
                line.out.push_back(out), line.in.push_back(in);
                out += aligned(piece.out), in += aligned(piece.in);
            }
        }
    }

    // In the order of the stream: neither host nor device waits for anything else.
    void exchange_by_nccl() {
        std::vector<DeviceMessage> sends, receives;
        for (const Line& line : lines)
            for (std::size_t piece = 0; piece < line.pieces.size(); ++piece) {
                sends.push_back({line.channel.neighbour, line.channel.tag_out, line.out[piece], line.pieces[piece].out});
                receives.push_back({line.channel.neighbour, line.channel.tag_in, line.in[piece], line.pieces[piece].in});
            }
        nccl->exchange(sends, receives, stream);
    }

    // Where nothing comes, the flag says only that the neighbour has taken what was sent before:
    // that is time enough to know when something is stored there again.
    void wait_if_owed(Line& line) {
        if (std::exchange(line.owes_wait, false)) line.mine->await_flag(line.received, stream);
    }

    // The same by the kernel that stores there first: it waits while it reads.
    MessageFlag owed_to_kernel(Line& line, const Words& words) {
        if (bytes_out(words) == 0 || !spins(line) || !std::exchange(line.owes_wait, false)) {
            wait_if_owed(line);
            return {};
        }
        return {line.mine->flag(), line.received};
    }

    // Whether kernels raise a line's flag, and wait for it.
    bool raises(const Line& line) const { return line.by_flags && (wish == MessageWay::stores || wish == MessageWay::spin); }
    bool spins(const Line& line) const { return line.by_flags && wish == MessageWay::spin && line.theirs->is_apart(); }

    std::int64_t bytes_out(const Words& words) const { return lines.at(words.channel).pieces.at(words.piece).out; }
    std::int64_t bytes_in(const Words& words) const { return lines.at(words.channel).pieces.at(words.piece).in; }
    static MessageWords of(const Words& words, std::int64_t bytes) { return {words.field, words.places, bytes / words.bytes, words.bytes}; }
    // For each of the words whether no others of their channel come after them, or before.
    static bool is_last(std::span<const Words> all, std::size_t n) {
        return std::none_of(all.begin() + static_cast<std::ptrdiff_t>(n) + 1, all.end(),
                            [&](const Words& words) { return words.channel == all[n].channel; });
    }
    static bool is_first(std::span<const Words> all, std::size_t n) {
        return std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n),
                            [&](const Words& words) { return words.channel == all[n].channel; });
    }

    void send(std::span<const Words> from) {
        std::vector<bool> raised(lines.size());
        for (std::size_t n = 0; n < from.size(); ++n) {
            const Words& words = from[n];
            Line& line = lines.at(words.channel);
            std::byte* const message = line.out.at(words.piece);
            if (line.said.out == 0) continue;
            if (raises(line)) {
                raised[words.channel] = is_last(from, n);
                kernels.put(of(words, bytes_out(words)), message,
                            raised[words.channel] ? MessageFlag{line.theirs->flag(), ++line.sent} : MessageFlag{}, owed_to_kernel(line, words));
                continue;
            }
            wait_if_owed(line);
            if (words.places != nullptr) {
                kernels.put(of(words, bytes_out(words)), message);
            } else {
                backend.copy(message, words.field, bytes_out(words), stream);
            }
        }
        send(raised);
    }

    void receive(std::span<const Words> to) {
        std::vector<bool> awaited(lines.size());
        for (const Words& words : to) awaited[words.channel] = spins(lines.at(words.channel)) && lines.at(words.channel).said.in > 0;
        receive(awaited);
        for (std::size_t n = 0; n < to.size(); ++n) {
            const Words& words = to[n];
            Line& line = lines.at(words.channel);
            const std::byte* const message = line.in.at(words.piece);
            if (line.said.in == 0) continue;
            if (awaited[words.channel] && is_first(to, n))
                kernels.take(of(words, bytes_in(words)), message, {line.mine->flag(), ++line.received});
            else if (words.places != nullptr || raises(line))
                kernels.take(of(words, bytes_in(words)), message);
            else
                backend.copy(words.field, message, bytes_in(words), stream);
        }
    }

    // `raised`: the lines whose flags a kernel raises.
    void send(const std::vector<bool>& raised) {
        if (nccl) return exchange_by_nccl();
        std::vector<Send> sends;
        std::vector<Receive> receives;
        if (std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.by_host; })) backend.synchronise(stream);
        for (std::size_t n = 0; n < lines.size(); ++n) {
            Line& line = lines[n];
            const Channel& channel = line.channel;
            for (std::size_t piece = 0; line.by_host && piece < line.pieces.size(); ++piece) {
                const auto [out, in] = line.pieces[piece];
                if (out > 0) sends.push_back({channel.neighbour, channel.tag_out, {line.out[piece], static_cast<std::size_t>(out)}});
                if (in > 0) receives.push_back({channel.neighbour, channel.tag_in, {line.in[piece], static_cast<std::size_t>(in)}});
            }
            if (line.by_host) continue;
            if (!line.by_flags)
                line.mine->record(turn, stream, line.theirs->is_outside());
            else if (!raised[n])
                line.theirs->set_flag(++line.sent, stream);
            if (line.by_flags && line.is_told) continue;
            told_out[n] = line.said.out;
            sends.push_back({channel.neighbour, channel.tag_out, std::as_bytes(std::span(&told_out[n], 1))});
            receives.push_back({channel.neighbour, channel.tag_in, std::as_writable_bytes(std::span(&told_in[n], 1))});
        }
        is_open = !sends.empty() || !receives.empty();
        if (is_open) communicator.begin_exchange(sends, receives);
    }

    // `awaited`: the lines whose flags a kernel waits for.
    void receive(const std::vector<bool>& awaited) {
        if (nccl) return;
        if (std::exchange(is_open, false)) communicator.end_exchange();
        for (std::size_t n = 0; n < lines.size(); ++n) {
            Line& line = lines[n];
            if (line.by_host) continue;
            if (!(line.by_flags && line.is_told) && told_in[n] != line.said.in)
                throw Error("exchange of messages",
                            fmt::format("rank {} sends {} bytes with tag {}, rank {} expects {}", line.channel.neighbour, told_in[n],
                                        line.channel.tag_in, communicator.rank(), line.said.in),
                            "sender and receiver must agree");
            line.is_told = true;
            if (!line.by_flags)
                line.theirs->wait(turn, stream);
            else if (!awaited[n])
                ++line.received, line.owes_wait = true;
            if (line.said.in > 0) wait_if_owed(line);
        }
    }
};

MessageWay message_way(const Communicator& communicator) {
    const std::string word = environment_variable("HONE_MESSAGES");
    const MessageWay asked = word.empty() ? MessageWay::best : parse_message_way(word, "HONE_MESSAGES");
    return asked == MessageWay::best ? communicator.exchange_settings().messages : asked;
}

EdgePlace edge_place(const Communicator& communicator, EdgePlace usual) {
    const std::string word = environment_variable("HONE_EDGES");
    return word.empty() ? communicator.exchange_settings().edges.value_or(usual) : parse_edge_place(word, "HONE_EDGES");
}

DeviceMail::DeviceMail(Communicator& communicator, Backend& backend, const std::vector<Channel>& channels, std::optional<MessageWay> way,
                       Stream stream)
    : state_(std::make_unique<State>(communicator, backend, channels, way ? *way : message_way(communicator), stream)) {
}
DeviceMail::~DeviceMail() = default;

void DeviceMail::agree() {
    state_->agree();
}
void DeviceMail::prepare(const std::vector<std::vector<Sizes>>& sizes) {
    state_->prepare(sizes);
}
std::byte* DeviceMail::out(std::size_t channel, std::size_t piece) {
    state_->wait_if_owed(state_->lines.at(channel));
    return state_->lines.at(channel).out.at(piece);
}
std::byte* DeviceMail::in(std::size_t channel, std::size_t piece) const {
    return state_->lines.at(channel).in.at(piece);
}
void DeviceMail::send() {
    state_->send(std::vector<bool>(state_->lines.size()));
}
void DeviceMail::receive() {
    state_->receive(std::vector<bool>(state_->lines.size()));
}
void DeviceMail::send(std::span<const Words> from) {
    state_->send(from);
}
void DeviceMail::receive(std::span<const Words> to) {
    state_->receive(to);
}
std::string DeviceMail::way(std::size_t channel) const {
    return state_->nccl ? "nccl" : state_->lines.at(channel).by_host ? "host" : "peer";
}
bool DeviceMail::has_flags(std::size_t channel) const {
    return state_->lines.at(channel).by_flags;
}
std::string DeviceMail::why_not_peer(std::size_t channel) const {
    return state_->lines.at(channel).reason;
}

}  // namespace hone::inline v0_1
