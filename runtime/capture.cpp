#include "runtime/capture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/json.hpp"
#include "foundation/random_words.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "hone capture";
constexpr std::size_t digest_digits = 64, name_digits = 12, longest_text = 4096;
constexpr std::int64_t longest_file = std::int64_t{1} << 20, most_bytes = std::int64_t{1} << 44;

fs::path data_file(const fs::path& folder, const std::string& digest) {
    return folder / "data" / digest;
}

void make_private_folder(const fs::path& folder) {
    std::error_code error;
    if (fs::is_directory(folder, error)) return;
    make_folders(folder);
    fs::permissions(folder, fs::perms::owner_all, error);
    if (error) throw Error(folder.string(), error.message(), "choose another folder with HONE_CAPTURE_DIR");
}

// A file that appears with all of its contents or not at all. Several may write it: each has a
// temporary file of its own, and the last one's stays.
void write_private_file(const fs::path& file, std::string_view contents) {
    static std::atomic<unsigned> counter{0};
    const fs::path temporary = file.parent_path() / fmt::format(".{}.{}.{}", file.filename().string(), ::getpid(), counter.fetch_add(1));
    fill_standard_descriptors();
    const Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (descriptor.valid() && write_all(descriptor.get(), contents) && ::fsync(descriptor.get()) == 0 &&
        ::rename(temporary.c_str(), file.c_str()) == 0)
        return;
    const int reason = errno;
    if (descriptor.valid()) ::unlink(temporary.c_str());
    throw Error(file.string(), "it cannot be written: " + system_message(reason), "make room, or choose another folder with HONE_CAPTURE_DIR");
}

std::string to_string(Access access) {
    return access == Access::in ? "in" : access == Access::out ? "out" : "inout";
}

Access access_of(const JsonPlace& place) {
    for (const Access access : {Access::in, Access::out, Access::inout})
        if (place.string(longest_text) == to_string(access)) return access;
    place.fail("is \"" + place.string(longest_text) + "\"", "captures have in, out or inout");
}

std::string digest_of(const JsonPlace& place) {
    const std::string& digest = place.string(digest_digits);
    if (digest.size() != digest_digits || digest.find_first_not_of("0123456789abcdef") != std::string::npos)
        place.fail("is not a SHA-256", "it names a file of the folder's data/");
    return digest;
}

// Relative changes far above the rounding of what is computed with them, so that sums of many
// values show them, and far below what changes more than the last places of results. In units in
// the last place.
template <typename Real>
constexpr Real nudge_units = sizeof(Real) == 4 ? 32 : 65536;

// Every value changed by that, up or down by chance. Zero, infinity and NaN stay.
template <typename Real>
void nudge(std::span<Real> values, std::uint64_t seed) {
    constexpr Real part = nudge_units<Real> * std::numeric_limits<Real>::epsilon();
    const auto count = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
        Real& value = values[static_cast<std::size_t>(i)];
        if (std::isfinite(value)) value += random_word(seed, i) < 0 ? -part * value : part * value;
    }
}

// Where results are infinite, no change of an input says what rounding may do to them.
bool has_infinity(const ArraySpec& spec, const HostArray& array) {
    if (value_type_of(spec, array.precision()) == ValueType::i32) return false;
    for (std::int64_t i = 0; i < array.words(); ++i)
        if (std::isinf(array.word(i))) return true;
    return false;
}

std::vector<void*> pointers_to(std::vector<HostArray>& arrays) {
    std::vector<void*> pointers;
    pointers.reserve(arrays.size());
    for (HostArray& array : arrays) pointers.push_back(array.data());
    return pointers;
}

// What one unit in the last place of each input, up or down by chance, does to each array of the
// result of a whole step: the largest difference from `expected`. NaN that the step must not touch
// are in both.
std::vector<double> sensitivities_of_draw(const Family& family, const Problem& problem, const std::vector<HostArray>& before,
                                          const std::vector<HostArray>& expected, std::uint64_t seed) {
    const std::vector<ArraySpec> specs = family.arrays(problem);
    const double units = problem.precision() == Precision::f32 ? double{nudge_units<float>} : nudge_units<double>;
    std::vector<HostArray> nudged;
    for (std::size_t i = 0; i < before.size(); ++i) {
        HostArray& array = nudged.emplace_back(before[i].copy());
        if (specs[i].access == Access::out) continue;
        const std::uint64_t own = mixed(seed + i);
        const auto count = static_cast<std::size_t>(value_count(specs[i], problem.precision()));
        const ValueType type = value_type_of(specs[i], problem.precision());
        if (type == ValueType::f32) nudge(std::span(static_cast<float*>(array.data()), count), own);
        if (type == ValueType::f64) nudge(std::span(static_cast<double*>(array.data()), count), own);
    }
    family.reference(problem, pointers_to(nudged), 0, family.range(problem));
    std::vector<double> found(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i)
        if (specs[i].access != Access::in && !holds_integers(specs[i])) found[i] = largest_difference(specs[i], nudged[i], expected[i]) / units;
    return found;
}

// The same of several draws where the results are few, whose largest varies much from draw to draw.
std::vector<double> sensitivities(const Family& family, const Problem& problem, const std::vector<HostArray>& before,
                                  const std::vector<HostArray>& expected, std::uint64_t seed) {
    constexpr std::int64_t many = 1 << 20, most_draws = 4;
    std::int64_t words = 1;
    for (const HostArray& array : expected) words += array.words();
    std::vector<double> largest(before.size());
    for (std::int64_t draw = 0; draw < std::clamp(many / words, std::int64_t{1}, most_draws); ++draw) {
        const std::vector<double> one = sensitivities_of_draw(family, problem, before, expected, mixed(seed) + static_cast<std::uint64_t>(draw));
        for (std::size_t i = 0; i < one.size(); ++i) largest[i] = std::max(largest[i], one[i]);
    }
    return largest;
}

double largest_of(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}

// How many times its sensitivity a family allows of each array of its own data. Results of one
// array may be sums of all that another has, and far larger or smaller than that. An array that
// hangs on no rounding of its own data is allowed what the most sensitive one is.
std::vector<double> allowed_sensitivities(const Family& family, const Problem& problem, std::uint64_t seed) {
    const Workload own = family.workload(problem, seed);
    std::vector<double> found = sensitivities(family, problem, own.arrays, own.expected, seed);
    const double largest = largest_of(found);
    if (own.tolerance > 0 && !(largest > 0 && std::isfinite(largest)))
        throw Error(problem.key(), "the family's own data do not tell how its results depend on rounding", "tune it with 'hone tune'");
    for (double& one : found) one = own.tolerance > 0 ? own.tolerance / (one > 0 ? one : largest) : 0;
    return found;
}

Workload captured_workload(const Family& family, const Capture& capture, const Problem& problem, std::uint64_t seed) {
    constexpr double chance = 2;  // of the signs
    const std::vector<double> allowed = allowed_sensitivities(family, problem, seed);
    const std::vector<ArraySpec> specs = family.arrays(problem);
    Workload workload;
    workload.arrays = captured_arrays(capture, family, problem);
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        HostArray& array = workload.arrays[i];
        const bool written = capture.arrays[i].access != Access::in;
        workload.expected.push_back(written ? array.copy() : HostArray(problem.precision(), 0));
        pointers.push_back(written ? workload.expected.back().data() : array.data());
    }
    family.reference(problem, pointers, 0, family.range(problem));
    for (std::size_t i = 0; i < workload.expected.size(); ++i)
        if (capture.arrays[i].access != Access::in && has_infinity(specs[i], workload.expected[i]))
            throw Error(capture.file.string(), "the step leads to infinite values in " + capture.arrays[i].name, "capture a step before that");
    workload.tolerances = sensitivities(family, problem, workload.arrays, workload.expected, seed);
    double most = 0;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        workload.tolerances[i] *= chance * allowed[i];
        if (workload.tolerances[i] > workload.tolerance) {
            workload.tolerance = workload.tolerances[i];
            most = chance * allowed[i];
        }
    }
    workload.tolerance_reason = fmt::format(
        "of each array {:.3g} times or so what one unit in the last place of each captured input does to it: twice what random data are allowed",
        most);
    return workload;
}

// The family lays its arrays out as the capture has them.
void expect_arrays_of(const Capture& capture, const Family& family, const Problem& problem) {
    const std::vector<ArraySpec> specs = family.arrays(problem);
    const auto differs = [&](const std::string& what) {
        throw Error(capture.file.string(), what, fmt::format("it was captured by hone {}, whose family {} was another", capture.hone, family.name));
    };
    if (specs.size() != capture.arrays.size()) differs(fmt::format("{} arrays, the problem has {}", capture.arrays.size(), specs.size()));
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const CapturedArray& kept = capture.arrays[i];
        const std::int64_t bytes = bytes_of(specs[i], problem.precision());
        if (kept.name != specs[i].name || kept.access != specs[i].access || kept.bytes != bytes)
            differs(fmt::format("array {} is {} ({}) of {} bytes, the problem's is {} ({}) of {}", i, kept.name, to_string(kept.access), kept.bytes,
                                specs[i].name, to_string(specs[i].access), bytes));
    }
}

}  // namespace

fs::path capture_file(const fs::path& folder, const std::string& problem) {
    const std::string plain = problem.substr(0, problem.find_first_of(": "));
    return folder / fmt::format("{}-{}.json", plain, sha256(problem).substr(0, name_digits));
}

std::string keep_data(const fs::path& folder, std::string_view contents) {
    std::string digest = sha256(contents);
    const fs::path file = data_file(folder, digest);
    std::error_code error;
    if (fs::file_size(file, error) == contents.size() && !error) return digest;
    make_private_folder(folder);
    make_private_folder(file.parent_path());
    write_private_file(file, contents);
    return digest;
}

void write_capture(const fs::path& folder, const Capture& capture) {
    std::string arrays;
    for (const CapturedArray& array : capture.arrays)
        arrays += fmt::format("{}\n    {{\"name\": {}, \"access\": \"{}\", \"bytes\": {}{}}}", arrays.empty() ? "" : ",", json_string(array.name),
                              to_string(array.access), array.bytes, array.sha256.empty() ? "" : fmt::format(", \"sha256\": \"{}\"", array.sha256));
    make_private_folder(folder);
    write_private_file(capture_file(folder, capture.problem),
                       fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"problem\": {},\n  \"configuration\": {},\n  \"device\": {},\n"
                                   "  \"hone\": {},\n  \"range\": [{}, {}],\n  \"arrays\": [{}\n  ]\n}}\n",
                                   format_name, capture_version, json_string(capture.problem), json_string(capture.configuration),
                                   json_string(capture.device), json_string(capture.hone), capture.first, capture.last, arrays));
}

Capture read_capture(const fs::path& file) {
    return parse_capture(read_file(file, longest_file), file);
}

Capture parse_capture(std::string_view text, const fs::path& file) {
    const JsonNode root = parse_json(text, file.string());
    const JsonPlace place(root, file.string());
    if (const auto format = place.find("format"); !format || format->string(longest_text) != format_name)
        place.fail("is not a capture", "an application writes them with HONE_CAPTURE set");
    if (const std::int64_t version = place["version"].integer(0, std::numeric_limits<std::int64_t>::max()); version != capture_version)
        place["version"].fail(fmt::format("is {}", version), fmt::format("this hone reads version {}", capture_version));
    place.only({"format", "version", "problem", "configuration", "device", "hone", "range", "arrays"});
    Capture capture;
    capture.problem = place["problem"].string(longest_text);
    capture.configuration = place["configuration"].string(longest_text);
    capture.device = place["device"].string(longest_text);
    capture.hone = place["hone"].string(longest_text);
    const JsonPlace range = place["range"];
    if (range.elements() != 2) range.fail(fmt::format("has {} elements", range.elements()), "the first and the end belong here");
    capture.first = range[0].integer(0, std::numeric_limits<int>::max());
    capture.last = range[1].integer(capture.first, std::numeric_limits<int>::max());
    for (std::size_t i = 0; i < place["arrays"].elements(); ++i) {
        const JsonPlace one = place["arrays"][i];
        one.only({"name", "access", "bytes", "sha256"});
        CapturedArray array{one["name"].string(longest_text), access_of(one["access"]), one["bytes"].integer(0, most_bytes), ""};
        if (array.access != Access::out) array.sha256 = digest_of(one["sha256"]);
        capture.arrays.push_back(std::move(array));
    }
    capture.file = file;
    return capture;
}

std::vector<Capture> read_captures(const fs::path& place) {
    std::error_code error;
    std::vector<fs::path> files;
    if (fs::is_directory(place, error)) {
        for (const auto& entry : fs::directory_iterator(place, error))
            if (entry.path().extension() == ".json" && entry.path().filename().string().front() != '.') files.push_back(entry.path());
        std::sort(files.begin(), files.end());
    } else if (fs::exists(place, error)) {
        files.push_back(place);
    }
    if (files.empty())
        throw Error(place.string(), "there is no capture", "run the application with HONE_CAPTURE=PATTERN, and name the folder that it tells of");
    std::vector<Capture> captures;
    captures.reserve(files.size());
    for (const fs::path& file : files) captures.push_back(read_capture(file));
    return captures;
}

Problem captured_problem(const Capture& capture, const Families& families) {
    Problem problem = [&] {
        try {
            return families.parse_problem(capture.problem);
        } catch (const Error& error) {
            throw Error(capture.file.string() + ": problem", error.what(),
                        "restore the capture, or replay it with the hone that wrote it, " + capture.hone);
        }
    }();
    const Family& family = families.of(problem);
    if (const std::int64_t units = family.range(problem); capture.last > units)
        throw Error(capture.file.string() + ": range",
                    fmt::format("it ends at {}, and the problem has {} {}", capture.last, units, family.range_unit),
                    "restore the capture, or capture the launch again");
    expect_arrays_of(capture, family, problem);
    for (const CapturedArray& array : capture.arrays) {
        if (array.access == Access::out) continue;
        const fs::path file = data_file(capture.file.parent_path(), array.sha256);
        std::error_code error;
        const auto bytes = fs::file_size(file, error);
        if (error) throw Error(file.string(), "it cannot be read: " + error.message(), "copy the folder of captures with its data/");
        if (static_cast<std::int64_t>(bytes) != array.bytes)
            throw Error(file.string(), fmt::format("it has {} bytes, {} were captured", bytes, array.bytes),
                        "copy the folder again, or capture again");
    }
    return problem;
}

std::vector<HostArray> captured_arrays(const Capture& capture, const Family& family, const Problem& problem) {
    const std::vector<ArraySpec> specs = family.arrays(problem);
    expect_arrays_of(capture, family, problem);
    std::vector<HostArray> arrays;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const CapturedArray& kept = capture.arrays[i];
        HostArray& array = arrays.emplace_back(problem.precision(), specs[i].words);
        const std::int64_t bytes = bytes_of(specs[i], problem.precision());
        if (kept.access == Access::out || bytes < array.bytes()) array.poison(value_type_of(specs[i], problem.precision()));
        if (kept.access == Access::out) continue;
        const fs::path file = data_file(capture.file.parent_path(), kept.sha256);
        const std::string contents = read_file(file, kept.bytes);
        if (static_cast<std::int64_t>(contents.size()) != kept.bytes || sha256(contents) != kept.sha256)
            throw Error(file.string(), "it is not what was captured", "copy the folder again, or capture again");
        if (!contents.empty()) std::memcpy(array.data(), contents.data(), contents.size());
    }
    return arrays;
}

Family replaying(Family family, Capture capture) {
    Family replayed = family;
    replayed.workload = [family = std::move(family), capture = std::move(capture)](const Problem& problem, std::uint64_t seed) {
        return problem.key() == capture.problem ? captured_workload(family, capture, problem, seed) : family.workload(problem, seed);
    };
    return replayed;
}

}  // namespace hone::inline v0_1
