#pragma once

#include <optional>
#include <string>

#include "generator/config.hpp"

namespace hone::inline v0_1 {

/// How messages go between GPUs: by peers where they work and else through the host, or as it says.
/// Of peers there are several: copies (by the engines, ordered by flags), stores (kernels store,
/// and raise flags), spin (kernels wait for flags, too), events (copies that events alone order,
/// also where flags would).
enum class MessageWay { best, peer, copies, stores, spin, events, nccl, host };

/// When what lies at the cuts is computed: before the rest; beside it, on an exchange's own stream;
/// or there, but ahead, so that the rest begins when the edges have (of what needs what arrives:
/// beside). Messages go while the rest is computed, but for serial: there it begins when they have
/// arrived. Which is faster depends on kernels, sizes and links.
enum class EdgePlace { before, beside, ahead, serial };

std::string to_string(MessageWay way);
std::string to_string(EdgePlace place);
/// Throw Error that begins with `where` for other words.
MessageWay parse_message_way(const std::string& word, const std::string& where);
EdgePlace parse_edge_place(const std::string& word, const std::string& where);

/// The tunables of exchanges between ranks. No digit depends on them; which are the fastest is
/// found by measuring (tuner/sharing/exchange_tuning.hpp), and kept in the database.
struct ExchangeSettings {
    MessageWay messages = MessageWay::best;
    std::optional<EdgePlace> edges;  ///< nothing: what is usual for an exchange
    int depth = 1;                   ///< layers that are computed as edges, in multiples of the fewest
    int every = 0;                   ///< time steps from one exchange to the next, where a program can choose; 0: it does

    bool operator==(const ExchangeSettings&) const = default;
};

/// `messages=stores,edges=ahead,depth=2,every=1`, each if the configuration has it. Throws Error
/// for other names and values.
ExchangeSettings exchange_settings(const Config& config, const std::string& where);
/// The inverse; with what differs from the default.
Config to_config(const ExchangeSettings& settings);

}  // namespace hone::inline v0_1
