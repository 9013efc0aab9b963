#include "generator/families/device/cuda_residency.hpp"

namespace hone {

std::vector<Constraint> residency_constraints(const Limits& limits, const std::function<std::int64_t(const Config&)>& threads,
                                              const std::function<std::int64_t(const Config&)>& registers) {
    return {{"threads", [=](const Config& config) { return thread_violation({.threads = threads(config)}, config.integer("min_blocks"), limits); }},
            {"registers", [=](const Config& config) {
                 return register_violation({.threads = threads(config), .registers = static_cast<int>(registers(config))},
                                           config.integer("min_blocks"), limits);
             }}};
}

}  // namespace hone
