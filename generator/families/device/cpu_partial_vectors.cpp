#include "generator/families/device/cpu_partial_vectors.hpp"

#include <fmt/format.h>

#include <string>

namespace hone::inline v0_1 {

void add_partial_vectors(Holes& holes, Flags& flags, Precision precision, int lanes, PartialVectors partial) {
    constexpr int widest = 64;
    const int bytes = lanes * bytes_per_word(precision);
    const bool masks = bytes <= widest;
    flags.insert(flags.end(), {{"partial_loads", partial.loads},
                               {"partial_stores", partial.stores},
                               {"masked_loads", partial.loads && masks},
                               {"masked_stores", partial.stores && masks}});
    const std::string type = fmt::format("{}{}_mask", precision == Precision::f32 ? "ps" : "pd", 8 * bytes);
    holes.emplace_back("masked_load", Block().line("return __builtin_ia32_loadu{}(From{{from}}, vector{{}}, (1 << count) - 1);", type));
    holes.emplace_back("masked_store", Block().line("__builtin_ia32_storeu{}(To{{to}}, words, (1 << count) - 1);", type));
}

}  // namespace hone::inline v0_1
