#include "solvers/hydro/zone_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "foundation/error.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr auto chunk_nodes = static_cast<std::int32_t>(Discretisation::node_chunk);

template <typename Number>
std::string_view bytes_of(std::span<const Number> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// Chunks of nodes, which are neighbours where they have a zone together. A zone makes work for all
// chunks that it has nodes of.
MeshItems items_of(const QuadMesh& mesh, const QuadLattice& lattice) {
    const auto chunks = static_cast<std::size_t>((lattice.nodes + chunk_nodes - 1) / chunk_nodes);
    const std::size_t per_zone = lattice.zone_nodes.size() / mesh.zones.size();
    MeshItems items;
    items.places.resize(chunks);
    items.work.resize(chunks);
    std::vector<std::map<int, int>> together(chunks);
    for (std::size_t zone = 0; zone < mesh.zones.size(); ++zone) {
        const Point middle = place_in_zone(mesh, zone, {0.5, 0.5, mesh.dimension == 3 ? 0.5 : 0.0});
        std::set<int> of_zone;
        for (std::size_t node = 0; node < per_zone; ++node) of_zone.insert(lattice.zone_nodes[zone * per_zone + node] / chunk_nodes);
        for (const int chunk : of_zone) {
            items.work[static_cast<std::size_t>(chunk)] += 1;
            for (std::size_t x = 0; x < 3; ++x) items.places[static_cast<std::size_t>(chunk)][x] += middle[x];
            for (const int other : of_zone)
                if (other != chunk) ++together[static_cast<std::size_t>(chunk)][other];
        }
    }
    items.starts = {0};
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        for (double& x : items.places[chunk]) x /= items.work[chunk];
        for (const auto& [other, zones] : together[chunk]) items.neighbours.push_back(other), items.words.push_back(zones);
        items.starts.push_back(static_cast<std::int32_t>(items.neighbours.size()));
    }
    return items;
}

// Ranks take all zones around their nodes, of which those at cuts are several ranks' work: how many
// they are, only the cut tells. So chunks at cuts go from the rank whose zones take longest to
// another one, as long as the two are done earlier then.
class ZoneBalance {
  public:
    ZoneBalance(const QuadLattice& lattice, std::size_t per_zone, std::span<const double> speeds, std::vector<int>& rank_of_chunk)
        : speeds_(speeds),
          rank_of_chunk_(rank_of_chunk),
          chunks_of_zone_(lattice.zone_nodes.size() / per_zone),
          zones_of_chunk_(rank_of_chunk.size()),
          zones_(speeds.size()),
          chunks_(speeds.size()) {
        for (std::size_t zone = 0; zone < chunks_of_zone_.size(); ++zone) {
            std::set<std::size_t> chunks;
            for (std::size_t node = 0; node < per_zone; ++node)
                chunks.insert(static_cast<std::size_t>(lattice.zone_nodes[zone * per_zone + node] / chunk_nodes));
            for (const std::size_t chunk : chunks) zones_of_chunk_[chunk].push_back(zone);
            chunks_of_zone_[zone].assign(chunks.begin(), chunks.end());
            for (const int rank : ranks_of(zone)) ++zones_[static_cast<std::size_t>(rank)];
        }
        for (const int rank : rank_of_chunk_) ++chunks_[static_cast<std::size_t>(rank)];
        for (std::size_t chunk = 0; chunk < rank_of_chunk_.size(); ++chunk) find_moves(chunk);
    }

    void improve() {
        while (const auto move = best_move()) {
            const auto from = static_cast<std::size_t>(rank_of_chunk_[move->chunk]), to = static_cast<std::size_t>(move->to);
            zones_[from] -= move->fewer, zones_[to] += move->more, --chunks_[from], ++chunks_[to];
            rank_of_chunk_[move->chunk] = move->to;
            std::set<std::size_t> around;
            for (const std::size_t zone : zones_of_chunk_[move->chunk]) around.insert(chunks_of_zone_[zone].begin(), chunks_of_zone_[zone].end());
            for (const std::size_t chunk : around) find_moves(chunk);
        }
    }

  private:
    struct Move {
        std::size_t chunk;
        int to;
        std::int64_t fewer = 0, more = 0;  // zones of the one rank and of the other
    };

    double seconds(std::size_t rank, std::int64_t change) const { return static_cast<double>(zones_[rank] + change) / speeds_[rank]; }
    std::set<int> ranks_of(std::size_t zone) const {
        std::set<int> ranks;
        for (const std::size_t chunk : chunks_of_zone_[zone]) ranks.insert(rank_of_chunk_[chunk]);
        return ranks;
    }

    std::optional<Move> best_move() const {
        std::size_t slowest = 0;
        for (std::size_t rank = 0; rank < zones_.size(); ++rank)
            if (seconds(rank, 0) > seconds(slowest, 0)) slowest = rank;
        std::optional<Move> best;
        double least = seconds(slowest, 0);
        if (chunks_[slowest] == 1) return best;
        for (const auto& [chunk, moves] : moves_) {
            if (rank_of_chunk_[chunk] != static_cast<int>(slowest)) continue;
            for (const Move& move : moves) {
                const double longer = std::max(seconds(slowest, -move.fewer), seconds(static_cast<std::size_t>(move.to), move.more));
                if (longer < least) least = longer, best = move;
            }
        }
        return best;
    }

    // Few chunks lie at cuts, and a move changes what its neighbours can do alone: to look at all
    // chunks for each move would grow as the product of the mesh and its cuts.
    void find_moves(std::size_t chunk) {
        if (is_at_cut(chunk))
            moves_[chunk] = moves_of(chunk);
        else
            moves_.erase(chunk);
    }

    bool is_at_cut(std::size_t chunk) const {
        const auto of_another = [&](std::size_t other) { return rank_of_chunk_[other] != rank_of_chunk_[chunk]; };
        return std::any_of(zones_of_chunk_[chunk].begin(), zones_of_chunk_[chunk].end(),
                           [&](std::size_t zone) { return std::any_of(chunks_of_zone_[zone].begin(), chunks_of_zone_[zone].end(), of_another); });
    }

    // To each rank that has a zone together with it.
    std::vector<Move> moves_of(std::size_t chunk) const {
        const int own = rank_of_chunk_[chunk];
        std::set<int> others;
        std::vector<std::set<int>> beside;  // ranks of each zone's other chunks
        for (const std::size_t zone : zones_of_chunk_[chunk]) {
            std::set<int>& ranks = beside.emplace_back();
            for (const std::size_t other : chunks_of_zone_[zone])
                if (other != chunk) ranks.insert(rank_of_chunk_[other]);
            others.insert(ranks.begin(), ranks.end());
        }
        others.erase(own);
        std::vector<Move> moves;
        for (const int to : others) {
            const auto without = [&](int rank) {
                return std::count_if(beside.begin(), beside.end(), [&](const auto& ranks) { return ranks.count(rank) == 0; });
            };
            moves.push_back({chunk, to, without(own), without(to)});
        }
        return moves;
    }

    std::span<const double> speeds_;
    std::vector<int>& rank_of_chunk_;
    std::vector<std::vector<std::size_t>> chunks_of_zone_, zones_of_chunk_;
    std::map<std::size_t, std::vector<Move>> moves_;  // of each chunk at a cut
    std::vector<std::int64_t> zones_, chunks_;        // of each rank
};

std::string mesh_text(const HydroProblem& problem, int order, const QuadMesh& mesh) {
    std::string text = fmt::format("{} {} {}", problem.name, order, problem.blast);
    text += bytes_of(std::span<const Point>(mesh.vertices));
    text += bytes_of(std::span<const std::array<std::int32_t, 8>>(mesh.zones));
    return sha256(text);
}

}  // namespace

// Who has what: nodes here in their order, and the lattice of the whole mesh.
struct ZonePart::Cut {
    QuadLattice lattice;
    std::size_t per_zone;
    std::vector<int> rank_of_chunk;
    int rank;
    ZoneSelection selection;
    std::size_t own_nodes = 0;
    std::vector<int> own_zones;                                           // numbers here
    std::vector<std::int64_t> zone_numbers, node_numbers, chunk_numbers;  // of what is own, in the whole mesh

    int owner(std::int32_t node) const { return rank_of_chunk[static_cast<std::size_t>(node / chunk_nodes)]; }
    std::span<const std::int32_t> nodes_of(int zone) const {
        return std::span(lattice.zone_nodes).subspan(static_cast<std::size_t>(zone) * per_zone, per_zone);
    }

    Cut(Communicator& ranks, int order, const QuadMesh& mesh, const std::string& where, double speed, Cutter cutter)
        : lattice(number_lattice(mesh, order, where.c_str())), per_zone(lattice.zone_nodes.size() / mesh.zones.size()), rank(ranks.rank()) {
        const MeshItems items = items_of(mesh, lattice);
        if (std::ssize(items.places) < ranks.size())
            throw Error(where, fmt::format("{} nodes, of which ranks take {} at a time, for {} ranks", lattice.nodes, chunk_nodes, ranks.size()),
                        fmt::format("start at most {}, or take a finer mesh", items.size()));
        rank_of_chunk = partition_items(ranks, items, speed, cutter);
        std::vector<double> speeds(static_cast<std::size_t>(ranks.size()));
        ranks.all_gather({&speed, 1}, equal_counts(ranks, 1), speeds);
        ZoneBalance(lattice, per_zone, speeds, rank_of_chunk).improve();
        std::set<std::int32_t> others;
        for (int zone = 0; zone < mesh.size(); ++zone) {
            const auto nodes = nodes_of(zone);
            if (std::none_of(nodes.begin(), nodes.end(), [&](std::int32_t node) { return owner(node) == rank; })) continue;
            if (owner(nodes.front()) == rank) own_zones.push_back(static_cast<int>(selection.zones.size())), zone_numbers.push_back(zone);
            selection.zones.push_back(zone);
            for (const std::int32_t node : nodes)
                if (owner(node) != rank) others.insert(node);
        }
        for (std::int32_t node = 0; node < lattice.nodes; ++node) {
            if (owner(node) != rank) continue;
            if (node % chunk_nodes == 0) chunk_numbers.push_back(node / chunk_nodes);
            selection.nodes.push_back(node);
            node_numbers.push_back(node);
        }
        own_nodes = selection.nodes.size();
        selection.nodes.insert(selection.nodes.end(), others.begin(), others.end());
    }
};

ZonePart::ZonePart(Communicator& communicator, const HydroProblem& problem, int order, const QuadMesh& whole, const std::string& where, double speed,
                   Cutter cutter)
    : ZonePart(
          communicator,
          [&] {
              if (order < 1 || order > 8) throw Error("order of " + problem.name, fmt::format("it is {}", order), "use 1 to 8");
              expect_same_on_all_ranks(communicator, "problem with its mesh, as SHA-256,", mesh_text(problem, order, whole));
              return Cut(communicator, order, whole, where, speed, cutter);
          }(),
          problem, order, whole, where) {
}

ZonePart::ZonePart(Communicator& communicator, const Cut& cut, const HydroProblem& problem, int order, const QuadMesh& whole,
                   const std::string& where)
    : here_(problem, order, whole, cut.lattice, cut.selection, where),
      selection_(cut.selection),
      own_nodes_(cut.own_nodes),
      own_zones_(cut.own_zones),
      whole_nodes_(cut.lattice.nodes),
      zones_(communicator, cut.zone_numbers),
      nodes_(communicator, cut.node_numbers),
      chunks_(communicator, cut.chunk_numbers) {
    here_.first_length = here_.length_of(ordered_sum(zones_, own_words_of_zones(here_.zone_sizes, 1)), whole_zones());
    link(cut);
    const State first = whole_of(here_.first);
    const std::vector<double> mass =
        zones_.on_first(own_words_of_zones(here_.mass, here_.points_of_zone()), static_cast<int>(here_.points_of_zone()));
    const std::vector<double> gamma = zones_.on_first(own_words_of_zones(here_.gamma, 1));
    fingerprint_ = hydro::fingerprint(cut.lattice.zone_nodes, first, mass, gamma);
    communicator.broadcast(std::as_writable_bytes(std::span(fingerprint_.data(), fingerprint_.size())), 0);
}

// A node's value goes to all ranks that have a zone with it: both sides find the same nodes, in the
// order of the whole mesh.
void ZonePart::link(const Cut& cut) {
    struct Nodes {
        std::set<std::int32_t> own, copies;
    };
    std::map<int, Nodes> of_rank;
    for (const int zone : cut.selection.zones) {
        std::set<int> owners;
        for (const std::int32_t node : cut.nodes_of(zone)) owners.insert(cut.owner(node));
        for (const int other : owners) {
            if (other == cut.rank) continue;
            Nodes& nodes = of_rank[other];
            for (const std::int32_t node : cut.nodes_of(zone)) {
                if (cut.owner(node) == cut.rank) nodes.own.insert(node);
                if (cut.owner(node) == other) nodes.copies.insert(node);
            }
        }
    }
    std::map<std::int32_t, std::int64_t> here;
    for (std::size_t node = 0; node < selection_.nodes.size(); ++node) here[selection_.nodes[node]] = static_cast<std::int64_t>(node);
    const auto words = [&](const std::set<std::int32_t>& nodes) {
        std::vector<std::int64_t> places;
        for (int component = 0; component < here_.dimension; ++component)
            for (const std::int32_t node : nodes) places.push_back(component * static_cast<std::int64_t>(here_.nodes()) + here.at(node));
        return places;
    };
    for (const auto& [rank, nodes] : of_rank) links_.push_back({rank, words(nodes.own), words(nodes.copies)});
}

std::vector<double> ZonePart::own_words_of_zones(std::span<const double> here, std::size_t words) const {
    std::vector<double> result;
    result.reserve(own_zones_.size() * words);
    for (const int zone : own_zones_) {
        const auto of_zone = here.subspan(static_cast<std::size_t>(zone) * words, words);
        result.insert(result.end(), of_zone.begin(), of_zone.end());
    }
    return result;
}

double ZonePart::internal_energy(std::span<const double> energies) const {
    return ordered_sum(zones_, own_words_of_zones(here_.internal_energies(energies), 1));
}

double ZonePart::kinetic_energy(std::span<const double> velocities) const {
    return ordered_sum(chunks_, here_.doubled_kinetic_energies(velocities, own_nodes_)) / 2;
}

State ZonePart::whole_of(const State& of) const {
    const auto at_nodes = [&](const std::vector<double>& field) {
        std::vector<double> result;
        for (std::size_t c = 0; c < static_cast<std::size_t>(here_.dimension); ++c) {
            const std::vector<double> component = nodes_.on_first(std::span(field).subspan(c * here_.nodes(), own_nodes_));
            result.insert(result.end(), component.begin(), component.end());
        }
        return result;
    };
    State whole;
    whole.positions = at_nodes(of.positions);
    whole.velocities = at_nodes(of.velocities);
    whole.energies = zones_.on_first(own_words_of_zones(of.energies, here_.energies_of_zone()), static_cast<int>(here_.energies_of_zone()));
    return whole;
}

State ZonePart::part_of(const State& whole) const {
    const auto d = static_cast<std::size_t>(here_.dimension), nodes = static_cast<std::size_t>(whole_nodes_), words = here_.energies_of_zone();
    const auto zones = static_cast<std::size_t>(whole_zones());
    if (whole.positions.size() != d * nodes || whole.velocities.size() != d * nodes || whole.energies.size() != zones * words)
        throw Error("state of a whole mesh", fmt::format("{} words of positions, {} of energies", whole.positions.size(), whole.energies.size()),
                    fmt::format("there are {} nodes and {} zones", nodes, zones));
    State part;
    for (std::size_t c = 0; c < d; ++c)
        for (const std::int32_t node : selection_.nodes) {
            part.positions.push_back(whole.positions[c * nodes + static_cast<std::size_t>(node)]);
            part.velocities.push_back(whole.velocities[c * nodes + static_cast<std::size_t>(node)]);
        }
    for (const int zone : selection_.zones) {
        const auto begin = whole.energies.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(zone) * words);
        part.energies.insert(part.energies.end(), begin, begin + static_cast<std::ptrdiff_t>(words));
    }
    return part;
}

std::string fingerprint(std::span<const std::int32_t> zone_nodes, const State& first, std::span<const double> mass, std::span<const double> gamma) {
    std::string text(bytes_of(zone_nodes));
    for (const std::span<const double> numbers :
         {std::span<const double>(first.positions), std::span<const double>(first.velocities), std::span<const double>(first.energies), mass, gamma})
        text += bytes_of(numbers);
    return sha256(text);
}

}  // namespace hone::inline v0_1::solvers::hydro
