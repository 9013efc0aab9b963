# Sourced by tools/test: members of all families by releases of NVRTC which this system has not.
# shellcheck shell=bash disable=SC2154  # caches and install are tools/test's

# The package of PyPI that has a release, and the folder of its library in it.
declare -A nvrtc_in=(
    [11.8]="nvidia-cuda-nvrtc-cu11==11.8.89 nvidia/cuda_nvrtc/lib"
    [12.0]="nvidia-cuda-nvrtc-cu12==12.0.140 nvidia/cuda_nvrtc/lib"
    [12.8]="nvidia-cuda-nvrtc-cu12==12.8.93 nvidia/cuda_nvrtc/lib"
    [13.0]="nvidia-cuda-nvrtc==13.0.88 nvidia/cu13/lib"
)

# nvrtc <release>: sets `libraries` to the folder with it, which stays in the user's cache folder; or says why there is none.
nvrtc() {
    local package inside folder=$caches/hone-libraries/nvrtc-$1 log=$PWD/build/nvrtc-$1.log
    read -r package inside <<<"${nvrtc_in[$1]}"
    libraries=$folder/$inside
    [ ! -e "$folder/complete" ] || return 0
    [ "$install" = yes ] || { skipped "NVRTC $1 is not in $folder, and --no-install leaves it so"; return; }
    rm -rf "$folder"
    mkdir -p "$folder"
    virtual_environment "$folder/venv" || return
    if ! { timeout 600 "$folder/venv/bin/pip" install --quiet --no-deps --only-binary :all: --target "$folder" "$package" &&
        ls "$libraries"/libnvrtc.so.*; } >"$log" 2>&1; then
        skipped "$package, which has NVRTC $1, cannot be installed: $(reason_in "$log")"
        return
    fi
    rm -rf "$folder/venv"
    touch "$folder/complete"
}

# Safe configurations, shipped records and random members of every form, for all architectures that each release knows.
check_compilers() {
    local release libraries result=0 log
    for release in 11.8 12.0 12.8 13.0; do
        log=$PWD/build/compiled-by-$release.log
        nvrtc "$release" || return
        if HONE_CUDA_LIBRARIES=$libraries build/asan-ubsan/bin/test_runtime_cuda --gtest_filter='SlowCompiledMembers*' >"$log" 2>&1 &&
            grep -q "NVRTC $release: .* members compiled" "$log"; then
            grep 'members compiled' "$log"
        else
            echo "--- NVRTC $release FAILED"
            grep -m 20 -A 6 'Failure' "$log" || tail "$log"
            result=1
        fi
    done
    return $result
}
