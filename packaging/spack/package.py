from spack.package import *


class Hone(CMakePackage):
    """Autotuned kernels for high-order and stencil codes: readable CUDA and C++ kernels that are tuned on the machine they run on."""

    license("MIT")
    version("0.1.0")

    variant("mpi", default=True, description="Programs on many processes")

    depends_on("cxx", type=("build", "run"))  # kernels for processors are compiled where they run
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("zlib-api")
    depends_on("libpng")
    depends_on("mpi", when="+mpi")

    conflicts("%gcc@:11", msg="hone is C++20: GCC 12 or newer")
    conflicts("%clang@:13", msg="hone is C++20: clang 14 or newer")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("HONE_BUILD_TESTS", False),
            self.define("HONE_BUILD_BENCHMARKS", False),
            self.define("HONE_BUILD_EXAMPLES", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", not self.spec.satisfies("+mpi")),
        ]
