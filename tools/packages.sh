# Sourced by tools/quickstart and tools/test: Debian and Ubuntu packages, asked for only when they are missing.

build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev)
test_packages=(libpng-dev libgtest-dev libgmock-dev libbenchmark-dev clang libclang-rt-dev clang-format-14 clang-tidy libomp-dev)

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_missing <package>...: says what it is about to install, then installs it. Returns 1, having said what to do, when it cannot.
install_missing() {
    if ! command -v dpkg-query >/dev/null; then
        echo "This is no Debian or Ubuntu: taking for granted that the equivalents of these packages are here: $*"
        return 0
    fi
    local missing=() package
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0

    local become_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "These packages are missing, and neither is this root nor is there sudo: ${missing[*]}" >&2
            echo "As root, run: apt-get install ${missing[*]}" >&2
            return 1
        fi
        become_root=(sudo)
    fi
    local install=("${become_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}")
    echo "These packages are missing and will be installed now: ${missing[*]}"
    echo "  ${install[*]}"
    # A fresh machine has no package lists, an old one has outdated lists.
    if ! { "${become_root[@]}" apt-get update --quiet=2 && "${install[@]}" --quiet=2 >/dev/null; }; then
        echo "They could not be installed. With a network and a package source, run: ${install[*]}" >&2
        return 1
    fi
}
