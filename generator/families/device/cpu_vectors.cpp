#include "generator/families/device/cpu_vectors.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1 {

Constraint vector_width(const Limits& limits) {
    return {"vector_width",
            [limits](const Config& config) -> std::optional<std::string> {
                if (config.integer("vector_bytes") <= limits.vector_bytes) return {};
                return fmt::format("vectors of {} bytes, the processor's have {}", config.integer("vector_bytes"), limits.vector_bytes);
            },
            {"vector_bytes"}};
}

}  // namespace hone::inline v0_1
