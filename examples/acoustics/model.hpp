#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/acoustics/segy.hpp"

namespace hone::examples::seismic {

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
/// `cells` has two or three numbers, x first; the files lie beside it, in 32-bit little-endian
/// floats with x fastest. Without `density` it follows from the speed (gardner_density); a number
/// is that of all cells.
struct ModelHeader {
    int dimension = 2;
    std::array<int, 3> cells{1, 1, 1};
    double spacing = 0;
    std::string speed_file;
    std::string density_file;             ///< may be empty
    std::optional<float> density_number;  ///< of all cells
};
ModelHeader parse_model_header(std::string_view text, const std::string& where);

/// Little-endian floats, exactly `count` of them within (0, highest]. Throws Error naming the
/// offset of a wrong one.
std::vector<float> parse_raw(std::string_view bytes, std::int64_t count, float highest, const std::string& where);

/// Columns of a model: one trace per column, samples downwards. 3D when inline numbers differ; then
/// traces must be sorted and fill a rectangle. `spacing` 0: the sample interval in millimetres.
Model model_from_segy(const SegyFile& segy, double spacing, const std::string& where);
SegyFile segy_from_model(const Model& model);

/// By its ending: .segy and .sgy, else a JSON file as above. `spacing` other than 0 replaces the
/// file's. Throws Error, with offsets, for whatever does not make a model.
Model read_model(const std::filesystem::path& file, double spacing = 0);
/// By its ending, too; a SEG-Y file has the speed alone.
void write_model(const std::filesystem::path& file, const Model& model);

}  // namespace hone::examples::seismic
