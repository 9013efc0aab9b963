#include "tests/support/sample_record.hpp"

namespace hone::test {

Record sample_record(const Families& families, const Problem& problem, const std::string& config, const DeviceFingerprint& device,
                     const Limits& limits) {
    const Family& family = families.of(problem);
    Record record;
    record.problem = problem;
    record.config = family.space(problem, limits).parse(config);
    record.device = device;
    record.step = {1e-3, 0.9e-3, 1.1e-3, 0.8e-3, 40};
    record.counts = family.counts(problem);
    record.verification_error = 0;
    record.tolerance = 1e-6;
    record.strategy = "random";
    record.evaluations = 10;
    record.date = utc_date();
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

}  // namespace hone::test
