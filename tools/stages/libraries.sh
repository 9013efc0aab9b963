# Sourced by tools/test: hone with releases of the libraries that it includes which this system has not.
# shellcheck shell=bash disable=SC2034,SC2154  # jobs, caches and install are tools/test's

# The package of PyPI that has a release's headers, and the folder in it.
declare -A released_in=(
    [fmt-11]="robotpy-native-wpiutil==2025.3.2 native/wpiutil/include"
    [fmt-12]="cmeel-fmt==12.2.0 cmeel.prefix/include"
    [json-3.12]="nlohmann-json==3.12.0 nlohmann_json/include"
)

# library <release>: sets `headers` to the folder of its headers, which stays in the user's cache folder; or says why there is none.
library() {
    local package inside folder=$caches/hone-libraries/$1 log=$PWD/build/library-$1.log
    read -r package inside <<<"${released_in[$1]}"
    headers=$folder/$inside
    [ ! -e "$folder/complete" ] || return 0
    [ "$install" = yes ] || { skipped "$1 is not in $folder, and --no-install leaves it so"; return; }
    rm -rf "$folder"
    mkdir -p "$folder"
    # Headers are the same for every system, so the package need not be for this one.
    virtual_environment "$folder/venv" || return
    if ! { timeout 300 "$folder/venv/bin/pip" install --quiet --no-deps --only-binary :all: --platform any --platform manylinux_2_28_x86_64 \
        --platform manylinux_2_35_x86_64 --target "$folder" "$package" && [ -d "$headers" ]; } >"$log" 2>&1; then
        skipped "$package, which has the headers of $1, cannot be installed: $(reason_in "$log")"
        return
    fi
    rm -rf "$folder/venv"
    # What find_package takes: headers alone, so that nothing else is linked.
    if [[ $1 == fmt-* ]]; then
        cat >"$folder/fmt-config.cmake" <<END
if(NOT TARGET fmt::fmt)
    add_library(fmt::fmt INTERFACE IMPORTED)
    target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
    target_include_directories(fmt::fmt INTERFACE "$headers")
endif()
END
    fi
    touch "$folder/complete"
}

# build_with <release of fmt> <preset> [<option of cmake>...]: what the system's fmt compiles, the product shows. Where the release cannot be had, with the
# system's.
build_with() {
    local headers release=$1 preset=$2 which=-Ufmt_DIR
    shift 2
    library "$release" && which=-Dfmt_DIR=$caches/hone-libraries/$release
    build "$preset" "$which" "$@"
}

# read_with <headers> <source>: compiles a source or a group of them as the preset ci does, with these headers first, and keeps nothing.
read_with() {
    local command
    command=$(grep -B1 -F "\"file\": \"$2\"" build/ci/compile_commands.json | sed -n 's/^ *"command": "\(.*\) -o [^ ]* -c [^ ]*",$/\1/p' | sed 's/\\\(["\\]\)/\1/g')
    (cd build/ci && eval "${command##*ccache }" -w -O0 -fsyntax-only "$1" "'$2'")
}

# Reads all sources of the product with each release that this system has not: what is in the way of whoever has it.
check_libraries() {
    local release headers result=0 log=$PWD/build/libraries.log sources
    configure ci -DHONE_BUILD_PYTHON=OFF || return 1
    sources=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/ci/compile_commands.json | grep '\.cpp$' | grep -v /generated/)
    export -f read_with
    for release in fmt-11 fmt-12 json-3.12; do
        library "$release" || return
        if xargs --max-procs="$jobs" --max-args=1 bash -c 'read_with "-I$0" "$1"' "$headers" <<<"$sources" >"$log" 2>&1; then
            echo "--- $release: $(wc -l <<<"$sources") sources and groups of sources"
        else
            echo "--- $release FAILED"
            grep -m 20 -A 3 'error' "$log" || tail "$log"
            result=1
        fi
    done
    return $result
}
