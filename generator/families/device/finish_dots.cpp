#include "generator/families/device/finish_dots.hpp"

#include "generator/render.hpp"

namespace hone {

std::string finish_dots(Target target, const Block& parameters, const Block& chunks) {
    return render(target == Target::cuda ? "device/finish_dots.cu" : "device/finish_dots.cpp", {{"parameters", parameters}, {"chunks", chunks}});
}

}  // namespace hone
