# Sourced by tools/test: the programs of examples/, alone and on many ranks.
# shellcheck shell=bash disable=SC2154  # jobs and caches are tools/test's

# example <title> <program> <argument>...: runs a program of examples/ on the processor, beside others, and prints its output when it is done.
example() {
    local title=$1 program=$2
    shift 2
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    {
        local result=passed output
        # Each has a share of the processors, and as long as that may take.
        output=$(timeout 240 "build/ci/bin/$program" "$@" 2>&1) || result=FAILED
        [ $result = passed ] || touch "$scratch/failed"
        printf -- '--- %s: %s\n%s\n' "$title" $result "$output"
    } &
}

# The sizes that a kernel folder's family.json gives as example.
kernel_problem() {
    sed -n 's/^ *"example": "\(.*\)",$/\1/p' "$1/family.json"
}

run_examples() {
    local source name problem scratch result=0
    scratch=$(mktemp -d)
    # Compiled kernels stay from run to run, and threads sleep where they wait, as in the tests.
    export HONE_CACHE=$caches/hone-tests HONE_DB=$scratch/db OMP_WAIT_POLICY=passive
    # An application of every family that is tuned while it runs must come to the untuned one's result.
    for problem in "gauss_seidel_27 stencil=variable precision=f32 nx=32 ny=32 nz=32" \
                   "dg_volume equation=acoustics_3d order=3 precision=f64 elements=2000" \
                   "acoustics_staggered kernel=step dimension=2 order=8 precision=f32 nx=256 ny=256" \
                   "poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=64 ny=64 nz=64"; do
        example "online, $problem" online --device cpu --bound 1 --steps 3000 --problem "$problem"
    done
    for source in examples/*.cpp; do
        name=$(basename "$source" .cpp)
        example "$name" "$name" --device cpu
        ends_with "^exit code 2$" build/ci/bin/"$name" --no-such-option || result=1
        ends_with "^exit code 2$" build/ci/bin/"$name" --device || result=1
    done
    # Kernels of users' own: those that are shipped, and the one that is written for a start.
    build/ci/bin/hone new "$scratch/my_kernel" >/dev/null || result=1
    example "checking a kernel that was just begun" hone check "$scratch/my_kernel"
    for source in examples/kernels/* "$scratch/my_kernel"; do
        example "tuning $source" hone tune "$source $(kernel_problem "$source")" --device cpu --evaluations 2 --samples 6 --db "$scratch/kernels"
    done
    # A launch that an application captured, tuned with its data.
    HONE_CAPTURE='*' HONE_CAPTURE_DIR=$scratch/captures timeout 240 build/ci/bin/lookup --device cpu >/dev/null 2>&1 || result=1
    example "measured at first use" lookup --device cpu --first-use measured
    example "replaying a captured launch" hone replay "$scratch/captures" --device cpu --evaluations 2 --samples 6 --db "$scratch/kernels"
    # The same waves from C, tuned first, and from Fortran.
    example "waves from C" waves_c --device cpu --tune 3
    ends_with "^exit code 2$" build/ci/bin/waves_c --no-such-option || result=1
    if [ -x build/ci/bin/waves_fortran ]; then
        example "waves from Fortran" waves_fortran --device cpu
        ends_with "^exit code 2$" build/ci/bin/waves_fortran --no-such-option || result=1
    else
        echo "skipped: the example of Fortran, because there is no Fortran compiler (Debian, Ubuntu: apt install gfortran)"
    fi
    # A mesh from a file, with kernels that are tuned for it first.
    example "maxwell on a mesh" maxwell --device cpu --equation maxwell_2d_tm --mesh examples/mesh/disc.msh --initial cylinder --tune 5 \
        --frames "$scratch/frames" --checkpoint "$scratch/checkpoint"
    ends_with "--timed-steps: it is 0" build/ci/bin/maxwell --device cpu --order 1..2 --timed-steps 0 || result=1
    ends_with "--zones: 3 numbers in 2 dimensions" build/ci/bin/hydro --device cpu --zones 2,2,2 || result=1
    # Waves in ground from a file, with all that can be written; and what the absorbing layer sends back.
    build/ci/bin/acoustics --generate "$scratch/hills.segy" --cells 200 120 >/dev/null || result=1
    example "acoustics on a model from a file" acoustics --device cpu --model "$scratch/hills.segy" --sides rigid --output "$scratch/waves" --vti
    example "acoustics, reflection" acoustics --device cpu --reflection
    example "acoustics in place" acoustics --device cpu --dimension 3 --cells 40 36 32 --layer 8 --kernels in_place --tune 3
    # Gas on a mesh from a file, with all that can be written; on two devices; and a run whose steps and digits are published.
    example "hydro on a mesh" hydro --device cpu --problem noh --mesh examples/mesh/quarter.mesh --time 0.3 --tune 5 --mass elements \
        --frames "$scratch/gas" --energy "$scratch/energy.csv" --energy-chart "$scratch/energy.svg" --checkpoint "$scratch/gas.checkpoint"
    example "hydro on two devices" hydro --device cpu,cpu --zones 8,8 --time 0.4 --assembly full
    wait
    run_on_ranks 32 2 4 || result=1
    # These documents have what the records that ship and the tables of results give.
    if command -v python3 >/dev/null; then
        python3 benchmarks/scaling.py --check docs/scaling.md || result=1
        for card in h100 h200; do python3 benchmarks/tables.py --check benchmarks/results/$card || result=1; done
        python3 benchmarks/targets.py --check || result=1
    fi
    run_meshes_on_ranks 2 4 || result=1
    [ ! -e "$scratch/failed" ] || result=1
    rm -rf "$scratch"
    return $result
}

# run_on_ranks <cells along an axis> <ranks>...: programs on so many processes, on two devices of one process, and on two of each of two processes,
# against the digits of one.
# Skipped where there is no MPI.
run_on_ranks() {
    local cells=$1 result=0 mpi=(mpirun --oversubscribe) folder=$scratch/ranks
    shift
    if ! command -v mpirun >/dev/null || ! ldd build/ci/bin/poisson | grep libmpi >/dev/null; then
        echo "skipped: programs on several ranks, for there is no MPI here (Debian, Ubuntu: libopenmpi-dev openmpi-bin)"
        return 0
    fi
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    local waves=(acoustics --cells 60 $((2 * cells)) --layer 5 --levels 1 --snapshots 2 --vti)
    digits_of_one "history.csv solution.png" "$*" poisson --size "$cells" --boundary periodic || result=1
    digits_of_one "recording.csv pressure_002.png" "$*" "${waves[@]}" --time 0.3 || result=1
    digits_of_one "convergence.svg error.png" "$*" multigrid_smoother --size $((cells - 1)) --stencil constant --sweeps 4 || result=1
    digits_of_one "energy.csv vorticity_001.png" "$*" taylor_green --cells "$cells" --time 0.1 --frames 2 || result=1
    # Half a run on two devices, the other half on two processes.
    local half="$folder/half"
    build/ci/bin/"${waves[0]}" --device cpu,cpu "${waves[@]:1}" --time 0.15 --checkpoint "$half" >"$folder.log" 2>&1 &&
        timeout 240 "${mpi[@]}" -n 2 build/ci/bin/"${waves[0]}" --device cpu "${waves[@]:1}" --time 0.3 --restart "$half" --output "$folder/rest" \
            >"$folder.log" 2>&1 &&
        cmp "$folder/acoustics/1/recording.csv" "$folder/rest/recording.csv" || { echo "--- acoustics from a checkpoint: FAILED" && cat "$folder.log"; result=1; }
    # How ranks exchange is measured, kept with the link's name, and found; to the same digits.
    local tuned=("${mpi[@]}" -n 2 build/ci/bin/poisson --device cpu --size "$cells" --boundary periodic --db "$folder/exchange")
    timeout 240 "${tuned[@]}" --tune-exchange --output "$folder/tuned" >"$folder.log" 2>&1 &&
        grep "^exchange: edges=.*over host memory, between processes; kept in" "$folder.log" >/dev/null &&
        timeout 240 "${tuned[@]}" --output "$folder/found" >"$folder.log" 2>&1 &&
        grep "^exchange: edges=.*, exact of 2 ranks over host memory, between processes" "$folder.log" >/dev/null &&
        cmp "$folder/poisson/1/history.csv" "$folder/tuned/history.csv" && cmp "$folder/poisson/1/history.csv" "$folder/found/history.csv" &&
        build/ci/bin/hone show --db "$folder/exchange" -v >"$folder.log" 2>&1 && grep "poisson of 2 ranks over host memory" "$folder.log" >/dev/null &&
        echo "--- exchanges are tuned, kept and found" || { echo "--- tuning of exchanges: FAILED" && cat "$folder.log"; result=1; }
    # More ranks than chunks of planes, other options and other files end at once, with the reason.
    ends_with "start at most $((cells / 8))" timeout 60 "${mpi[@]}" -n $((cells / 8 + 1)) build/ci/bin/poisson --device cpu --size "$cells" || result=1
    ends_with "its command line is" timeout 60 "${mpi[@]}" -n 1 build/ci/bin/acoustics --device cpu : -n 1 build/ci/bin/acoustics --device cpu --order 4 || result=1
    local seed
    for seed in 1 2; do
        mkdir -p "$folder/$seed"
        build/ci/bin/acoustics --generate "$folder/$seed/hills.segy" --cells 60 60 --seed "$seed" >/dev/null || result=1
    done
    ends_with "its model is" timeout 60 "${mpi[@]}" -n 1 -wdir "$folder/1" "$PWD/build/ci/bin/acoustics" --device cpu --model hills.segy : \
        -n 1 -wdir "$folder/2" "$PWD/build/ci/bin/acoustics" --device cpu --model hills.segy || result=1
    return $result
}

# digits_of_one "<files>" "<ranks>..." <program> <options>...: files that must be the same, byte by byte, on any number of ranks. Of run_on_ranks.
digits_of_one() {
    local files=$1 numbers=$2 program=$3 ranks file result=0
    shift 3
    build/ci/bin/"$program" --device cpu "$@" --output "$folder/$program/1" >"$folder.log" 2>&1 || { cat "$folder.log"; result=1; }
    for ranks in $numbers "two devices" "two devices of two processes"; do
        local start=("${mpi[@]}" -n "${ranks##* }" build/ci/bin/"$program" --device cpu) good=yes
        [ "$ranks" != "two devices" ] || start=(build/ci/bin/"$program" --device cpu,cpu)
        [ "$ranks" != "two devices of two processes" ] || start=("${mpi[@]}" -n 2 build/ci/bin/"$program" --devices cpu,cpu,cpu,cpu)
        timeout 240 "${start[@]}" "$@" --output "$folder/$program/$ranks" >"$folder.log" 2>&1 || good=no
        for file in $files; do
            cmp "$folder/$program/1/$file" "$folder/$program/$ranks/$file" || good=no
        done
        if [ $good = yes ]; then
            echo "--- $program on $ranks$([ "${ranks#two}" != "$ranks" ] || echo " ranks"): the digits of one"
        else
            echo "--- $program on $ranks: FAILED"
            cat "$folder.log"
            result=1
        fi
    done
    return $result
}

# A rank that is killed in the middle of a run ends it on all ranks.
killed_rank() {
    local mpi=(mpirun --oversubscribe) run victim code=0
    command -v mpirun >/dev/null || return 0
    timeout 120 "${mpi[@]}" -n 3 build/ci/bin/acoustics --device cpu --cells 200 200 --time 3000 >"$scratch/killed.log" 2>&1 &
    run=$!
    sleep 8
    victim=$(pgrep -P "$(pgrep -P $run)" | tail -n 1)
    kill -9 "$victim"
    wait $run || code=$?
    if [ $code = 0 ] || [ $code = 124 ] || ! grep -q "signal 9" "$scratch/killed.log"; then
        echo "--- a rank that is killed: FAILED, exit code $code"
        cat "$scratch/killed.log"
        return 1
    fi
    echo "--- a rank that is killed ends the run"
}

# run_meshes_on_ranks <ranks>...: programs on unstructured meshes, whose checkpoints have all of the state; and what ends a run.
run_meshes_on_ranks() {
    local ranks program result=0 mpi=(timeout 240 mpirun --oversubscribe) folder=$scratch/meshes log=$scratch/meshes.log
    # All of it is read: what is left unread would make a failure of the pipe.
    if ! command -v mpirun >/dev/null || ! ldd build/ci/bin/maxwell | grep libmpi >/dev/null; then
        echo "skipped: meshes on several ranks, for there is no MPI here (Debian, Ubuntu: libopenmpi-dev openmpi-bin)"
        return 0
    fi
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mkdir -p "$folder"
    # Without results: checkpoints name the configuration, and a part of a mesh may find another than the whole.
    local -x HONE_DB=$folder/no_results
    local -A run=([maxwell]="build/ci/bin/maxwell --device cpu --cells 3 --order 2 --time 0.1 --timed-steps 0"
        [hydro]="build/ci/bin/hydro --device cpu --zones 24,24 --stop-after 4")
    for program in maxwell hydro; do
        ${run[$program]} --checkpoint "$folder/$program" >"$log" || result=1
        for ranks in "$@"; do
            if "${mpi[@]}" -n "$ranks" ${run[$program]} --checkpoint "$folder/$program.$ranks" --frames "$folder/$program.frames" >"$log" 2>&1 &&
                cmp "$folder/$program" "$folder/$program.$ranks" &&
                { [ "$ranks" = 1 ] || grep -q "_$((ranks - 1)).vtu" "$folder/$program.frames/"*_0000.pvtu; }; then
                echo "--- $program on $ranks ranks: the digits of one"
            else
                echo "--- $program on $ranks ranks: FAILED"
                cat "$log"
                result=1
            fi
        done
    done
    # Two devices of one process, each with a part of the mesh; and two of each of two processes.
    if ! build/ci/bin/hydro --device cpu,cpu --split mesh --zones 24,24 --stop-after 4 --checkpoint "$folder/threads" >"$log" 2>&1 ||
        ! cmp "$folder/hydro" "$folder/threads"; then
        echo "--- hydro on threads: FAILED"
        cat "$log"
        result=1
    fi
    for program in maxwell hydro; do
        if "${mpi[@]}" -n 2 ${run[$program]/--device cpu/--devices cpu,cpu,cpu,cpu} --checkpoint "$folder/$program.both" >"$log" 2>&1 &&
            cmp "$folder/$program" "$folder/$program.both"; then
            echo "--- $program on two devices of two processes: the digits of one"
        else
            echo "--- $program on two devices of two processes: FAILED"
            cat "$log"
            result=1
        fi
    done
    # Parts that are drawn anew while it runs.
    if ! "${mpi[@]}" -n 2 ${run[hydro]} --speeds 1,3 --balance-every 2 --checkpoint "$folder/moved" >"$log" 2>&1 || ! cmp "$folder/hydro" "$folder/moved"; then
        echo "--- hydro with parts that move: FAILED"
        cat "$log"
        result=1
    fi
    # More ranks than elements, or than chunks of nodes; other options on another rank; a rank that is killed.
    ends_with "start at most 2" "${mpi[@]}" -n 3 build/ci/bin/maxwell --device cpu --equation maxwell_2d_tm --cells 1 || result=1
    ends_with "start at most 2" "${mpi[@]}" -n 3 build/ci/bin/hydro --device cpu --zones 8,8 || result=1
    ends_with "rank 1: its command line" "${mpi[@]}" -n 1 build/ci/bin/maxwell --cells 2 : -n 1 build/ci/bin/maxwell --cells 3 || result=1
    ends_with "Killed|signal 9" "${mpi[@]}" -n 2 bash -c \
        'build/ci/bin/maxwell --device cpu --cells 4 --time 1000 & [ "$OMPI_COMM_WORLD_RANK" != 1 ] || { sleep 2; kill -KILL $!; }; wait $!' || result=1
    return $result
}

# Programs on two hosts, which are namespaces of this machine; the first rank to go takes all with it.
ranks_on_two_hosts() {
    local program result=0 code=0 folder=$scratch/hosts log=$scratch/hosts.log
    benchmarks/hosts -n 2 true >"$log" 2>&1 || code=$?
    if [ $code != 0 ]; then
        echo "skipped: ranks on two hosts: $(tail -n 1 "$log")"
        return 0
    fi
    mkdir -p "$folder"
    local -A run=([poisson]="build/ci/bin/poisson --device cpu --size 32 --boundary periodic --output"
        [hydro]="build/ci/bin/hydro --device cpu --zones 24,24 --stop-after 4 --checkpoint" [both]="build/ci/bin/hydro --devices cpu,cpu --zones 24,24 --stop-after 4 --checkpoint")
    ${run[poisson]} "$folder/alone" >"$log" 2>&1 && ${run[hydro]} "$folder/alone/state" >"$log" 2>&1 || result=1
    timeout 120 benchmarks/hosts -n 4 ${run[poisson]} "$folder/two" >"$log" 2>&1 && cmp "$folder/alone/history.csv" "$folder/two/history.csv" || result=1
    timeout 120 benchmarks/hosts -n 4 ${run[hydro]} "$folder/two/state" >>"$log" 2>&1 && cmp "$folder/alone/state" "$folder/two/state" || result=1
    # A process with two devices on each host.
    timeout 120 benchmarks/hosts -n 2 ${run[both]} "$folder/two/both" >>"$log" 2>&1 && cmp "$folder/alone/state" "$folder/two/both" || result=1
    if [ $result = 0 ]; then echo "--- poisson and hydro on two hosts: the digits of one rank"; else echo "--- ranks on two hosts: FAILED" && cat "$log"; fi
    ends_with "Killed|signal 9|Exit code: *137" timeout 60 benchmarks/hosts -n 2 bash -c \
        'build/ci/bin/maxwell --device cpu --cells 4 --time 1000 & [ "$OMPI_COMM_WORLD_RANK" != 1 ] || { sleep 3; kill -KILL $!; }; wait $!' || result=1
    return $result
}

# ends_with <expression> <command>...: a command that fails before the time is over, and what it says, or "exit code N", matches the expression.
ends_with() {
    local expression=$1 code=0
    shift
    "$@" >"$scratch/ends.log" 2>&1 || code=$?
    echo "exit code $code" >>"$scratch/ends.log"
    if [ $code -ne 0 ] && [ $code -ne 124 ] && grep -Eq -- "$expression" "$scratch/ends.log"; then return 0; fi
    echo "--- ended with code $code and not with \"$expression\": $*"
    cat "$scratch/ends.log"
    return 1
}

# Where the gate takes two and four ranks.
run_ranks() {
    local scratch result=0
    command -v mpirun >/dev/null || { skipped "there is no MPI here (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin)"; return; }
    scratch=$(mktemp -d)
    HONE_CACHE=$scratch/cache HONE_DB=$scratch/db OMP_WAIT_POLICY=passive run_on_ranks 64 1 2 3 4 8 || result=1
    HONE_CACHE=$scratch/cache HONE_DB=$scratch/db OMP_WAIT_POLICY=passive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 killed_rank || result=1
    HONE_CACHE=$scratch/cache HONE_DB=$scratch/db OMP_WAIT_POLICY=passive run_meshes_on_ranks 1 2 3 4 8 || result=1
    HONE_CACHE=$scratch/cache HONE_DB=$scratch/db OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 ranks_on_two_hosts || result=1
    rm -rf "$scratch"
    return $result
}

# Runs whose steps and digits are published: hydro says itself whether they are met.
run_published() {
    local scratch result=0
    scratch=$(mktemp -d)
    HONE_CACHE=$scratch/cache HONE_DB=$scratch/db build/ci/bin/hydro --device cpu --problem taylor-green --scheme rk4 --tolerance 1e-8 || result=1
    # No digits of it are published, but the density is known.
    HONE_CACHE=$scratch/cache HONE_DB=$scratch/db build/ci/bin/hydro --device cpu --problem noh --dimension 3 --zones 16,16,16 >"$scratch/noh" || result=1
    grep "behind the shock, exactly 64, .*: good" "$scratch/noh" || { cat "$scratch/noh"; result=1; }
    rm -rf "$scratch"
    return $result
}
