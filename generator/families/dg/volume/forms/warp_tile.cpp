#include <algorithm>

#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/passes/ways.hpp"
#include "generator/families/dg/volume/cuda.hpp"

// A warp has a tile of nodes x elements: one launch of passes, with this family's words.

namespace hone::inline v0_1::dg {
namespace {

const Pass& volume_pass() {
    static const Pass pass{.entry = "dg_volume", .volume = true};
    return pass;
}

}  // namespace

bool has_warp_tile(const Shape& shape, const Limits& limits) {
    return warp_tile_way().applies(shape, {volume_pass()}, limits);
}

Form warp_tile_form(const Problem& problem, const Limits& limits) {
    const std::vector<Form> forms = pass_cuda_forms({problem, counts(problem), arrays(problem), {{.passes = {volume_pass()}}}}, limits).list;
    Form form = *std::find_if(forms.begin(), forms.end(), [](const Form& one) { return one.space.name == "warp_tile"; });
    const std::vector<Tunable> named = tile_form(problem, limits).space.tunables;
    for (Tunable& tunable : form.space.tunables)
        for (const Tunable& other : named)
            if (other.name == tunable.name) tunable.help = other.help;
    return form;
}

}  // namespace hone::inline v0_1::dg
