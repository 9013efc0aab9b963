// The records that hone brings along must answer for the devices that they were measured on, however old they are.
#include <gtest/gtest.h>

#include <filesystem>

#include "generator/families.hpp"
#include "tuning_db/database.hpp"

namespace hone {
namespace {

Limits limits_of(const DeviceFingerprint& device) {
    if (device.target == Target::cpu) return cpu_limits();
    return cuda_limits(std::stoi(device.architecture.substr(device.architecture.find('_') + 1)));
}

TEST(ShippedRecords, EachAnswersForItsOwnDevice) {
    const auto database = Database::load(std::filesystem::path(HONE_SOURCE_FOLDER) / "tuning_db" / "records", built_in_families());
    int cuda = 0;
    for (const Record& record : database.records()) {
        if (!record.purpose.empty() || record.device.target != Target::cuda) continue;  // a processor's limits are the machine's own
        ++cuda;
        const Match match = database.best(record.problem, record.device, limits_of(record.device));
        EXPECT_EQ(match.grade, Grade::exact) << record.problem.key() << " with " << record.config.key();
    }
    EXPECT_GT(cuda, 40);
}

}  // namespace
}  // namespace hone
