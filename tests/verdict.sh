# verdict.sh - what test scripts share, read with `.`: they count in passed and failed, and have a folder of their own in
# $folder, which goes when they end. Commands leave what they print in $folder/log.
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

# verdict WHAT STATUS [FILE]: FILE tells more when it failed
verdict() {
    if [ "$2" -eq 0 ]; then
        pass
    else
        fail "$1"
        [ $# -lt 3 ] || head -n 20 "$3"
    fi
}

# holds WHAT COMMAND...: the command succeeds
holds() {
    what=$1
    shift
    "$@" >"$folder/log" 2>&1
    verdict "$what" $? "$folder/log"
}

# try WHAT COMMAND...: the same, and a failure shows the command
try() {
    what=$1
    shift
    "$@" >"$folder/log" 2>&1
    verdict "$what: $*" $? "$folder/log"
}
