#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1::solvers {

/// The arrays of a VTK XML file (ParaView, VisIt): named in its head, their bytes raw at its end,
/// so that big fields cost what they weigh. Keeps views: what is added must live until `write`.
///
///     VtkArrays arrays;
///     stream << "<PointData>" << arrays.add("p", 1, pressure) << "</PointData>";   // <DataArray type="Float32" Name="p" .../>
///     ...
///     arrays.write(stream);                                                        // <AppendedData>, before </VTKFile>
///
/// Format: VTK User's Guide, "VTK XML file formats", appended data with encoding raw and header
/// type UInt64.
class VtkArrays {
  public:
    /// The array's element. Tuples of `components` words each. An empty name is left out, as for
    /// coordinates.
    std::string add(const std::string& name, int components, std::span<const float> words);
    std::string add(const std::string& name, int components, std::span<const double> words);
    std::string add(const std::string& name, int components, std::span<const std::int32_t> words);
    std::string add(const std::string& name, int components, std::span<const std::int64_t> words);
    std::string add(const std::string& name, int components, std::span<const std::uint8_t> words);

    void write(std::ostream& stream) const;

  private:
    std::string add(const std::string& name, int components, const char* type, std::span<const std::byte> bytes);

    std::vector<std::span<const std::byte>> arrays_;
    std::uint64_t offset_ = 0;
};

/// `<VTKFile type="ImageData" ...>`: the first line of a file whose arrays are VtkArrays.
std::string vtk_file_head(const std::string& type);

/// Writes fields on a regular grid as a .vti file. Cells or points count with x fastest; 2D is one
/// layer of cells, or one of points.
///
///     VtkImage image({nx, ny, nz}, {0, 0, 0}, {h, h, h});
///     image.cell_field("pressure", 1, std::span<const float>(p));
///     image.write("p_0100.vti");
///
/// Of an image that is cut into parts, each part says where its first cell is in the whole, whose
/// origin and spacing it has.
class VtkImage {
  public:
    using Extents = std::array<int, 3>;

    /// `cells` along x, y and z; spacing and origin in any unit.
    VtkImage(Extents cells, std::array<double, 3> origin, std::array<double, 3> spacing, Extents first = {0, 0, 0})
        : cells_(cells), first_(first), origin_(origin), spacing_(spacing) {}

    const Extents& cells() const { return cells_; }
    const Extents& first() const { return first_; }

    /// One tuple per cell. Keeps a view. Throws Error when the number of words is not that of the
    /// grid.
    template <typename Word>
    void cell_field(const std::string& name, int components, std::span<const Word> words) {
        check(name, components, words.size(), 0);
        cell_data_ += arrays_.add(name, components, words);
    }
    /// One tuple per corner of cells, (nx + 1) (ny + 1) (nz + 1) of them. Parts that touch have the
    /// points between them both.
    template <typename Word>
    void point_field(const std::string& name, int components, std::span<const Word> words) {
        check(name, components, words.size(), 1);
        point_data_ += arrays_.add(name, components, words);
    }

    /// Throws Error when the file cannot be written.
    void write(const std::filesystem::path& file) const;

    /// A .pvti file: which files have the parts of an image with the fields of this one. Names are
    /// relative to its folder.
    struct Part {
        Extents first, cells;
        std::string file;
    };
    void write_index(const std::filesystem::path& file, const Extents& all_cells, std::span<const Part> parts) const;

  private:
    void check(const std::string& name, int components, std::size_t words, int extra) const;

    Extents cells_, first_;
    std::array<double, 3> origin_, spacing_;
    VtkArrays arrays_;
    std::string cell_data_, point_data_;
};

/// A .pvd file: which file belongs to which time, so that ParaView shows a series. Names are
/// relative to the .pvd file's folder.
void write_vtk_series(const std::filesystem::path& file, std::span<const std::pair<double, std::string>> times_and_files);

}  // namespace hone::inline v0_1::solvers
