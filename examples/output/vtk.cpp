#include "examples/output/vtk.hpp"

#include <fmt/format.h>

#include <bit>
#include <fstream>

#include "generator/error.hpp"

namespace hone::examples {
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
    const std::string extent = fmt::format("0 {} 0 {} 0 {}", cells_[0], cells_[1], cells_[2]);
    stream << vtk_file_head("ImageData")
           << fmt::format("<ImageData WholeExtent=\"{}\" Origin=\"{} {} {}\" Spacing=\"{} {} {}\">\n<Piece Extent=\"{}\">\n", extent, origin_[0],
                          origin_[1], origin_[2], spacing_[0], spacing_[1], spacing_[2], extent)
           << "<PointData>\n"
           << point_data_ << "</PointData>\n<CellData>\n"
           << cell_data_ << "</CellData>\n</Piece>\n</ImageData>\n";
    arrays_.write(stream);
    stream << "</VTKFile>\n";
    finish(stream, file);
}

void write_vtk_parts(const std::filesystem::path& file, std::span<const std::string> parts) {
    std::ofstream stream(file, std::ios::binary);
    stream
        << "<?xml version=\"1.0\"?>\n<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\" byte_order=\"LittleEndian\">\n<vtkMultiBlockDataSet>\n";
    for (std::size_t part = 0; part < parts.size(); ++part)
        stream << fmt::format("<DataSet index=\"{}\" file=\"{}\"/>\n", part, escaped(parts[part]));
    stream << "</vtkMultiBlockDataSet>\n</VTKFile>\n";
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

}  // namespace hone::examples
