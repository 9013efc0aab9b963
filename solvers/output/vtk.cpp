#include "solvers/output/vtk.hpp"

#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <sstream>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

static_assert(std::endian::native == std::endian::little, "the files say LittleEndian");

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

void finish(std::ofstream& stream, const std::filesystem::path& file) {
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose a folder that can be written to, with room for it");
}

std::string extent_of(const VtkImage::Extents& first, const VtkImage::Extents& cells) {
    return fmt::format("{} {} {} {} {} {}", first[0], first[0] + cells[0], first[1], first[1] + cells[1], first[2], first[2] + cells[2]);
}

std::string place_of(const std::array<double, 3>& origin, const std::array<double, 3>& spacing) {
    return fmt::format("Origin=\"{} {} {}\" Spacing=\"{} {} {}\"", origin[0], origin[1], origin[2], spacing[0], spacing[1], spacing[2]);
}

// Elements of arrays, line by line, without where they are in a file.
std::string declared(const std::string& elements) {
    std::string result;
    std::istringstream stream(elements);
    for (std::string line; std::getline(stream, line);) result += "<P" + line.substr(1, line.find(" format=") - 1) + "/>\n";
    return result;
}

}  // namespace

std::string VtkArrays::add(const std::string& name, int components, std::span<const float> words) {
    return add(name, components, "Float32", std::as_bytes(words));
}
std::string VtkArrays::add(const std::string& name, int components, std::span<const double> words) {
    return add(name, components, "Float64", std::as_bytes(words));
}
std::string VtkArrays::add(const std::string& name, int components, std::span<const std::int32_t> words) {
    return add(name, components, "Int32", std::as_bytes(words));
}
std::string VtkArrays::add(const std::string& name, int components, std::span<const std::int64_t> words) {
    return add(name, components, "Int64", std::as_bytes(words));
}
std::string VtkArrays::add(const std::string& name, int components, std::span<const std::uint8_t> words) {
    return add(name, components, "UInt8", std::as_bytes(words));
}

std::string VtkArrays::add(const std::string& name, int components, const char* type, std::span<const std::byte> bytes) {
    const std::string label = name.empty() ? "" : fmt::format(" Name=\"{}\"", escaped(name));
    std::string element =
        fmt::format("<DataArray type=\"{}\"{} NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type, label, components, offset_);
    arrays_.push_back(bytes);
    offset_ += sizeof(std::uint64_t) + bytes.size();
    return element;
}

void VtkArrays::write(std::ostream& stream) const {
    stream << "<AppendedData encoding=\"raw\">\n_";
    for (const auto& array : arrays_) {
        const std::uint64_t bytes = array.size();
        stream.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
        stream.write(reinterpret_cast<const char*>(array.data()), static_cast<std::streamsize>(bytes));
    }
    stream << "\n</AppendedData>\n";
}

std::string vtk_file_head(const std::string& type) {
    return fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n", type);
}

void VtkImage::check(const std::string& name, int components, std::size_t words, int extra) const {
    auto expected = static_cast<std::size_t>(components);
    for (const int cells : cells_) expected *= static_cast<std::size_t>(cells + extra);
    if (words != expected)
        throw Error(fmt::format("field {} of a VTK image", name), fmt::format("{} words", words),
                    fmt::format("give {}: {} for each of its {}", expected, components, extra == 0 ? "cells" : "points"));
}

void VtkImage::write(const std::filesystem::path& file) const {
    std::ofstream stream(file, std::ios::binary);
    const std::string extent = extent_of(first_, cells_);
    stream << vtk_file_head("ImageData")
           << fmt::format("<ImageData WholeExtent=\"{}\" {}>\n<Piece Extent=\"{}\">\n", extent, place_of(origin_, spacing_), extent)
           << "<PointData>\n"
           << point_data_ << "</PointData>\n<CellData>\n"
           << cell_data_ << "</CellData>\n</Piece>\n</ImageData>\n";
    arrays_.write(stream);
    stream << "</VTKFile>\n";
    finish(stream, file);
}

void VtkImage::write_index(const std::filesystem::path& file, const Extents& all_cells, std::span<const Part> parts) const {
    std::ofstream stream(file, std::ios::binary);
    stream << vtk_file_head("PImageData")
           << fmt::format("<PImageData WholeExtent=\"{}\" GhostLevel=\"0\" {}>\n", extent_of({0, 0, 0}, all_cells), place_of(origin_, spacing_))
           << "<PPointData>\n"
           << declared(point_data_) << "</PPointData>\n<PCellData>\n"
           << declared(cell_data_) << "</PCellData>\n";
    for (const Part& part : parts)
        stream << fmt::format("<Piece Extent=\"{}\" Source=\"{}\"/>\n", extent_of(part.first, part.cells), escaped(part.file));
    stream << "</PImageData>\n</VTKFile>\n";
    finish(stream, file);
}

void write_vtk_series(const std::filesystem::path& file, std::span<const std::pair<double, std::string>> times_and_files) {
    std::ofstream stream(file, std::ios::binary);
    stream << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n";
    for (const auto& [time, name] : times_and_files)
        stream << fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", time, escaped(name));
    stream << "</Collection>\n</VTKFile>\n";
    finish(stream, file);
}

}  // namespace hone::inline v0_1::solvers
