#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/acoustics/field_values.hpp"
#include "solvers/acoustics/segy.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// Sound speed and density on cells of equal width. Cells count with x fastest; the slowest axis, y
/// in 2D and z in 3D, points downwards, and its first layer is on top.
struct Model {
    int dimension = 2;
    std::array<int, 3> cells{1, 1, 1};  ///< along x, y, z; 1 along z in 2D
    double spacing = 10;                ///< width of a cell, m
    std::vector<float> speed;           ///< m/s
    std::vector<float> density;         ///< kg/m^3

    int depth_axis() const { return dimension - 1; }
    std::int64_t count() const { return std::int64_t{cells[0]} * cells[1] * cells[2]; }
    std::size_t at(int x, int y, int z) const {
        return (static_cast<std::size_t>(z) * static_cast<std::size_t>(cells[1]) + static_cast<std::size_t>(y)) * static_cast<std::size_t>(cells[0]) +
               static_cast<std::size_t>(x);
    }
    double length(int axis) const { return spacing * cells[static_cast<std::size_t>(axis)]; }
    float slowest() const;
    float fastest() const;
};

Model homogeneous_model(int dimension, std::array<int, 3> cells, double spacing, float speed, float density);

/// kg/m^3 of sedimentary rock from m/s: 310 v^(1/4), and water's 1000 up to 1500 m/s. Source: G.
/// Gardner, L. Gardner, A. Gregory, Formation velocity and density, Geophysics 39, 1974.
float gardner_density(float speed);

/// What a raw model's JSON file says:
///
///     {"format": "acoustic model", "cells": [736, 240], "spacing": 12.5, "speed": "model.speed.f32", "density": "model.density.f32"}
///
/// `cells` has two or three numbers, x first; the files lie beside it, in 32-bit floats with x
/// fastest: little-endian, m/s and kg/m^3 unless `byte_order` (big), `speed_unit` and
/// `density_unit` say otherwise. Without `density` it follows from the speed (gardner_density); a
/// number is that of all cells.
struct ModelHeader {
    int dimension = 2;
    std::array<int, 3> cells{1, 1, 1};
    double spacing = 0;
    std::string speed_file;
    std::string density_file;             ///< may be empty
    std::optional<float> density_number;  ///< of all cells, kg/m^3
    std::string byte_order = "little", speed_unit = "m/s", density_unit = "kg/m^3";
};
ModelHeader parse_model_header(std::string_view text, const std::string& where);

/// `count` floats, little or big endian. Throws Error for other numbers of bytes.
std::vector<float> parse_raw(std::string_view bytes, std::int64_t count, const std::string& byte_order, const std::string& where);

/// How to read a model's files where they do not say it themselves, or say it wrongly; "": as the
/// file says.
struct ModelReading {
    double spacing = 0;                                ///< m; 0: the file's
    std::string byte_order, speed_unit, density_unit;  ///< big or little; units of `Quantity`
};

/// Columns of a model: one trace per column, samples downwards, m/s unless `reading` says
/// otherwise. 3D when inline numbers differ; then traces must be sorted and fill a rectangle. A
/// spacing of 0: the sample interval in millimetres. `others`: ways to read the samples that an
/// error may recommend.
Model model_from_segy(const SegyFile& segy, const ModelReading& reading, const std::string& where, const std::vector<OtherReading>& others = {});
SegyFile segy_from_model(const Model& model);

/// By its ending: .segy and .sgy, else a JSON file as above. Throws Error, with offsets, for
/// whatever does not make a model: values that ground and water do not have, too, with the reading
/// in which they would.
Model read_model(const std::filesystem::path& file, const ModelReading& reading = {});
/// By its ending, too; a SEG-Y file has the speed alone.
void write_model(const std::filesystem::path& file, const Model& model);

}  // namespace hone::inline v0_1::solvers::seismic
