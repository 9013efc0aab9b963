# Sourced by tools/test: hone as it is installed, in each way that people install it, and beside another tuner.
# shellcheck shell=bash disable=SC2154  # jobs, caches and install are tools/test's

# Hone as another project sees it: installed; and as a part of that project, which is not built here (--deep does).
check_packages() {
    local -x CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
    ! command -v ccache >/dev/null || local -x CMAKE_CXX_COMPILER_LAUNCHER=ccache
    cmake -DBUILD="$PWD/build/ci" -DSOURCE="$PWD/tests/consumer" -DWORK="$PWD/build/consumer" -P tests/consumer/find_package.cmake &&
        cmake -DSOURCE="$PWD/tests/consumer" -DWORK="$PWD/build/fetch_content" -P tests/consumer/fetch_content.cmake
}

# The same of shared libraries, which the loader finds below a prefix that was moved.
check_shared() {
    local -x CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
    ! command -v ccache >/dev/null || local -x CMAKE_CXX_COMPILER_LAUNCHER=ccache
    cmake --preset ci -B build/shared -DBUILD_SHARED_LIBS=ON -DHONE_BUILD_EXAMPLES=OFF -DHONE_BUILD_BENCHMARKS=OFF -DHONE_BUILD_CAMPAIGN=OFF &&
        cmake --build build/shared --parallel "$jobs" &&
        cmake -DBUILD="$PWD/build/shared" -DSOURCE="$PWD/tests/consumer" -DWORK="$PWD/build/shared_consumer" -P tests/consumer/find_package.cmake
}

# virtual_environment <folder>: makes one, or says what it wants for it.
virtual_environment() {
    command -v python3 >/dev/null || { skipped "python3 is not here (Debian, Ubuntu: apt install python3-venv)"; return; }
    python3 -c 'import ensurepip' 2>/dev/null ||
        { skipped "python3 cannot make virtual environments: its ensurepip is not here (Debian, Ubuntu: apt install python3-venv)"; return; }
    rm -rf "$1"
    python3 -m venv "$1" >build/venv.log 2>&1 || skipped "no virtual environment in $1: $(reason_in build/venv.log)"
}

# packages_of <folder> <Python that imports them> <package>...: makes sure that the virtual environment of this folder has these packages of PyPI; where it is
# broken it is made anew. It stays, in the user's cache folder.
packages_of() {
    local folder=$1 imports=$2 log
    shift 2
    ! "$folder/bin/python" -c "$imports" >/dev/null 2>&1 || return 0
    [ "$install" = yes ] || { skipped "$* are not in $folder, and --no-install leaves it so"; return; }
    virtual_environment "$folder" || return
    log=build/pip-$(basename "$folder").log
    timeout 300 "$folder/bin/pip" install --quiet "$@" >"$log" 2>&1 || skipped "$* cannot be installed from PyPI: $(reason_in "$log")"
}

# What folders of virtual environments are called, whose programs are of one Python.
python_version() { python3 -c 'import platform; print(platform.python_version())' 2>/dev/null || echo none; }

# Files that Kernel Tuner writes, and those that hone writes for it.
check_exchange() {
    local version=1.5.0 methodology=1.1.0 venv scratch result=0
    command -v g++ >/dev/null || { skipped "Kernel Tuner's C backend asks for g++, which is not here (Debian, Ubuntu: apt install g++)"; return; }
    venv=$caches/hone-kernel-tuner/$version-$methodology-python$(python_version)
    packages_of "$venv" 'import autotuning_methodology; from kernel_tuner import tune_kernel' "kernel_tuner==$version" \
        "autotuning_methodology==$methodology" || return
    scratch=$(mktemp -d)
    "$venv/bin/python" tests/kernel_tuner/exchange.py build/ci/bin/hone "$scratch" >build/kernel_tuner.log 2>&1 || { cat build/kernel_tuner.log; result=1; }
    tail -n 1 build/kernel_tuner.log
    rm -rf "$scratch"
    return $result
}

# Sets `venv` to the environment that the Python package is built and tested in; or says why there is none.
python_environment() {
    venv=$caches/hone-python/python$(python_version)
    packages_of "$venv" 'import nanobind, numpy, pandas, pytest, scikit_build_core' 'nanobind>=2' numpy pandas pytest 'scikit-build-core>=0.10' || return
    "$venv/bin/python" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        skipped "Python.h is not here (Debian, Ubuntu: apt install python3-dev)"
}

# The package as the product's build makes it: its notebook, steps on NumPy's arrays, and what is said of arrays that are wrong.
check_python() {
    local venv package=build/python_package
    python_environment || return
    rm -rf $package
    { configure ci -DHONE_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$venv/bin/python" &&
        cmake --build --preset ci --parallel "$jobs" --target hone_python hone_python_stub hone_c hone &&
        cmake --install build/ci --component python --prefix $package/hone &&
        cp interfaces/python/hone/*.py $package/hone; } >build/python.log 2>&1 || { cat build/python.log; return 1; }
    PYTHONPATH=$package "$venv/bin/python" -m pytest -q -p no:cacheprovider tests/python/test_notebook.py tests/python/test_hone.py \
        -k "notebook or numpy_arrays_in_place or wrong_array or closed or integers"
}

# The package as 'pip install .' makes it, but with the flags of the preset ci, whose objects the compiler cache has.
check_wheel() {
    local venv
    python_environment || return
    CXX=c++ "$venv/bin/pip" install --no-build-isolation --no-deps . --config-settings=cmake.define.HONE_UNITY=ON \
        --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON --config-settings='cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG' \
        >build/python.log 2>&1 || { cat build/python.log; return 1; }
    "$venv/bin/python" -m pytest -q -p no:cacheprovider
}

# The package that 'cpack -G DEB' makes, with the flags of the preset ci, in a fresh system of the release that this is. Skipped where there is no mmdebstrap, or no package source.
check_debian() {
    local program release scratch result=0
    for program in mmdebstrap cpack dpkg-shlibdeps; do
        command -v $program >/dev/null || { skipped "$program is not here (Debian, Ubuntu: apt install mmdebstrap dpkg-dev)"; return; }
    done
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    configure release -DHONE_UNITY=ON -DCMAKE_COMPILE_WARNING_AS_ERROR=ON '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG' &&
        cmake --build --preset release --parallel "$jobs" && (cd build/release && cpack -G DEB) || return 1
    scratch=$(mktemp -d)
    cp build/release/hone_*.deb "$scratch/hone.deb"
    cat >"$scratch/inside" <<'END'
set -e
apt-get install --yes --no-install-recommends /hone.deb
hone --version
hone lookup dg_volume equation=maxwell_3d order=3 precision=f32 elements=100000 --as nvidia_h200
hone emit poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=64 ny=64 nz=64 --target cuda --arch sm_90 >/kernel.cu
grep __global__ /kernel.cu
ldconfig -p | grep 'libhone.so.1 '
apt-get purge --yes hone
left=$(find /usr -name '*hone*' -newer /hone.deb)
if [ -n "$left" ]; then echo "left after removal: $left"; exit 1; fi
END
    mmdebstrap --variant=apt --customize-hook="copy-in '$scratch/hone.deb' '$scratch/inside' /" --customize-hook='chroot "$1" sh /inside' \
        "$release" /dev/null >"$scratch/log" 2>&1 || result=1
    if [ $result = 1 ] && ! grep -q "hone.deb" "$scratch/log"; then
        skipped "no fresh $release could be made: $(reason_in "$scratch/log")"
        result=77
    else
        grep -vE '^(Get|Fetched|Setting up|Unpacking|Selecting|Preparing|I: )' "$scratch/log" | tail -n 25
    fi
    rm -rf "$scratch"
    return $result
}
