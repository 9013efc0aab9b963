#pragma once

#include <random>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/places.hpp"
#include "tuning_db/database.hpp"

namespace hone::test {

/// A member of a problem's space on some device.
struct DrawnMember {
    Problem problem;
    Config config;
    std::string name() const { return problem.key() + " with " + config.key(); }
};

/// How many members to draw: of every form of each problem's space, and how many problems of the
/// shipped records beside the families' examples.
struct MembersToDraw {
    std::size_t of_form = 1;
    std::size_t shipped = 12;
};

/// Members of the spaces of hone's families within `limits`: safe configurations, those of shipped
/// records that are members, and random ones of every form. Problems that such a device cannot
/// compute are left out.
template <typename Generator>
std::vector<DrawnMember> drawn_members(const Limits& limits, const MembersToDraw& how_many, Generator& random) {
    static const Database shipped = Database::load(source_path("tuning_db/records"), built_in_families());
    std::vector<DrawnMember> asked;
    for (const Family& family : built_in_families()) asked.push_back({built_in_families().parse_problem(family.example), {}});
    std::vector<DrawnMember> recorded;
    for (const Record& record : shipped.records())
        if (record.device.target == Target::cuda && record.purpose.empty()) recorded.push_back({record.problem, record.config});
    for (DrawnMember& one : drawn(recorded, how_many.shipped, random)) asked.push_back(std::move(one));
    std::vector<DrawnMember> members;
    for (const DrawnMember& one : asked) {
        SearchSpace space;
        try {
            space = built_in_families().of(one.problem).space(one.problem, limits);
        } catch (const Error&) {  // needs what the device has not
            continue;
        }
        const auto add = [&](const Config& config) {
            if (!space.check(config)) members.push_back({one.problem, config});
        };
        add(space.safe());
        add(space.completed(one.config));
        // Spaces may be large: of the product, where constraints leave enough of it.
        for (const FormSpace& form : space.forms()) {
            add(space.entry(form));
            std::size_t found = 0;
            for (int tries = 0; tries < 300 && found < how_many.of_form; ++tries) {
                std::vector<Assignment> values = space.entry(form).assignments();
                for (Assignment& value : values)
                    for (const Tunable& tunable : form.tunables)
                        if (tunable.name == value.name) value.value = tunable.values[random() % tunable.values.size()];
                const Config config(std::move(values));
                if (space.check(config)) continue;
                add(config);
                ++found;
            }
        }
    }
    return members;
}

}  // namespace hone::test
