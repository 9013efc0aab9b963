#include "interfaces/session/session.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1 {

KernelLibrary::Measure first_use_of(const Backend& backend, const Families& families, const SessionSettings& settings) {
    if (!(settings.first_use_seconds > 0))
        throw Error("first use", fmt::format("{} seconds are given for a measurement", settings.first_use_seconds), "give a number above 0");
    if (settings.first_use.value_or(usual_first_use()) == FirstUse::predicted) return {};
    const FirstUseSettings measured{
        .seconds = settings.first_use_seconds, .folder = settings.database, .cache = settings.cache, .worker = settings.worker};
    return [&backend, &families, measured](const Problem& problem, const Database& database) {
        std::string why;
        auto match = measured_match(database, families, backend.device(), problem, measured, why);
        if (!match) throw Error("tuning", why, "give it more seconds, or tune it with 'hone tune'");
        return match;
    };
}

Session::Session(const std::string& device, const SessionSettings& settings)
    : families_(settings.families == nullptr ? built_in_families() : *settings.families),
      cache_(settings.cache.empty() ? DiskCache::default_folder() : settings.cache),
      backend_(make_backend(device, cache_)),
      library_(*backend_, known_records(families_, settings.database, settings.warn), families_, settings.warn,
               first_use_of(*backend_, families_, settings)) {
}

}  // namespace hone::inline v0_1
