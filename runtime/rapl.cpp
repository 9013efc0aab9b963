#include "runtime/rapl.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
    std::ifstream stream(file);
    double number = 0;
    if (!(stream >> number)) return std::nullopt;
    return number;
}

std::string word_in(const fs::path& file) {
    std::ifstream stream(file);
    std::string word;
    stream >> word;
    return word;
}

/// Folders of zones whose energy adds up. The same zones may be there a second time under
/// "intel-rapl-mmio"; AMD's are called intel-rapl too.
std::vector<fs::path> zone_folders(const fs::path& powercap) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (fs::directory_iterator entry(powercap, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().string().rfind("intel-rapl:", 0) != 0) continue;
        const std::string name = word_in(entry->path() / "name");
        if (name.rfind("package", 0) == 0 || name == "dram") folders.push_back(entry->path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

}  // namespace

RaplCounter::RaplCounter(const fs::path& powercap) {
    const std::vector<fs::path> folders = zone_folders(powercap);
    if (folders.empty()) {
        missing_ = fmt::format("there is no processor's energy counter below {}; virtual machines do not show it", powercap.string());
        return;
    }
    for (const fs::path& folder : folders) {
        Zone zone{word_in(folder / "name"), folder / "energy_uj", number_in(folder / "max_energy_range_uj").value_or(0), 0};
        const auto value = number_in(zone.file);
        if (!value) {
            const bool forbidden = access(zone.file.c_str(), R_OK) != 0;
            missing_ = fmt::format("{} {}", zone.file.string(), forbidden ? "may not be read by this user" : "cannot be read");
            return;
        }
        zone.last = *value;
        zones_.push_back(std::move(zone));
    }
}

std::string RaplCounter::zones() const {
    std::string text;
    for (const Zone& zone : zones_) text += (text.empty() ? "" : ", ") + zone.name;
    return text;
}

std::optional<double> RaplCounter::joules() {
    constexpr double joules_per_microjoule = 1e-6;
    if (!missing_.empty()) return std::nullopt;
    for (Zone& zone : zones_) {
        const auto value = number_in(zone.file);
        if (!value) return std::nullopt;
        microjoules_ += *value >= zone.last ? *value - zone.last : zone.range - zone.last + *value;
        zone.last = *value;
    }
    return microjoules_ * joules_per_microjoule;
}

}  // namespace hone::inline v0_1
