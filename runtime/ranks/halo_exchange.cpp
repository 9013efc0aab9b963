#include "runtime/ranks/halo_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/ranks/device_mail.hpp"

namespace hone::inline v0_1 {
namespace {

// A box of cells in an array, in words.
struct Box {
    std::int64_t origin = 0;
    std::array<std::int64_t, 3> cells{}, strides{};

    std::int64_t words() const { return cells[0] * cells[1] * cells[2]; }
    // Whether its words follow each other.
    bool whole() const {
        std::int64_t expected = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (cells[axis] > 1 && strides[axis] != expected) return false;
            expected *= cells[axis];
        }
        return true;
    }
    // The part of it that has so many layers along an axis, at its end or its beginning.
    Box part(std::size_t axis, std::int64_t layers, bool at_end) const {
        Box result = *this;
        if (at_end) result.origin += (cells[axis] - layers) * strides[axis];
        result.cells[axis] = layers;
        return result;
    }
};

// A side of the block that has a neighbour: what goes there of the own cells, and where what comes
// from there belongs.
struct Face {
    int neighbour = 0, tag_out = 0, tag_in = 0;
    std::size_t axis = 0;
    int side = 0;
    Box own, halo;
};

// Copies a box to or from consecutive words, row by row where a row's words follow each other.
template <typename Copy>
void for_runs(const Box& box, const Copy& copy) {
    const bool rows = box.cells[0] == 1 || box.strides[0] == 1;
    const std::int64_t run = rows ? box.cells[0] : 1;
    std::int64_t packed = 0;
    for (std::int64_t k = 0; k < box.cells[2]; ++k)
        for (std::int64_t j = 0; j < box.cells[1]; ++j)
            for (std::int64_t i = 0; i < box.cells[0]; i += run, packed += run)
                copy(box.origin + i * box.strides[0] + j * box.strides[1] + k * box.strides[2], packed, run);
}

}  // namespace

struct HaloExchange::State {
    Communicator& communicator;
    Backend& backend;
    HaloLayout layout;
    bool on_host;
    std::vector<Face> faces;
    std::int64_t bytes = 0;  // sent of a field

    // Of the exchange that is under way: a buffer of each field and face where one is needed.
    struct Transfer {
        std::byte* field = nullptr;
        std::size_t face = 0, number = 0;  // of the field
        Box own, halo;
        std::span<std::byte> out, in;
    };
    std::vector<Transfer> transfers;
    std::vector<std::byte> host_buffer;
    std::map<std::array<std::int64_t, 3>, DeviceArray> device_places;  // of faces that a GPU packs: {face, first word, words}
    OwnStream stream;                                                  // where the fields are a GPU's
    EdgePlace edges;
    std::optional<DeviceMail> mail;  // a channel of each face

    State(Communicator& ranks, Backend& of, const GridPartition& partition, const HaloLayout& with)
        : communicator(ranks),
          backend(of),
          layout(with),
          on_host(traits_of(of.device().fingerprint.target).host_memory),
          stream(of),
          edges(edge_place(ranks, with.edges_before ? EdgePlace::before : EdgePlace::ahead)) {
        partition.check();
        if (partition.size() != ranks.size())
            throw Error("halo exchange", fmt::format("a partition for {} ranks", partition.size()), fmt::format("there are {}", ranks.size()));
        const std::array<CellRange, 3> block = partition.block(ranks.rank());
        for (int axis = 0; axis < 3; ++axis)
            for (const int side : {0, 1})
                if (const auto neighbour = partition.neighbour(ranks.rank(), axis, side)) add_face(block, axis, side, *neighbour);
        std::vector<DeviceMail::Channel> channels;
        for (const Face& face : faces) channels.push_back({face.neighbour, face.tag_out, face.tag_in});
        mail.emplace(communicator, backend, channels, std::nullopt, stream.get());
    }

    void add_face(const std::array<CellRange, 3>& block, int axis, int side, int neighbour) {
        const auto along = static_cast<std::size_t>(axis);
        if (block[along].cells() < layout.layers)
            throw Error("halo exchange",
                        fmt::format("rank {} has {} cells along {}, neighbours read {}", communicator.rank(), block[along].cells(), "xyz"[along],
                                    layout.layers),
                        "start fewer ranks, or cut another axis");
        Face face;
        face.neighbour = neighbour;
        face.axis = along;
        face.side = side;
        // Of two ranks that are neighbours on both sides, one message goes down and one up.
        face.tag_out = 2 * axis + side;
        face.tag_in = 2 * axis + 1 - side;
        face.own.strides = face.halo.strides = layout.strides;
        for (std::size_t a = 0; a < 3; ++a) face.own.cells[a] = face.halo.cells[a] = a == along ? layout.layers : block[a].cells();
        const std::int64_t stride = layout.strides[along], cells = block[along].cells();
        face.own.origin = layout.origin + (side == 0 ? 0 : cells - layout.layers) * stride;
        face.halo.origin = layout.origin + (side == 0 ? -layout.layers : cells) * stride;
        if (!on_host && !face.own.whole() && layout.word_bytes != 4 && layout.word_bytes != 8)
            throw Error("halo exchange on a GPU",
                        fmt::format("a face along {} of words of {} bytes, not in one piece", "xyz"[along], layout.word_bytes),
                        "use words of 4 or 8, or cut the slowest axis only");
        bytes += face.own.words() * layout.word_bytes;
        faces.push_back(face);
    }

    std::byte* at(std::byte* field, std::int64_t word) const { return field + word * layout.word_bytes; }
    std::size_t size(std::int64_t words) const { return static_cast<std::size_t>(words * layout.word_bytes); }

    bool packed(const Transfer& transfer) const { return !faces[transfer.face].own.whole(); }

    void begin(std::span<const HaloField> fields, const std::function<void(Stream)>& behind) {
        transfers.clear();
        for (std::size_t number = 0; number < fields.size(); ++number) {
            const HaloField& field = fields[number];
            if (field.layers < 1 || field.layers > layout.layers)
                throw Error("halo exchange", fmt::format("{} layers of a field", field.layers), fmt::format("use 1 to {}", layout.layers));
            for (std::size_t n = 0; n < faces.size(); ++n) {
                const Face& face = faces[n];
                const Box own = face.own.part(face.axis, field.layers, face.side == 1),
                          halo = face.halo.part(face.axis, field.layers, face.side == 0);
                transfers.push_back({static_cast<std::byte*>(field.data), n, number, own, halo, {}, {}});
            }
        }
        // Messages between processors go to halos as they arrive.
        if (on_host && behind) behind({});
        on_host ? begin_on_host() : begin_on_device();
        if (!on_host && behind) begin_behind(behind);
        if (edges == EdgePlace::serial) arrive();
    }
    void begin_behind(const std::function<void(Stream)>& behind) {
        if (edges != EdgePlace::ahead) return behind(stream.get());
        // Beside the edges, and ahead of the interior; what arrives comes later.
        behind({});
        stream.follow();
    }

    void end() {
        if (edges != EdgePlace::serial) arrive();
    }
    void arrive() {
        if (!on_host) return end_on_device();
        communicator.end_exchange();
        for (const Transfer& transfer : transfers)
            if (packed(transfer))
                for_runs(transfer.halo, [&](std::int64_t to, std::int64_t from, std::int64_t words) {
                    std::memcpy(at(transfer.field, to), at(transfer.in.data(), from), size(words));
                });
    }

    void begin_on_device() {
        std::vector<std::vector<DeviceMail::Sizes>> sizes(faces.size());
        for (const Transfer& transfer : transfers)
            sizes[transfer.face].push_back({transfer.own.words() * layout.word_bytes, transfer.halo.words() * layout.word_bytes});
        mail->prepare(sizes);
        stream.follow();
        mail->send(words_of(&Transfer::own));
    }

    void end_on_device() {
        mail->receive(words_of(&Transfer::halo));
        stream.join();
    }

    std::vector<DeviceMail::Words> words_of(Box Transfer::*box) {
        std::vector<DeviceMail::Words> words;
        for (const Transfer& transfer : transfers) {
            const Box& cells = transfer.*box;
            const bool whole = !packed(transfer);
            words.push_back({transfer.face, transfer.number, whole ? at(transfer.field, cells.origin) : transfer.field,
                             whole ? nullptr : places_of(transfer.face, cells), layout.word_bytes});
        }
        return words;
    }
    // Of a face's words in a field, on the device.
    const std::int64_t* places_of(std::size_t face, const Box& box) {
        DeviceArray& places = device_places[{static_cast<std::int64_t>(face), box.origin, box.words()}];
        if (places.data() == nullptr) {
            std::vector<std::int64_t> all(static_cast<std::size_t>(box.words()));
            for_runs(box,
                     [&](std::int64_t from, std::int64_t to, std::int64_t words) { std::iota(all.begin() + to, all.begin() + to + words, from); });
            places = DeviceArray(backend, std::ssize(all) * static_cast<std::int64_t>(sizeof all[0]));
            backend.copy(places.data(), all.data(), places.bytes());
            backend.synchronise();
        }
        return static_cast<const std::int64_t*>(places.data());
    }

    // What lies in one piece is sent from where it is, and received there.
    void begin_on_host() {
        mail->agree();
        std::size_t wanted = 0;
        for (const Transfer& transfer : transfers) wanted += packed(transfer) ? 2 * size(transfer.own.words()) : 0;
        host_buffer.resize(wanted);
        std::byte* free = host_buffer.data();
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (Transfer& transfer : transfers) {
            const std::size_t length = size(transfer.own.words());
            transfer.out = {at(transfer.field, transfer.own.origin), length}, transfer.in = {at(transfer.field, transfer.halo.origin), length};
            if (packed(transfer)) {
                transfer.out = {free, length}, transfer.in = {free + length, length};
                free += 2 * length;
                for_runs(transfer.own, [&](std::int64_t from, std::int64_t to, std::int64_t words) {
                    std::memcpy(at(transfer.out.data(), to), at(transfer.field, from), size(words));
                });
            }
            // Messages between two ranks keep their order, so that fields need no tags.
            const Face& face = faces[transfer.face];
            sends.push_back({face.neighbour, face.tag_out, transfer.out});
            receives.push_back({face.neighbour, face.tag_in, transfer.in});
        }
        communicator.begin_exchange(sends, receives);
    }
};

HaloExchange::HaloExchange(Communicator& communicator, Backend& backend, const GridPartition& partition, const HaloLayout& layout)
    : state_(std::make_unique<State>(communicator, backend, partition, layout)) {
}
HaloExchange::~HaloExchange() = default;

Stream HaloExchange::fork() {
    if (state_->edges == EdgePlace::before || state_->edges == EdgePlace::serial) return {};
    state_->stream.follow();
    // Blocks that run for long would leave no room: the interior waits until the edges are
    // launched.
    if (state_->edges == EdgePlace::ahead) state_->stream.join();
    return state_->stream.get();
}
void HaloExchange::begin(std::span<void* const> fields, const std::function<void(Stream)>& behind) {
    std::vector<HaloField> whole;
    for (void* const field : fields) whole.push_back({field, state_->layout.layers});
    state_->begin(whole, behind);
}
void HaloExchange::begin(std::span<const HaloField> fields, const std::function<void(Stream)>& behind) {
    state_->begin(fields, behind);
}
void HaloExchange::end() {
    state_->end();
}
std::int64_t HaloExchange::bytes_per_field() const {
    return state_->bytes;
}

}  // namespace hone::inline v0_1
