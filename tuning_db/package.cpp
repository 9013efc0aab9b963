// Compiled twice: into the library, with the places of the source tree and the build folder, and by
// every project that uses an installed hone, with those below its prefix (cmake/Install.cmake). The
// linker then needs no other. Weak, because several parts of one program may bring it.
#include "tuning_db/package.hpp"

#ifndef HONE_PACKAGE_RECORDS
// Without CMake: what a shell takes from pkg-config can hold no quotes, and so no text. But the
// installed copy of this file lies in the package and knows the way from here.
#define HONE_PACKAGE_RECORDS (std::filesystem::path(__FILE__).parent_path() / "@package_to_records@").lexically_normal()
#define HONE_PACKAGE_PROGRAM (std::filesystem::path(__FILE__).parent_path() / "@package_to_program@").lexically_normal()
#endif

namespace hone::inline v0_1 {

[[gnu::weak]] Package package() {
    return {HONE_PACKAGE_RECORDS, HONE_PACKAGE_PROGRAM};
}

}  // namespace hone::inline v0_1
