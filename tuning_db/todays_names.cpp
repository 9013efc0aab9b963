#include "tuning_db/todays_names.hpp"

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

Config with_todays_names(const Config& config, const Problem& problem, const DeviceFingerprint& device, const Families& families) {
    try {
        return families.of(problem).space(problem, generous_limits(device)).completed(config);
    } catch (const Error&) {  // another program's family, sizes that cannot be, or a device that nobody knows
        return config;
    }
}

Record with_todays_names(Record record, const Families& families) {
    record.config = with_todays_names(record.config, record.problem, record.device, families);
    if (record.hybrid) {
        Hybrid& hybrid = *record.hybrid;
        hybrid.partner_config = with_todays_names(hybrid.partner_config, record.problem, hybrid.partner, families);
    }
    return record;
}

}  // namespace hone::inline v0_1
