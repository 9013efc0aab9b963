// An application that wants nothing of hone but products of many small matrices: metric tensors G_i
// = J_i^T J_i of random Jacobians, and G_i x_i.
//
//     batched --dimension 3 --batch 200000 --tune 10
//
// Every word is checked against plain loops, whose time is printed beside that of the chosen
// kernels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "examples/options/command_line.hpp"
#include "examples/options/options.hpp"

namespace {

struct Settings {
    int dimension = 3;
    int batch = 200000;
    std::string device = "best";
    std::string records;
    double tune = 0;
};

// Memory of the device that holds the application's words; an application that has its own passes
// its own pointers.
hone::DeviceArray on_device(hone::Backend& backend, const std::vector<double>& words) {
    hone::DeviceArray array(backend, static_cast<std::int64_t>(words.size() * sizeof(double)));
    backend.copy(array.data(), words.data(), array.bytes());
    backend.synchronise();
    return array;
}

std::vector<double> from_device(hone::Backend& backend, const hone::DeviceArray& array) {
    std::vector<double> words(static_cast<std::size_t>(array.bytes()) / sizeof(double));
    backend.copy(words.data(), array.data(), array.bytes());
    backend.synchronise();
    return words;
}

// The same by hand: `g` and `y` of every point.
void plain_loops(int d, int batch, const std::vector<double>& j, const std::vector<double>& x, std::vector<double>& g, std::vector<double>& y) {
    for (int i = 0; i < batch; ++i) {
        const double* const jacobian = &j[static_cast<std::size_t>(i) * static_cast<std::size_t>(d * d)];
        double* const metric = &g[static_cast<std::size_t>(i) * static_cast<std::size_t>(d * d)];
        for (int column = 0; column < d; ++column)
            for (int row = 0; row < d; ++row) {
                double sum = 0;
                for (int l = 0; l < d; ++l) sum += jacobian[row * d + l] * jacobian[column * d + l];
                metric[column * d + row] = sum;
            }
        for (int row = 0; row < d; ++row) {
            double sum = 0;
            for (int column = 0; column < d; ++column) sum += metric[column * d + row] * x[static_cast<std::size_t>(i * d + column)];
            y[static_cast<std::size_t>(i * d + row)] = sum;
        }
    }
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::isnan(a[i]) ? HUGE_VAL : std::abs(a[i] - b[i]));
    return largest;
}

bool check(const char* what, double difference, double allowed) {
    fmt::print("{:<24} largest difference from plain loops {:.2e}, allowed {:.2e}: {}\n", what, difference, allowed,
               difference <= allowed ? "ok" : "WRONG");
    return difference <= allowed;
}

// Comes before the session that reads the tuned results: --db may not be there yet.
void tune(const Settings& settings, const std::vector<std::string>& texts) {
    hone::Session session(settings.device);
    std::vector<hone::Problem> problems;
    problems.reserve(texts.size());
    for (const std::string& text : texts) problems.push_back(session.families().parse_problem(text));
    hone::solvers::tune_first(session.backend(), problems, hone::own_records(settings.records), settings.tune, hone::solvers::tell_tuned);
}

bool run(const Settings& settings) {
    const int d = settings.dimension;
    const auto count = static_cast<std::size_t>(settings.batch);
    const auto words = static_cast<std::size_t>(d);
    // What to compute: J^T J for every point, and a matrix times a vector. How, is the session's
    // business.
    const std::string metric = fmt::format("batched_gemm form=tn m={0} n={0} k={0} batch={1}", d, settings.batch);
    const std::string action = fmt::format("batched_gemv m={0} n={0} batch={1}", d, settings.batch);
    if (settings.tune > 0) tune(settings, {metric, action});

    hone::Session session(settings.device, {.database = settings.records});
    hone::Backend& backend = session.backend();
    const auto product = session.kernel(metric);
    const auto apply = session.kernel(action);
    for (const auto& kernel : {product, apply})
        fmt::print("{}\n    {} ({})\n", kernel->problem().key(), kernel->match().config.key(), to_string(kernel->match().grade));

    std::mt19937_64 random(std::random_device{}());
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> j(count * words * words);
    std::vector<double> x(count * words);
    for (double& word : j) word = uniform(random);
    for (double& word : x) word = uniform(random);
    std::vector<double> g(j.size(), std::numeric_limits<double>::quiet_NaN());
    std::vector<double> y(x.size(), std::numeric_limits<double>::quiet_NaN());
    const hone::DeviceArray device_j = on_device(backend, j);
    const hone::DeviceArray device_x = on_device(backend, x);
    const hone::DeviceArray device_g = on_device(backend, g);
    const hone::DeviceArray device_y = on_device(backend, y);

    const std::function<void()> step = [&] {
        product->launch(std::vector<void*>{device_j.data(), device_j.data(), device_g.data()});  // both factors are the same array
        apply->launch(std::vector<void*>{device_g.data(), device_x.data(), device_y.data()});
    };
    step();  // the first launch loads code
    backend.synchronise();
    double seconds = HUGE_VAL;
    double by_hand = HUGE_VAL;
    for (int round = 0; round < 5; ++round) {
        seconds = std::min(seconds, backend.seconds({}, step));
        const auto begin = std::chrono::steady_clock::now();
        plain_loops(d, settings.batch, j, x, g, y);
        by_hand = std::min(by_hand, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    fmt::print("{} metric tensors and products: {:.3g} ms, plain loops on one core {:.3g} ms\n", settings.batch, seconds * 1e3, by_hand * 1e3);

    // Sums of d products of words below 1, of words below d in y; both sides round.
    const double unit = std::numeric_limits<double>::epsilon();
    const bool metric_right = check("metric tensors", largest_difference(from_device(backend, device_g), g), d * d * unit);
    return check("metric times vector", largest_difference(from_device(backend, device_y), y), 2.0 * d * d * d * unit) && metric_right;
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CLI::App app{
        "Products of many small matrices, chosen, compiled and launched by hone: metric tensors J^T J of random Jacobians and their action on "
        "vectors, checked against plain loops."};
    app.add_option("--dimension", settings.dimension, "rows and columns of every matrix")->check(CLI::Range(1, 64))->capture_default_str();
    app.add_option("--batch", settings.batch, "number of matrices")->check(CLI::Range(1, 4000000))->capture_default_str();
    hone::examples::add_device(app, settings.device, settings.records);
    hone::examples::add_tune(app, settings.tune);
    app.footer(
        "Examples:\n"
        "  batched                                      200000 matrices of 3 x 3\n"
        "  batched --dimension 8 --batch 50000          larger ones, fewer of them\n"
        "  batched --tune 10 --db tuned                 tune both products first, and keep the results in tuned");
    if (const auto code = hone::examples::read_command_line(app, argc, argv)) return *code;
    return run(settings) ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "batched: {}\n", error.what());
    return 2;
}
