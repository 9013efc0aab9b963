# Sourced by tools/test: every command that README and the help of tools/ name, as a reader types it.
# shellcheck shell=bash disable=SC2154  # jobs and caches are tools/test's

# Who runs what is too long for here, or needs another machine: beginnings of commands, and the reason.
declare -A run_elsewhere=(
    ["tools/test"]="this is a run of it"
    ["pip install ."]="the stage wheel runs it"
    ["cmake --preset dev"]="the stage optimised builds it"
    ["hydro --dimension 3 --zones 32,32,32 --device cuda:0,cpu"]="it needs a GPU"
    ["ctest"]="the stages optimised and gpu run these tests"
)

# commands_in <document>: its commands, one a line: those of code blocks, and what stands in backquotes or in a comment and begins as one.
commands_in() {
    awk '
        function told(text) { sub(/  +#.*/, "", text); sub(/ +$/, "", text); if (text != "") print text }
        /^```/ { in_code = !in_code; language = substr($0, 4); next }
        in_code && language == "" && /^(tools\/|hone |cmake |ctest |pip |python3 |export )/ { told($0); next }
        in_code { if (match($0, /# after: cmake .*/)) told(substr($0, RSTART + 9)); next }
        {
            for (rest = $0; match(rest, /`[^`]+`/); rest = substr(rest, RSTART + RLENGTH)) {
                command = substr(rest, RSTART + 1, RLENGTH - 2)
                if (command ~ /^(tools\/|cmake |ctest |pip |python3 )/) told(command)
                else if (command ~ /^hone [a-z]+$/) names[command " --help"]  # of a sub-command, which may not be built yet
                else if (command ~ /^hone /) told(command)
            }
        }
        END { for (name in names) told(name) }' "$1"
}

# commands_in_help <program>: the ones that its --help gives: lines of options for example, and indented commands, also of its own.
commands_in_help() {
    "$1" --help | awk -v program="$1" -v name="$(basename "$1")" '
        /for example:$/ { examples = 1; next }
        examples && /^  --/ { sub(/^ +/, ""); sub(/   *.*/, ""); print program, $0; next }
        /^By hand, after "/ { sub(/^By hand, after "/, ""); sub(/":$/, ""); print; next }
        /^Examples/ { own = 1 }
        /^  (cmake|ctest|tools\/|hone) / || (own && ($1 == name || $1 == "mpirun") && /^  [a-z]/) { sub(/^ +/, ""); sub(/   *.*/, ""); print }'
}

# elsewhere <command>: the reason why it is not run here; fails where there is none.
elsewhere() {
    local beginning
    [[ $1 != *" --help" ]] || return 1
    for beginning in "${!run_elsewhere[@]}"; do
        if [[ $1 == "$beginning"* ]]; then
            echo "${run_elsewhere[$beginning]}"
            return 0
        fi
    done
    return 1
}

# run_commands <copy of the sources> <scratch folder>: each in the state that the one before left; `shorten`, if set, is a script of sed that changes it first.
run_commands() {
    local command line code reason start result=0
    cd "$1" || return 1
    while IFS= read -r command; do
        if reason=$(elsewhere "$command"); then
            echo "--- $command: not run here: $reason"
            continue
        fi
        line=${command//<prefix>/$2/prefix}
        line=$(sed -E "${shorten:-}" <<<"$line")
        start=$SECONDS
        code=0
        eval "$line" >"$2/output" 2>&1 </dev/null || code=$?
        # 3 is hone's for what the machine has not, such as NVRTC.
        if [ $code = 0 ] || { [ $code = 3 ] && [[ $command == hone\ * ]]; }; then
            [ "$command" != tools/quickstart ] || echo "figures: tools/quickstart $((SECONDS - start)) s"
            echo "--- $command: $((SECONDS - start)) s$([ $code = 0 ] || echo ", ended with $code: $(reason_in "$2/output")")"
        else
            echo "--- $command: FAILED with $code"
            tail -n 30 "$2/output"
            result=1
        fi
    done
    return $result
}

# copy_sources <folder>: as a clone has them, with what has not been committed.
copy_sources() {
    known_to_git || return
    mkdir -p "$1" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | xargs -0 cp --parents --no-dereference -t "$1"
}

# commands_of_readers [<option of cmake>...]: all of them, in a copy of the sources.
commands_of_readers() {
    local scratch result=0
    scratch=$(mktemp -d)
    copy_sources "$scratch/hone" || { result=$?; rm -rf "$scratch"; return $result; }
    # So prepared, the build takes the product's objects from the compiler's cache.
    [ $# = 0 ] || (cd "$scratch/hone" && cmake --preset release -Wno-dev "$@" >/dev/null) || result=1
    {
        commands_in README.md
        commands_in_help tools/quickstart
        commands_in_help tools/test
    } | (
        export HONE_CACHE=$caches/hone-tests XDG_DATA_HOME=$scratch/data OMP_WAIT_POLICY=passive
        unset HONE_DB HONE_DEVICE
        run_commands "$scratch/hone" "$scratch"
    ) || result=1
    rm -rf "$scratch"
    return $result
}

# In the gate what takes minutes tries few candidates: so many, as seconds would not suffice for any on a busy machine.
check_commands() {
    local few="--evaluations 3 --samples 6"
    local -x HONE_QUICKSTART=$few
    local shorten="s/--budget [0-9]+[smh]/$few/; s/^hone simulate .*/& --repetitions 2 --evaluations 25/"
    commands_of_readers '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG' -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
}

# What the programs of examples/ give in their --help, on the processor where there is no GPU, as long as that takes.
check_helps() {
    local scratch source result=0
    scratch=$(mktemp -d)
    ln -s "$PWD/examples" "$scratch/examples"
    for source in examples/*.cpp; do commands_in_help "build/ci/bin/$(basename "$source" .cpp)"; done | (
        export PATH=$PWD/build/ci/bin:$PATH HONE_CACHE=$caches/hone-tests XDG_DATA_HOME=$scratch/data OMP_WAIT_POLICY=passive
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
        unset HONE_DB HONE_DEVICE
        run_commands "$scratch" "$scratch"
    ) || result=1
    rm -rf "$scratch"
    return $result
}

# As a reader has it: built with all optimisation, and nothing shortened but the ten minutes.
check_quickstart() {
    local shorten="s/--budget 10m/--budget 30s/"
    commands_of_readers
}
