# shellcheck shell=bash
# Shared by `soak` and `bench`, which run parts, each in an empty folder that is deleted afterwards.
#
# They set `parts`, one per line: name, GB of free disk space, minutes on two cores, description. Their function
# run_part NAME FOLDER runs one part. It returns 77, after a message, if a requirement is missing.

# For the package `writers`, which writes archives
export PYTHONPATH=$PWD/Fixtures

# choose_parts NAME...: selects parts by name, by ONLY, or all. --list lists them.
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
        grep -q "^$name " <<<"$parts" || { echo "error: unknown part \"$name\"; --list lists all parts" >&2; exit 2; }
    done
    [ $# -eq 0 ] || parts=$(for name in "$@"; do grep "^$name " <<<"$parts"; done)
}

# run_parts TOOL FOLDER: runs the selected parts. The last line is the count.
run_parts() {
    local tool=$1 place passed=0 failed=0 skipped=0 name gigabytes minutes what free folder code
    mkdir -p "$2"
    place=$(cd "$2" && pwd)
    while read -r -u 3 name gigabytes minutes what; do
        free=$(df -Pk "$place" | awk 'NR == 2 { print int($4 / 1048576) }')
        echo "$tool: $name: $what (about $minutes minutes)"
        if [ "$free" -lt "$gigabytes" ]; then
            echo "$tool: $name: skipped; it needs $gigabytes GB, but only $free GB are free in $place"
            skipped=$((skipped + 1))
            continue
        fi
        folder=$(mktemp -d "$place/$name.XXXXXX")
        # In a condition, `set -e` would have no effect inside run_part.
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
