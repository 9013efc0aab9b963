#include "interfaces/session/session.hpp"

#include "generator/families/built_in_families.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1 {

Session::Session(const std::string& device, const SessionSettings& settings)
    : families_(settings.families == nullptr ? built_in_families() : *settings.families),
      cache_(settings.cache.empty() ? DiskCache::default_folder() : settings.cache),
      backend_(make_backend(device, cache_)),
      library_(*backend_, known_records(families_, settings.database, settings.warn), families_, settings.warn) {
}

}  // namespace hone::inline v0_1
