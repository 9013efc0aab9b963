# Sourced by tools/test: what is checked of sources without running them.
# shellcheck shell=bash disable=SC2154  # jobs is tools/test's

# The checks of sources take what git knows, and of an archive that was unpacked it knows nothing.
known_to_git() {
    git ls-files --error-unmatch tools/test >/dev/null 2>&1 || skipped "git, which says what the sources are, is not here or does not know this folder"
}

# Kernels in folders of their own (examples/kernels) are no C++ before hone adds what they are told.
sources() {
    git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' ':!tests/golden' ':!examples/kernels'
}

check_format() {
    known_to_git || return
    local program=clang-format-14
    command -v $program >/dev/null || { skipped "formatting differs between versions, and $program is not here (Debian, Ubuntu: apt install $program)"; return; }
    sources | xargs $program --dry-run --Werror
}

# Runs clang-tidy on sources in groups, or where that finds something on each source of the group: what others of a group do to it is not its own. That takes
# many times as long, so a group whose sources are good each by itself says what keeps them apart: cmake/Unity.cmake should.
read_group() {
    local log
    log=$(clang-tidy -p build/tidy --quiet "$1" 2>&1) && return 0
    sed -n 's/^#include "\(.*\)"$/\1/p' "$1" | xargs --max-args=1 clang-tidy -p build/tidy --quiet || return 1
    echo "read one by one, $(grep -c . "$1") sources that are not good together: $(grep -m 1 ' error: ' <<<"$log")"
}

# clang_tidy <sources that are read by themselves, too> [<source>...]: on these sources, or on all of ours without the tests and the Python module. One process
# per core. Most of the time goes into the headers of the system, so sources are read in groups: those of the preset tidy. What is in none of them is read on
# its own. That a source includes what it needs, and two checks that skip included files, ask for a source by itself; without the other checks that is short.
clang_tidy() {
    local alone=$1 groups grouped source own=() result=0
    shift
    configure tidy "-DHONE_READ_ONLY=$(IFS=';' && echo "$*")" || return 1
    [ $# -gt 0 ] || set -- $(git ls-files --cached --others --exclude-standard -- '*.cpp' ':!tests' ':!examples/kernels' ':!interfaces/python')
    groups=$(sed -n 's/^  "file": "\(.*unity\/hone_read_.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json)
    grouped=$(xargs --no-run-if-empty cat <<<"$groups")
    for source in "$@"; do [[ $grouped == *"\"$source\""* ]] || own+=("$source"); done
    export -f read_group
    local each=(xargs --no-run-if-empty --max-procs="$jobs" --max-args=1)
    {
        "${each[@]}" bash -c 'read_group "$0"' <<<"$groups" || result=1
        "${each[@]}" clang-tidy -p build/tidy --quiet <<<"${own[*]}" || result=1
        "${each[@]}" clang-tidy -p build/tidy --quiet '--checks=-*,misc-unused-using-decls,misc-unused-alias-decls' <<<"$alone" || result=1
    } 2>build/tidy.log
    return $result
}

check_tidy_all() {
    known_to_git || return
    command -v clang-tidy >/dev/null || { skipped "clang-tidy is not here (Debian, Ubuntu: apt install clang-tidy)"; return; }
    clang_tidy "$(git grep --untracked -lE '^(using [a-z_:]+;|namespace [a-z_]+ =)' -- '*.cpp' ':!tests' ':!examples/kernels' ':!interfaces/python')"
}

# The same for the sources that changed, each by itself, too; where that would take longer than all of them in groups, so.
check_tidy() {
    known_to_git || return
    command -v clang-tidy >/dev/null || { skipped "clang-tidy is not here (Debian, Ubuntu: apt install clang-tidy)"; return; }
    local base=${HONE_BASE:-} changed
    [ -n "$base" ] || base=$(git merge-base HEAD origin/main 2>/dev/null)
    if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then base=$(git rev-list -1 --before='1 day ago' HEAD); fi
    [ -n "$base" ] || base=$(git rev-list --max-parents=0 HEAD | tail -n 1)
    changed=$({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } |
        grep -E '^(foundation|generator|tuning_db|runtime|tuner|interfaces|solvers|tools|examples|benchmarks)/.*\.cpp$' | grep -vE '^(examples/kernels|interfaces/python)/' | sort -u)
    echo "$(grep -c . <<<"$changed") sources changed since $(git log -1 --format='%h of %cs' "$base")"
    [ "$(grep -c . <<<"$changed")" -lt 200 ] || { check_tidy_all; return; }
    [ -z "$changed" ] || clang_tidy "$changed" $changed
}

# Every header of ours, by itself: whoever includes it needs nothing before it.
check_headers() {
    known_to_git || return
    configure dev || return 1
    local flags
    flags=$(sed -n 's/^  "command": "\(.*\) -o [^ ]* -c [^ ]*tests.*generator.*",$/\1/p' build/dev/compile_commands.json | head -n 1 | sed 's/\\"/"/g')
    git ls-files '*.hpp' ':!tests/consumer' | xargs --max-procs="$jobs" --max-args=1 bash -c "$flags -fsyntax-only -x c++ -include \"\$0\" /dev/null"
}
