// Looks a tuned kernel up and runs it on the application's own arrays.
//
//     lookup [--device DEVICE] [--db FOLDER] [--first-use measured]
//
// A constant field has no derivatives, so whatever kernel is chosen must answer with zeros.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <hone/hone.hpp>
#include <string>
#include <vector>

#include "examples/options/command_line.hpp"
#include "examples/options/options.hpp"

int main(int argc, char** argv) try {
    std::string device = "best";
    hone::SessionSettings settings;
    CLI::App app{"Looks a tuned kernel up and runs it on the application's own arrays."};
    hone::examples::add_device(app, device, settings.database);
    hone::examples::add_first_use(app, settings);
    app.footer(
        "Examples:\n"
        "  lookup                            on the best device that is here\n"
        "  lookup --device cpu --db tuned    on the processor, with the results in tuned\n"
        "  lookup --first-use measured       if nobody tuned its problem, the best of several suggestions");
    if (const auto code = hone::examples::read_command_line(app, argc, argv)) return *code;

    // The application's one door: a device, what is known about it, and the library over both.
    // Without settings it is hone::Session session(device).
    hone::Session session(device, settings);

    // What to compute; how to compute it is the library's business. The grade says how well the
    // tuned results fit.
    const auto kernel = session.kernel("dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000");
    fmt::print("{} on {}: {} ({})\n", kernel->problem().key(), session.device().fingerprint.name, kernel->match().config.key(),
               to_string(kernel->match().grade));

    hone::Backend& backend = session.backend();

    // The application's own data and device memory, in the layout that the problem states
    // (kernel->source().arrays describes it). An application that has device memory already passes
    // its pointers, on the processor any pointers.
    std::array<hone::DeviceArray, 3> arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const hone::ArraySpec& spec = kernel->source().arrays[i];
        std::vector<float> values(static_cast<std::size_t>(spec.words), 1.0F);
        if (spec.name == "geometry")  // (r, s, t) = (x, y, z)
            for (std::size_t j = 0; j < values.size(); ++j) values[j] = j % 9 % 4 == 0 ? 1.0F : 0.0F;
        arrays[i] = hone::DeviceArray(backend, static_cast<std::int64_t>(values.size() * sizeof(float)));
        backend.copy(arrays[i].data(), values.data(), arrays[i].bytes());
        backend.synchronise();
    }
    const hone::BoundKernel volume(kernel, std::array{arrays[0].data(), arrays[1].data(), arrays[2].data()});

    for (int step = 0; step < 10; ++step) volume.launch();  // takes the application's own stream, or a part of the range, too
    std::vector<float> rhs(static_cast<std::size_t>(arrays[2].bytes()) / sizeof(float));
    backend.copy(rhs.data(), arrays[2].data(), arrays[2].bytes());
    backend.synchronise();

    const auto largest = std::max_element(rhs.begin(), rhs.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    fmt::print("largest derivative of a constant field: {:.2g}\n", std::abs(*largest));
    return std::abs(*largest) < 1e-3F ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "lookup: {}\n", error.what());
    return 2;
}
