#include "generator/families/dg/volume/cuda.hpp"

namespace hone::inline v0_1::dg {

Tunable fields_per_pass(const Shape& shape) {
    const std::int64_t all = shape.fields;
    return {"fields_per_pass", "fields that the loop over the operator's columns works on at a time: all, or those of one curl",
            shape.maxwell() ? numbers({all, 3}) : numbers({all}), Value(all)};
}

Tunable elements_per_block(std::vector<std::int64_t> values) {
    return {"elements_per_block", "elements that a block of threads handles", numbers(std::move(values))};
}

Tunable elements_per_thread(std::vector<std::int64_t> values) {
    return {"elements_per_thread", "elements whose right-hand sides a thread makes", numbers(std::move(values))};
}

Tunable where_operator_is(std::vector<Value> values) {
    return {"operator",
            "where Dr, Ds, Dt are held: read-only loads, shared memory, or staged through it in chunks; nonzero: read-only loads, with nodes sorted "
            "by face and the matrix units' tiles of zeros left out",
            std::move(values)};
}

Tunable padded_rows() {
    return {"padding", "1: rows in shared memory are lengthened so that neighbouring elements lie in different banks", numbers({0, 1})};
}

Tunable min_blocks() {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})};
}

Constraint code_size(std::function<BlockResources(const Config&)> resources, std::vector<std::string> reads) {
    return {
        "code_size",
        [resources = std::move(resources)](const Config& config) { return too_many(resources(config).code, largest_code, "unrolled multiply-adds"); },
        std::move(reads)};
}

std::vector<std::string> all_but_min_blocks(const FormSpace& form) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 1 < form.tunables.size(); ++i) names.push_back(form.tunables[i].name);
    return names;
}

}  // namespace hone::inline v0_1::dg
