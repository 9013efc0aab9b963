#include "tuner/replay/formats/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <limits>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int gzip_window = 15 + 16;  // the largest window; 16 asks zlib for gzip's header and check sum
constexpr int best_memory = 9;
constexpr std::size_t block_bytes = 1 << 16;

// zlib's state, freed however the function ends.
struct ZlibStream {
    explicit ZlibStream(std::string_view input, int (*finish)(z_stream*)) : end(finish) {
        if (input.size() > std::numeric_limits<uInt>::max()) throw Error("gzip", "over 4 GiB", "use a smaller file");
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // NOLINT: zlib does not write there
        z.avail_in = static_cast<uInt>(input.size());
    }
    ZlibStream(const ZlibStream&) = delete;
    ZlibStream& operator=(const ZlibStream&) = delete;
    ~ZlibStream() { end(&z); }
    z_stream z{};
    int (*end)(z_stream*);
};

bool is_gzip(std::string_view bytes) {
    return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

}  // namespace

std::string read_packed_file(const std::filesystem::path& file, std::int64_t most_bytes) {
    std::string bytes = read_file(file, most_bytes);
    return is_gzip(bytes) ? gunzip(bytes, file.string(), most_bytes) : bytes;
}

std::string gunzip(std::string_view packed, const std::string& where, std::int64_t most_bytes) {
    ZlibStream stream(packed, inflateEnd);
    if (inflateInit2(&stream.z, gzip_window) != Z_OK) throw Error(where, "zlib cannot start", "is there memory left?");
    std::string text;
    std::array<char, block_bytes> buffer{};
    while (true) {
        stream.z.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.z.avail_out = static_cast<uInt>(buffer.size());
        const int status = inflate(&stream.z, Z_NO_FLUSH);
        text.append(buffer.data(), buffer.size() - stream.z.avail_out);
        if (static_cast<std::int64_t>(text.size()) > most_bytes)
            throw Error(where, fmt::format("unpacked, it has over {} bytes", most_bytes), "use a smaller file");
        if (status == Z_STREAM_END) {
            // A gzip file may consist of several, one after another; zeros at its end fill up a
            // tape's last block.
            const std::string_view rest(reinterpret_cast<const char*>(stream.z.next_in), stream.z.avail_in);
            if (rest.find_first_not_of('\0') == std::string_view::npos) return text;
            if (!is_gzip(rest)) throw Error(where, fmt::format("{} bytes follow the end of the gzip file", rest.size()), "restore it from a copy");
            inflateReset(&stream.z);
            continue;
        }
        if (status != Z_OK)
            throw Error(where, fmt::format("the gzip file is damaged or cut ({})", stream.z.msg != nullptr ? stream.z.msg : "it ends too early"),
                        "restore it from a copy");
    }
}

std::string gzip(std::string_view text) {
    ZlibStream stream(text, deflateEnd);
    if (deflateInit2(&stream.z, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, best_memory, Z_DEFAULT_STRATEGY) != Z_OK)
        throw Error("gzip", "zlib cannot start", "is there memory left?");
    std::string packed(deflateBound(&stream.z, static_cast<uLong>(text.size())), '\0');
    stream.z.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.z.avail_out = static_cast<uInt>(packed.size());
    if (deflate(&stream.z, Z_FINISH) != Z_STREAM_END) throw Error("gzip", "zlib could not pack the text", "is there memory left?");
    packed.resize(stream.z.total_out);
    return packed;
}

}  // namespace hone::inline v0_1
