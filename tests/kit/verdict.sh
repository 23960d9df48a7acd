# verdict.sh - functions of the test scripts, read with `.`: results are counted in passed and failed; $folder is a temporary
# folder, removed at exit. The output of commands is in $folder/log.
# shellcheck shell=sh disable=SC2034
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    echo "FAIL $*"
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
