# shellcheck shell=bash
# What `soak` and `bench` have in common: they run parts, each in an empty folder that is removed afterwards.
#
# Before run_parts they set `parts`, a line for each: name, GB of free disk, minutes on two cores, what it does. Their function
# run_part NAME FOLDER runs one, and returns 77 when this machine or user lacks what it needs, having said so.

# Where `writers` is, which writes the archives.
export PYTHONPATH=$PWD/Fixtures

# choose_parts NAME...: checks the names and keeps those parts alone. Without names, those of ONLY; without these, all. --list lists them.
choose_parts() {
    local name
    if [ "${1:-}" = --list ]; then
        printf '  %-22s %4s GB %4s min  %s\n' name disk time what
        while read -r name gigabytes minutes what; do
            printf '  %-22s %4s GB %4s min  %s\n' "$name" "$gigabytes" "$minutes" "$what"
        done <<<"$parts"
        exit
    fi
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- ${ONLY:-}
    for name in "$@"; do
        grep -q "^$name " <<<"$parts" || { echo "error: there is no part \"$name\"; --list lists them" >&2; exit 2; }
    done
    [ $# -eq 0 ] || parts=$(for name in "$@"; do grep "^$name " <<<"$parts"; done)
}

# run_parts TOOL PLACE: runs what was chosen. The last line is the count.
run_parts() {
    local tool=$1 place passed=0 failed=0 skipped=0 name gigabytes minutes what free folder code
    mkdir -p "$2"
    place=$(cd "$2" && pwd)
    while read -r -u 3 name gigabytes minutes what; do
        free=$(df -Pk "$place" | awk 'NR == 2 { print int($4 / 1048576) }')
        echo "$tool: $name: $what (about $minutes minutes)"
        if [ "$free" -lt "$gigabytes" ]; then
            echo "$tool: $name: skipped, it needs $gigabytes GB and $free GB are free in $place"
            skipped=$((skipped + 1))
            continue
        fi
        folder=$(mktemp -d "$place/$name.XXXXXX")
        # In a condition, `set -e` would not hold inside of run_part.
        set +e
        (set -e; run_part "$name" "$folder")
        code=$?
        set -e
        case $code in
            0) passed=$((passed + 1)) ;;
            77) echo "$tool: $name: skipped"; skipped=$((skipped + 1)) ;;
            *) echo "$tool: $name: failed"; failed=$((failed + 1)) ;;
        esac
        rm -rf "$folder"
    done 3<<<"$parts"
    echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
    [ $failed -eq 0 ]
}
