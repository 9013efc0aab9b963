# Sourced by tools/test: its steps, how each ends, and what is written down of them.
# shellcheck shell=bash disable=SC2034,SC2154  # stages is tools/test's, and what a step leaves is for it

declare -A outcome=()  # of each step: passed, skipped or FAILED
last_step=             # the one that ended last
beside=no              # yes in the lane of steps that run beside others
TIMEFORMAT='%U %S'
exec 3>&1

# skipped <reason>...: how a check ends that cannot be done here: `skipped "there is no MPI"; return`. What it could do of itself has not failed.
skipped() {
    echo "skipped: $*"
    return 77
}

# reason_in <log>: the line of a program's output that says why it failed: the first that speaks of an error, as what follows follows from it.
reason_in() {
    local line
    line=$(grep -iE -m 1 'error|^E: |cannot|could not|not (found|available|installed)' "$1")
    [ -n "$line" ] || line=$(grep -E '[[:alnum:]]' "$1" | tail -n 1)
    echo "${line:-it printed nothing; see $1}"
}

log_of() { echo "build/steps/${1//[^a-zA-Z0-9]/_}"; }

# step <name> <command>...: runs the command once, and remembers its times and how it ended. What it prints is seen at once, or beside other steps in one
# piece when it is done. Lines "skipped: ..." are told again at the end, lines "figures: ..." are kept with a deep stage's run.
step() {
    local name=$1 start=$SECONDS code=0 log
    log=$(log_of "$1")
    shift
    last_step=$name
    [ -z "${outcome[$name]:-}" ] || { [ "${outcome[$name]}" = passed ]; return; }
    printf '\n=== %s\n' "$name" >"$log.log"
    [ $beside = yes ] || cat "$log.log"
    # In a shell that waits for nothing else: of steps beside that end meanwhile, the time would count here, too.
    (time "$@" 2>&1 3>&- | tee -a "$log.log" >&3) 2>"$log.cpu" || code=$?
    [ $beside = no ] || cat "$log.log"
    case $code in
        0) outcome[$name]=passed ;;
        77) outcome[$name]=skipped ;;
        *)
            outcome[$name]=FAILED
            { printf '\n=== %s FAILED; its last lines:\n' "$name"; tail -n +3 "$log.log" | tail -n 40; } >>build/steps/failures
            ;;
    esac
    sed -n "s/^skipped: /$name: /p" "$log.log" >>build/steps/not_run
    tail -n 1 "$log.cpu" | awk -v name="$name" -v result="${outcome[$name]}" -v elapsed=$((SECONDS - start)) \
        '{ printf "%s,%s,%d,%.0f\n", name, result, elapsed, $1 + $2 }' >>build/steps/times.csv
    [ "${outcome[$name]}" = passed ]
}

# ended <result>: the steps that ended so, in quotes. A name may have commas, so fields count from the end.
ended() { awk -F, -v result="$1" '$(NF - 2) == result { sub(/,[^,]*,[^,]*,[^,]*$/, ""); printf " \"%s\"", $0 }' build/steps/times.csv; }

# The table of all steps, what did not run and why, and how it all ended.
summary() {
    printf '\n=== Summary: %s\n  %-40s %-7s %7s %8s\n' "${stages[*]}" step "" elapsed CPU
    awk -F, '{ name = $0; sub(/,[^,]*,[^,]*,[^,]*$/, "", name); printf "  %-40s %-7s %5d s %6d s\n", name, $(NF - 2), $(NF - 1), $NF }' build/steps/times.csv
    [ ! -s build/steps/not_run ] || { printf '\nNot run, and why:\n'; sed 's/^/  /' build/steps/not_run; }
    local failed skipped
    failed=$(ended FAILED)
    skipped=$(ended skipped)
    if [ -n "$failed" ]; then
        cat build/steps/failures
        printf '\nFailed:%s\n' "$failed${skipped:+; skipped:$skipped}"
        exit 1
    fi
    [ -z "${times:-}" ] || write_times "$times" CONTRIBUTING.md
    echo "All ${skipped:+that ran }is well, after $SECONDS s${skipped:+; skipped:$skipped}."
    exit 0
}

# What runs here: processors, graphics cards, system.
machine() {
    local cards model
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
    cards=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | awk '{ $1 = $1 "x"; print }' | paste -sd ' ')
    printf '%s; %d cores%s; %s' "${model:-$(uname -m)}" "$jobs" "${cards:+; $cards}" \
        "$(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME")" | tr ',"' '  '
}

# The tree that runs: HONE_COMMIT where git does not know it, as in a copy. A plus: with changes.
commit() {
    local hash
    hash=${HONE_COMMIT:-$(git rev-parse --short=8 HEAD 2>/dev/null)} || true
    [ -z "$hash" ] || [ -n "${HONE_COMMIT:-}" ] || git diff --quiet HEAD -- . ':!tests/deep_runs.csv' ':!CONTRIBUTING.md' || hash+=+
    echo "${hash:-unknown}"
}

# deep <stage>: runs it, and adds a line to tests/deep_runs.csv, the ledger that says which stages have not run for long.
deep() {
    local start=$SECONDS result figures log
    run_stage "$1"
    result=${outcome[$last_step]}
    log=$(log_of "$last_step").log
    figures=$(sed -n 's/^figures: //p' "$log" | paste -sd ';' | sed 's/;/; /g')
    # Of what counts nothing itself, the parts that it told of.
    [ -n "$figures" ] || ! figures=$(grep -c '^--- ' "$log") || figures+=" parts"
    [ "$figures" != 0 ] || figures=
    [ "$result" != skipped ] || figures=$(sed -n 's/^skipped: //p' "$log" | head -n 1)
    printf '%s,%s,%s,%s,%d,%s,"%s"\n' "$1" "$(date -u +%F)" "$(commit)" "$(machine)" $((SECONDS - start)) "${result,,}" "${figures//\"/\'}" |
        tee -a tests/deep_runs.csv | sed 's/^/Added to tests\/deep_runs.csv: /'
}

# write_times <empty or full> <document>: writes this run into a column of the document's table; what ran with the other caches stays in the other.
write_times() {
    awk -v times=build/steps/times.csv -v caches="$1" -v when="$(date -u +%F), $(commit)" -v seconds="$SECONDS" -v where="$(machine)" '
        function cell(name, which) { return (which == caches) ? now[name] : before[name] }
        function rows(   n, name) {
            printf "On %s. Elapsed time, and that of the processors:\n\n", where
            printf "| step | empty caches, %s | full caches, %s |\n|---|---|---|\n", (caches == "empty") ? when : old_when, (caches == "full") ? when : old_when
            for (n = 1; n <= count; n++) { name = order[n]; printf "| %s | %s | %s |\n", name, cell(name, "empty"), cell(name, "full") }
        }
        function remember(name) { if (!(name in known)) { known[name] = 1; order[++count] = name } }
        BEGIN {
            other = (caches == "empty") ? 4 : 3
            while ((getline line < times) > 0) {
                fields = split(line, field, ",")
                name = field[1]
                for (n = 2; n <= fields - 3; n++) name = name "," field[n]
                remember(name)
                now[name] = (field[fields - 2] == "skipped") ? "skipped" : field[fields - 1] " s, " field[fields] " s"
            }
        }
        /^<!-- end of times/ { remember("all"); now["all"] = seconds " s"; rows(); inside = 0 }
        !inside { print }
        /^<!-- times/ { inside = 1; print "" }
        inside && /^\| / {
            split($0, part, " *[|] *")
            if (part[2] == "step") { old_when = part[other]; sub(/^[a-z]* caches, /, "", old_when) }
            else if (part[2] != "all") { if (part[other] != "") { remember(part[2]); before[part[2]] = part[other] } }
            else before["all"] = part[other]
        }' "$2" >build/steps/document && mv build/steps/document "$2" && echo "These times stand in $2."
}
