# verdict.sh - functions of the test scripts, read with `.`: results are counted in passed, failed and skipped; $folder
# is a temporary folder, removed at exit. The output of commands is in $folder/log; a script that keeps both streams
# apart writes $folder/out and $folder/err. A script ends with `total`.
# shellcheck shell=sh disable=SC2034
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    echo "FAIL $*"
    for stream in err out; do
        if [ -f "$folder/$stream" ]; then
            head -n 5 "$folder/$stream" | cut -c 1-200 | sed "s/^/     std$stream: /"
        fi
    done
}

skip() { # NAME REASON
    skipped=$((skipped + 1))
    echo "      1  $1: $2" >>"$folder/skipped"
}

# verdict NAME STATUS [FILE]: FILE is printed when it failed
verdict() {
    if [ "$2" -eq 0 ]; then
        pass
    else
        fail "$1"
        [ $# -lt 3 ] || head -n 20 "$3"
    fi
}

# holds NAME COMMAND...: the command succeeds
holds() {
    what=$1
    shift
    "$@" >"$folder/log" 2>&1
    verdict "$what" $? "$folder/log"
}

# try NAME COMMAND...: the same, and a failure shows the command
try() {
    what=$1
    shift
    "$@" >"$folder/log" 2>&1
    verdict "$what: $*" $? "$folder/log"
}

# total: prints the skipped checks and the last line of a suite; the status is 0 if all passed
total() {
    [ -z "${asked:-}" ] || end_commands
    [ "$skipped" -eq 0 ] || {
        echo 'skipped  because of'
        cat "$folder/skipped"
    }
    echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
    [ "$failed" -eq 0 ]
}
