# Sourced by tools/quickstart and tools/test: what hone needs, as Debian and Ubuntu name it, asked for only where it is not found.

build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev)
test_packages=(libopenmpi-dev openmpi-bin libmetis-dev libpng-dev libgtest-dev libgmock-dev libbenchmark-dev clang libclang-rt-dev clang-format-14 clang-tidy libomp-dev lld ccache git pkg-config gfortran dpkg-dev mmdebstrap python3-dev python3-venv python3-jsonschema)

# The C++ compiler that CMake will take: CXX, else the first of those that it looks for. It has to compile a program of C++20 with OpenMP.
working_compiler() {
    local compiler program
    program=$(mktemp) || return 1
    for compiler in ${CXX:-c++ g++ clang++}; do
        if "$compiler" -std=c++20 -fopenmp -x c++ - -o "$program" >/dev/null 2>&1 <<'END'; then
#include <omp.h>

#include <concepts>
#include <vector>
#if !(defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 12)
#error too old
#endif
int main() { return std::integral<int> ? omp_get_max_threads() * 0 : 1; }
END
            rm -f "$program"
            echo "$compiler"
            return 0
        fi
    done
    rm -f "$program"
    return 1
}

# has_header <header>: where the compiler looks, or below a place in CMAKE_PREFIX_PATH.
has_header() {
    local place compiler places=()
    IFS=: read -ra places <<<"${CMAKE_PREFIX_PATH:-}"
    for place in "${places[@]}" /usr /usr/local; do
        [ -e "$place/include/$1" ] && return 0
    done
    compiler=$(working_compiler) && echo "#include <$1>" | "$compiler" -std=c++20 -x c++ -E - >/dev/null 2>&1
}

# Presets are read from 3.25 on.
has_cmake() {
    local oldest=3.25 found
    found=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p') && [ -n "$found" ] &&
        [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" = "$oldest" ]
}

# is_here <package>: what a build needs is looked for itself, wherever it came from; the tools of the tests by their packages, where there are packages.
is_here() {
    case "$1" in
        g++) working_compiler >/dev/null ;;
        cmake) has_cmake ;;
        ninja-build) command -v ninja >/dev/null || command -v ninja-build >/dev/null ;;
        libfmt-dev) has_header fmt/format.h ;;
        nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
        libcli11-dev) has_header CLI/CLI.hpp ;;
        zlib1g-dev) has_header zlib.h ;;
        *) ! command -v dpkg-query >/dev/null || [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
    esac
}

# missing_packages <package>...: those of them that are not here, one a line.
missing_packages() {
    local package
    for package in "$@"; do
        is_here "$package" || echo "$package"
    done
}

# named_by <system> <package>...: those of them that a system has, as it calls them.
named_by() {
    local system=$1 package
    shift
    for package in "$@"; do
        case "$system:$package" in
            dnf:g++) echo gcc-c++ ;;
            dnf:libfmt-dev) echo fmt-devel ;;
            dnf:nlohmann-json3-dev) echo json-devel ;;
            dnf:libcli11-dev) echo cli11-devel ;;
            dnf:zlib1g-dev) echo zlib-devel ;;
            brew:g++ | spack:g++ | module:g++) echo gcc ;;
            conda:g++) echo cxx-compiler ;;
            conda:nlohmann-json3-dev) echo nlohmann_json ;;
            *:nlohmann-json3-dev) echo nlohmann-json ;;
            dnf:ninja-build) echo ninja-build ;;
            *:ninja-build) echo ninja ;;
            *:libfmt-dev) echo fmt ;;
            *:libcli11-dev) echo cli11 ;;
            *:zlib1g-dev) echo zlib ;;
            *:cmake) echo cmake ;;
        esac
    done | tr '\n' ' ' | sed 's/ $//'
}

# ways_to_install <package>...: a line for each means of installing them that this system has.
ways_to_install() {
    local conda
    ! command -v dnf >/dev/null || echo "  as root: dnf install $(named_by dnf "$@")"
    ! command -v brew >/dev/null || echo "  brew install $(named_by brew "$@")"
    for conda in mamba conda; do
        command -v $conda >/dev/null || continue
        echo "  $conda install -c conda-forge $(named_by conda "$@")"
        break
    done
    ! command -v spack >/dev/null || echo "  spack install $(named_by spack "$@"); spack load $(named_by spack "$@")"
    [ -z "${LMOD_CMD:-}${MODULESHOME:-}" ] || echo "  module load $(named_by module "$@")    (whichever of them 'module avail' lists)"
}

# install_missing <package>...: says what it is about to install, then installs it. Returns 1, having said what to do, when it cannot.
install_missing() {
    local missing=()
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -eq 0 ] && return 0
    local otherwise="Where they are in a place of their own, name it in CMAKE_PREFIX_PATH (a compiler in CXX), or go on as it is with --no-install."
    if ! command -v apt-get >/dev/null; then
        echo "Not found, as Debian and Ubuntu name them: ${missing[*]}" >&2
        local ways
        ways=$(ways_to_install "${missing[@]}")
        if [ -n "$ways" ]; then printf 'Here they are installed by\n%s\n' "$ways" >&2; else echo "Install their equivalents with this system's own means." >&2; fi
        echo "$otherwise" >&2
        return 1
    fi
    local become_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Not found: ${missing[*]}; and neither is this root nor is there sudo." >&2
            echo "As root, run: apt-get update && apt-get install ${missing[*]}" >&2
            local ways
            ways=$(ways_to_install "${missing[@]}")
            [ -z "$ways" ] || printf 'Without being root:\n%s\n' "$ways" >&2
            echo "$otherwise" >&2
            return 1
        fi
        become_root=(sudo)
    fi
    local install=("${become_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}")
    echo "Not found, and installed now (--no-install prevents it): ${missing[*]}"
    echo "  ${install[*]}"
    # A fresh machine has no package lists, an old one has outdated lists.
    if ! { "${become_root[@]}" apt-get update --quiet=2 && "${install[@]}" --quiet=2 >/dev/null; }; then
        echo "They could not be installed. With a network and a package source, run: ${install[*]}" >&2
        echo "$otherwise" >&2
        return 1
    fi
}
