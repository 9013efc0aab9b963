#include "solvers/acoustics/segy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "foundation/error.hpp"
#include "solvers/acoustics/files.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

constexpr std::size_t text_bytes = 3200, binary_bytes = 400, trace_header_bytes = 240, sample_bytes = 4;
constexpr int most_samples = 32767;  // two bytes with a sign
constexpr int scale = 1000;          // coordinates are written as millimetres

// Where headers keep their numbers, counted from 1 as in the standard.
namespace file_field {
constexpr std::size_t interval = 17, samples = 21, format = 25, revision = 301, fixed_length = 303, more_text = 305;
}
namespace trace_field {
constexpr std::size_t number = 1, number_in_file = 5, record = 9, number_in_record = 13, kind = 29, elevation = 41, source_depth = 49;
constexpr std::size_t depth_scale = 69, place_scale = 71, source_x = 73, source_y = 77, x = 81, y = 85, samples = 115, interval = 117;
constexpr std::size_t inline_number = 189, crossline_number = 193;
}  // namespace trace_field

std::uint32_t word_at(std::string_view bytes, std::size_t at, ByteOrder order, std::size_t width = 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < width; ++i) word = word << 8U | static_cast<unsigned char>(bytes[at + (order == ByteOrder::big ? i : width - 1 - i)]);
    return word;
}

ByteOrder other_than(ByteOrder order) {
    return order == ByteOrder::big ? ByteOrder::little : ByteOrder::big;
}

// A header: a piece of the file that knows where it lies.
class Header {
  public:
    Header(std::string_view bytes, std::size_t offset, const std::string& where, ByteOrder order)
        : bytes_(bytes.substr(offset)), offset_(offset), where_(where), order_(order) {}

    int half(std::size_t byte) const { return half(byte, order_); }
    int half(std::size_t byte, ByteOrder order) const { return static_cast<std::int16_t>(word_at(bytes_, byte - 1, order, 2)); }
    std::int32_t whole(std::size_t byte) const { return static_cast<std::int32_t>(word_at(bytes_, byte - 1, order_)); }
    ByteOrder order() const { return order_; }
    // A coordinate: multiplied by the factor that another field states, or divided by it when
    // negative.
    double scaled(std::size_t byte, std::size_t factor_byte) const {
        const int factor = half(factor_byte);
        return factor < 0 ? whole(byte) / -static_cast<double>(factor) : whole(byte) * static_cast<double>(factor == 0 ? 1 : factor);
    }
    [[noreturn]] void fail(std::size_t byte, const std::string& found, const std::string& remedy) const {
        throw Error(fmt::format("{}: offset {}", where_, offset_ + byte - 1), found, remedy);
    }

  private:
    std::string_view bytes_;
    std::size_t offset_;
    const std::string& where_;
    ByteOrder order_;
};

bool known_format(int format) {
    return format == static_cast<int>(SegyFormat::ibm) || format == static_cast<int>(SegyFormat::ieee);
}

struct Layout {
    SegyFormat format = SegyFormat::ieee;
    std::size_t samples = 0;
    std::size_t first_trace = 0;  // offset
    std::size_t trace_bytes() const { return trace_header_bytes + samples * sample_bytes; }
};

Layout read_layout(const Header& header) {
    Layout layout;
    const int format = header.half(file_field::format);
    if (const ByteOrder other = other_than(header.order()); !known_format(format) && known_format(header.half(file_field::format, other)))
        header.fail(file_field::format, fmt::format("sample format {}, in the other byte order {}", format, header.half(file_field::format, other)),
                    fmt::format("give --byte-order {}", other == ByteOrder::big ? "big" : "little"));
    if (!known_format(format))
        header.fail(file_field::format, fmt::format("sample format {}", format), "convert the samples to IBM (1) or IEEE (5) floats of four bytes");
    layout.format = static_cast<SegyFormat>(format);
    const int samples = header.half(file_field::samples);
    if (samples < 1) header.fail(file_field::samples, fmt::format("{} samples per trace", samples), "1 to 32767 can be read");
    layout.samples = static_cast<std::size_t>(samples);
    // Revision 0 leaves these bytes to whoever wrote the file.
    const bool revised = header.half(file_field::revision) >= 0x0100;
    const int more = revised ? header.half(file_field::more_text) : 0;
    if (more < 0) header.fail(file_field::more_text, "an unknown number of further textual headers", "write their number here");
    layout.first_trace = text_bytes + binary_bytes + static_cast<std::size_t>(more) * text_bytes;
    return layout;
}

SegyTrace read_trace(std::string_view bytes, std::size_t offset, const Layout& layout, const std::string& where, const SegyReading& reading) {
    using namespace trace_field;
    const Header header(bytes, offset, where, reading.order);
    const int own = header.half(samples);
    if (own != 0 && static_cast<std::size_t>(own) != layout.samples)
        header.fail(samples, fmt::format("a trace of {} samples", own), fmt::format("all must have the {} of the file's header", layout.samples));
    SegyTrace trace;
    trace.inline_number = header.whole(inline_number);
    trace.crossline_number = header.whole(crossline_number);
    trace.source_x = header.scaled(source_x, place_scale);
    trace.source_y = header.scaled(source_y, place_scale);
    trace.source_depth = header.scaled(source_depth, depth_scale);
    trace.x = header.scaled(x, place_scale);
    trace.y = header.scaled(y, place_scale);
    trace.elevation = header.scaled(elevation, depth_scale);
    trace.samples.resize(layout.samples);
    const std::size_t first = offset + trace_header_bytes;
    const ByteOrder of_samples = reading.swapped_samples ? other_than(reading.order) : reading.order;
    for (std::size_t i = 0; i < layout.samples; ++i) {
        const std::uint32_t word = word_at(bytes, first + i * sample_bytes, of_samples);
        trace.samples[i] = layout.format == SegyFormat::ibm ? from_ibm(word) : std::bit_cast<float>(word);
    }
    return trace;
}

class Writer {
  public:
    explicit Writer(std::size_t bytes) : bytes_(bytes, '\0') {}
    void half(std::size_t byte, int value) {
        for (std::size_t i = 0; i < 2; ++i) bytes_[byte - 1 + i] = static_cast<char>(static_cast<unsigned>(value) >> (8 - 8 * i));
    }
    void word(std::size_t byte, std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) bytes_[byte - 1 + i] = static_cast<char>(value >> (24 - 8 * i));
    }
    void whole(std::size_t byte, std::int32_t value) { word(byte, static_cast<std::uint32_t>(value)); }
    void length(std::size_t byte, double metres) {
        constexpr double most = std::numeric_limits<std::int32_t>::max();
        whole(byte, static_cast<std::int32_t>(std::lround(std::clamp(metres * scale, -most, most))));
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

// Forty lines of eighty characters that begin with their number. ASCII, as most files today.
std::string textual_header(const std::string& title) {
    std::string text;
    for (int line = 1; line <= 40; ++line) {
        std::string content = line == 1 ? title : line == 39 ? "SEG Y REV1" : line == 40 ? "END TEXTUAL HEADER" : "";
        content.resize(std::min<std::size_t>(content.size(), 76));
        text += fmt::format("C{:>2} {:76}", line, content);
    }
    return text;
}

std::string binary_header(const SegyFile& segy, SegyFormat format) {
    using namespace file_field;
    Writer header(binary_bytes);
    header.half(interval, segy.interval);
    header.half(samples, static_cast<int>(segy.traces.front().samples.size()));
    header.half(file_field::format, static_cast<int>(format));
    header.half(55, 1);  // lengths in metres
    header.half(revision, 0x0100);
    header.half(fixed_length, 1);
    return header.bytes();
}

std::string trace_header(const SegyFile& segy, std::size_t index) {
    using namespace trace_field;
    const SegyTrace& trace = segy.traces[index];
    const auto count = static_cast<std::int32_t>(index + 1);
    Writer header(trace_header_bytes);
    for (const std::size_t byte : {number, number_in_file, number_in_record}) header.whole(byte, count);
    header.whole(record, 1);
    header.half(kind, 1);  // seismic data
    header.half(depth_scale, -scale);
    header.half(place_scale, -scale);
    header.length(elevation, trace.elevation);
    header.length(source_depth, trace.source_depth);
    header.length(source_x, trace.source_x);
    header.length(source_y, trace.source_y);
    header.length(x, trace.x);
    header.length(y, trace.y);
    header.half(samples, static_cast<int>(trace.samples.size()));
    header.half(interval, segy.interval);
    header.whole(inline_number, trace.inline_number);
    header.whole(crossline_number, trace.crossline_number);
    return header.bytes();
}

}  // namespace

float from_ibm(std::uint32_t word) {
    const int exponent = static_cast<int>(word >> 24U & 0x7fU) - 64;
    const double fraction = static_cast<double>(word & 0xffffffU) * 0x1p-24;
    const double value = std::ldexp(fraction, 4 * exponent);
    return static_cast<float>((word >> 31U) != 0 ? -value : value);
}

std::uint32_t to_ibm(float value) {
    const std::uint32_t sign = std::signbit(value) ? 0x80000000U : 0;
    if (!std::isfinite(value)) return sign | 0x7fffffffU;
    if (value == 0) return sign;
    int two = 0;
    std::frexp(value, &two);
    int exponent = (two + 3 + 400) / 4 - 100;  // rounded up: the fraction is then 1/16 ... 1
    auto fraction = static_cast<std::uint32_t>(std::lround(std::ldexp(std::abs(static_cast<double>(value)), 24 - 4 * exponent)));
    if (fraction == 1U << 24U) fraction >>= 4U, ++exponent;
    return sign | static_cast<std::uint32_t>(exponent + 64) << 24U | fraction;
}

SegyFile parse_segy(std::string_view bytes, const std::string& where, const SegyReading& reading) {
    if (bytes.size() < text_bytes + binary_bytes)
        throw Error(where, fmt::format("it ends at offset {}, within the headers of a SEG-Y file", bytes.size()), "the file is cut off, or no SEG-Y");
    const Header header(bytes, text_bytes, where, reading.order);
    Layout layout = read_layout(header);
    if (reading.format) layout.format = *reading.format;
    SegyFile segy;
    segy.format = layout.format;
    segy.interval = header.half(file_field::interval);
    if (segy.interval < 1) header.fail(file_field::interval, fmt::format("a sample interval of {}", segy.interval), "1 to 32767 can be read");
    if (bytes.size() <= layout.first_trace)
        throw Error(where, fmt::format("it ends at offset {}, before the first trace at {}", bytes.size(), layout.first_trace),
                    "the file is cut off");
    for (std::size_t offset = layout.first_trace; offset < bytes.size(); offset += layout.trace_bytes()) {
        if (bytes.size() - offset < layout.trace_bytes())
            throw Error(where, fmt::format("it ends at offset {}, within trace {} that begins at {}", bytes.size(), segy.traces.size() + 1, offset),
                        fmt::format("the file is cut off, or traces have other lengths than {} samples", layout.samples));
        segy.traces.push_back(read_trace(bytes, offset, layout, where, reading));
    }
    return segy;
}

SegyFile read_segy(const std::filesystem::path& file) {
    return parse_segy(contents_of(file), file.string());
}

std::string segy_bytes(const SegyFile& segy, const std::string& title, SegyFormat format) {
    const std::size_t samples = segy.traces.empty() ? 0 : segy.traces.front().samples.size();
    if (samples < 1 || samples > most_samples || segy.interval < 1 || segy.interval > most_samples)
        throw Error("SEG-Y file to be written", fmt::format("{} traces of {} samples, interval {}", segy.traces.size(), samples, segy.interval),
                    fmt::format("one trace or more, of 1 to {} samples, interval 1 to {}", most_samples, most_samples));
    std::string bytes = textual_header(title) + binary_header(segy, format);
    for (std::size_t index = 0; index < segy.traces.size(); ++index) {
        const std::vector<float>& values = segy.traces[index].samples;
        if (values.size() != samples)
            throw Error("SEG-Y file to be written", fmt::format("trace {} has {} samples, not {}", index + 1, values.size(), samples),
                        "give all traces one length");
        bytes += trace_header(segy, index);
        Writer words(samples * sample_bytes);
        for (std::size_t i = 0; i < samples; ++i)
            words.word(i * sample_bytes + 1, format == SegyFormat::ibm ? to_ibm(values[i]) : std::bit_cast<std::uint32_t>(values[i]));
        bytes += words.bytes();
    }
    return bytes;
}

void write_segy(const std::filesystem::path& file, const SegyFile& segy, const std::string& title) {
    write_contents(file, segy_bytes(segy, title));
}

}  // namespace hone::inline v0_1::solvers::seismic
