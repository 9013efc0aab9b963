#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1::solvers::seismic {

/// One trace of a SEG-Y file: what is used of its header, and its samples. Lengths in metres.
struct SegyTrace {
    std::int32_t inline_number = 0;     ///< bytes 189-192: the row of a 3D survey
    std::int32_t crossline_number = 0;  ///< bytes 193-196
    double source_x = 0, source_y = 0, source_depth = 0;
    double x = 0, y = 0;   ///< of the receiver group, or of a column of a model
    double elevation = 0;  ///< of the receiver group, upwards
    std::vector<float> samples;
};

enum class SegyFormat { ibm = 1, ieee = 5 };

/// The subset of SEG-Y that this program speaks: revision 0 and 1, big-endian, all traces of one
/// length, samples as IBM (format 1) or IEEE (format 5) floats of four bytes. Of a seismogram the
/// interval is microseconds; of a model, thousandths of a metre, as is usual for depth sections.
///
/// Source: SEG Technical Standards Committee, SEG Y rev 1 Data Exchange format, 2002. Byte numbers
/// count from 1 within a header, as there; errors name offsets in the file, which count from 0.
struct SegyFile {
    int interval = 1000;  ///< from one sample to the next, 1 ... 32767
    SegyFormat format = SegyFormat::ieee;
    std::vector<SegyTrace> traces;
};

enum class ByteOrder { big, little };

/// How to read a file that is not as the standard wants it.
struct SegyReading {
    ByteOrder order = ByteOrder::big;
    std::optional<SegyFormat> format;  ///< of samples, whatever the header says
    bool swapped_samples = false;      ///< samples have the other order than headers
};

/// Throws Error naming `where`, the offset, what was found there, and a remedy.
SegyFile parse_segy(std::string_view bytes, const std::string& where, const SegyReading& reading = {});
SegyFile read_segy(const std::filesystem::path& file);

/// The inverse; `title` goes into the textual header. Throws Error for traces of different lengths,
/// none, or more samples than 32767.
std::string segy_bytes(const SegyFile& segy, const std::string& title, SegyFormat format = SegyFormat::ieee);
void write_segy(const std::filesystem::path& file, const SegyFile& segy, const std::string& title);

/// IBM System/360 single precision: sign, power of 16 with bias 64, 24 bits of fraction. Infinite
/// where a float is too small for it.
float from_ibm(std::uint32_t word);
/// The nearest; what is not finite becomes the largest that there is, with its sign.
std::uint32_t to_ibm(float value);

}  // namespace hone::inline v0_1::solvers::seismic
