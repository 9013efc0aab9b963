// Compiled twice: into the library, with the places of the source tree and the build folder, and by
// every project that uses an installed hone, with those below its prefix (cmake/Install.cmake). The
// linker then needs no other. Weak, because several parts of one program may bring it.
#include "tuning_db/package.hpp"

namespace hone::inline v0_1 {

[[gnu::weak]] Package package() {
    return {HONE_PACKAGE_RECORDS, HONE_PACKAGE_PROGRAM};
}

}  // namespace hone::inline v0_1
