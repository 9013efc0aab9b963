#include "solvers/maxwell/wave_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "foundation/error.hpp"
#include "solvers/mesh/renumber.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

// Elements and, as their neighbours, those behind their faces.
MeshItems items_of(const Mesh& mesh, const std::vector<Neighbour>& neighbours) {
    MeshItems items;
    items.starts = {0};
    const auto corners = static_cast<std::size_t>(mesh.corners());
    for (std::size_t k = 0; k < mesh.elements.size(); ++k) {
        std::array<double, 3> middle{};
        for (std::size_t c = 0; c < corners; ++c)
            for (std::size_t x = 0; x < 3; ++x)
                middle[x] += mesh.vertices[static_cast<std::size_t>(mesh.elements[k][c])][x] / static_cast<double>(corners);
        items.places.push_back(middle);
        for (std::size_t f = 0; f < corners; ++f)
            // An element may be its own neighbour where a box is periodic.
            if (const Neighbour& behind = neighbours[k * corners + f]; behind.exists() && behind.element != static_cast<int>(k))
                items.neighbours.push_back(behind.element);
        items.starts.push_back(static_cast<std::int32_t>(items.neighbours.size()));
    }
    return items;
}

}  // namespace

// Which elements of the whole mesh are here, and who their neighbours are, there and here.
struct WavePart::Cut {
    std::vector<Neighbour> whole;
    std::vector<int> rank_of;   // [element of the whole]
    std::vector<int> elements;  // here: those at cut faces, the other own ones, copies; each kind in the order of the whole
    std::vector<int> place;     // [element of the whole]: here, or Mesh::none
    int own = 0, boundary = 0;

    Cut(Communicator& ranks, const Mesh& mesh, const std::string& where, double speed, Cutter cutter) : whole(match_faces(mesh, where)) {
        if (ranks.size() == 1)
            rank_of.assign(mesh.elements.size(), 0);
        else
            rank_of = partition_items(ranks, items_of(mesh, whole), speed, cutter);
        const auto corners = static_cast<std::size_t>(mesh.corners());
        place.assign(rank_of.size(), Mesh::none);
        std::vector<int> inside, copies;
        for (int k = 0; k < mesh.size(); ++k) {
            bool here = false, elsewhere = false;  // its neighbours
            for (std::size_t f = 0; f < corners; ++f) {
                const Neighbour& behind = whole[static_cast<std::size_t>(k) * corners + f];
                if (behind.exists()) (rank_of[static_cast<std::size_t>(behind.element)] == ranks.rank() ? here : elsewhere) = true;
            }
            if (rank_of[static_cast<std::size_t>(k)] == ranks.rank())
                (elsewhere ? elements : inside).push_back(k);
            else if (here)
                copies.push_back(k);
        }
        boundary = static_cast<int>(elements.size());
        elements.insert(elements.end(), inside.begin(), inside.end());
        own = static_cast<int>(elements.size());
        elements.insert(elements.end(), copies.begin(), copies.end());
        for (std::size_t n = 0; n < elements.size(); ++n) place[static_cast<std::size_t>(elements[n])] = static_cast<int>(n);
    }

    // Of all elements here. What lies behind the other faces of a copy nobody asks for.
    std::vector<Neighbour> here(std::size_t corners) const {
        std::vector<Neighbour> result;
        for (std::size_t n = 0; n < elements.size(); ++n)
            for (std::size_t f = 0; f < corners; ++f) {
                Neighbour behind = n < static_cast<std::size_t>(own) ? whole[static_cast<std::size_t>(elements[n]) * corners + f] : Neighbour{};
                if (behind.exists()) behind.element = place[static_cast<std::size_t>(behind.element)];
                result.push_back(behind);
            }
        return result;
    }

    std::vector<std::int64_t> own_numbers() const { return {elements.begin(), elements.begin() + own}; }
};

WavePart::WavePart(Communicator& communicator, const std::string& equation, int order, const Mesh& whole,
                   const std::map<std::string, Material>& materials, const std::string& where, double speed, Cutter cutter)
    : WavePart(
          communicator,
          [&] {
              const std::string own = maxwell::fingerprint(wave_equation(equation), whole, materials_of(whole, materials, where));
              expect_same_on_all_ranks(communicator, "mesh with its materials, as SHA-256,", own);
              return Cut(communicator, whole, where, speed, cutter);
          }(),
          equation, order, whole, materials, where) {
}

WavePart::WavePart(Communicator& communicator, const Cut& cut, const std::string& equation, int order, const Mesh& whole,
                   const std::map<std::string, Material>& materials, const std::string& where)
    : here_(equation, order, communicator.size() == 1 ? whole : reordered(whole, cut.elements), cut.here(static_cast<std::size_t>(whole.corners())),
            materials, where),
      own_(cut.own),
      boundary_(cut.boundary),
      numbers_(cut.elements.begin(), cut.elements.end()),
      elements_(communicator, cut.own_numbers()),
      fingerprint_(maxwell::fingerprint(*here_.equation, whole, materials_of(whole, materials, where))) {
    here_.largest_fscale = all_reduce(communicator, Reduction::largest, here_.largest_fscale);
    here_.largest_speed = all_reduce(communicator, Reduction::largest, here_.largest_speed);
    here_.uniform = all_reduce(communicator, Reduction::smallest, here_.uniform ? 1 : 0) == 1;
    link(cut);
}

// Nodes on the faces between two ranks, in the order of elements of the whole mesh and their nodes,
// which both know.
void WavePart::link(const Cut& cut) {
    using Node = std::pair<int, int>;
    struct Nodes {
        std::vector<Node> own, copies;
    };
    std::map<int, Nodes> of_rank;
    const auto& mask = here_.element->face_mask;
    for (int n = 0; n < boundary_; ++n) {
        const int k = cut.elements[static_cast<std::size_t>(n)];
        for (std::size_t f = 0; f < mask.size(); ++f) {
            const Neighbour& behind = cut.whole[static_cast<std::size_t>(k) * mask.size() + f];
            const int rank = behind.exists() ? cut.rank_of[static_cast<std::size_t>(behind.element)] : ranks().rank();
            if (rank == ranks().rank()) continue;
            for (const int node : mask[f]) of_rank[rank].own.emplace_back(k, node);
            for (const int node : mask[behind.face]) of_rank[rank].copies.emplace_back(behind.element, node);
        }
    }
    const std::int64_t nodes = here_.nodes(), fields = here_.equation->field_count();
    const auto words = [&](std::vector<Node>& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        std::vector<std::int64_t> places;
        for (const auto& [element, node] : list)
            for (std::int64_t field = 0; field < fields; ++field)
                places.push_back((cut.place[static_cast<std::size_t>(element)] * fields + field) * nodes + node);
        return places;
    };
    for (auto& [rank, list] : of_rank) links_.push_back({rank, words(list.own), words(list.copies)});
}

double WavePart::energy(std::span<const double> q) const {
    const std::vector<double> all = here_.energies(q);
    return ordered_sum(elements_, std::span(all).first(static_cast<std::size_t>(own_)));
}

double WavePart::error(std::span<const double> q, const Discretisation::Solution& solution, double time) const {
    const std::vector<double> all = here_.square_errors(q, solution, time);
    return std::sqrt(ordered_sum(elements_, std::span(all).first(static_cast<std::size_t>(own_))));
}

std::vector<std::byte> WavePart::whole_of(std::span<const std::byte> here, int word_bytes) const {
    const std::size_t element = static_cast<std::size_t>(here_.equation->field_count() * here_.nodes() * word_bytes);
    const std::size_t array = element * static_cast<std::size_t>(here_.size());
    // Bytes travel as words of 8.
    const std::size_t padded = (element + sizeof(double) - 1) / sizeof(double);
    std::vector<std::byte> result;
    for (std::size_t begin = 0; begin + array <= here.size(); begin += array) {
        std::vector<double> own(static_cast<std::size_t>(own_) * padded);
        for (std::size_t n = 0; n < static_cast<std::size_t>(own_); ++n) std::memcpy(&own[n * padded], &here[begin + n * element], element);
        const std::vector<double> all = elements_.on_first(own, static_cast<int>(padded));
        const std::size_t at = result.size();
        result.resize(at + all.size() / padded * element);
        for (std::size_t k = 0; k < all.size() / padded; ++k) std::memcpy(&result[at + k * element], &all[k * padded], element);
    }
    return result;
}

std::vector<std::byte> WavePart::part_of(std::span<const std::byte> whole_array, int word_bytes) const {
    const std::size_t element = static_cast<std::size_t>(here_.equation->field_count() * here_.nodes() * word_bytes);
    const std::size_t array = element * static_cast<std::size_t>(whole());
    if (array == 0 || whole_array.size() % array != 0)
        throw Error("state of a mesh", fmt::format("{} bytes", whole_array.size()),
                    fmt::format("give a multiple of {}: that of the same problem", array));
    std::vector<std::byte> result;
    result.reserve(whole_array.size() / array * element * numbers_.size());
    for (std::size_t begin = 0; begin < whole_array.size(); begin += array)
        for (const std::int64_t number : numbers_) {
            const auto bytes = whole_array.subspan(begin + static_cast<std::size_t>(number) * element, element);
            result.insert(result.end(), bytes.begin(), bytes.end());
        }
    return result;
}

}  // namespace hone::inline v0_1::solvers::maxwell
