# examples.sh - functions of the suites of the examples, read with `.` from the root of the tree: sh
# tests/tools/test_example_NAME.sh FOLDER. FOLDER has the programs, built with sanitizers; they work as their README
# says, and report errors with the right status and a message.
# shellcheck shell=sh disable=SC2034
. tests/kit/verdict.sh
bin=$1
digits=examples/digits
python=${PYTHON:-/usr/bin/python3}

# expect NAME STATUS COMMAND... : the command ends with STATUS and leaves no sanitizer report
expect() {
    what=$1 status=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    [ $got -eq "$status" ] && ! grep -qE 'Sanitizer|runtime error' "$folder/err"
    verdict "$what: status $got, expected $status" $?
}

# shows NAME FILE PATTERN
shows() {
    grep -qE "$3" "$folder/$2"
    verdict "$1: no line like $3" $?
}

# usage PROGRAM ARGUMENTS: these words are wrong arguments
usage() {
    # shellcheck disable=SC2086  # words are meant to be split
    expect "$1 $2" 2 "$bin/$1" $2
    shows "$1 $2" err '^usage: '
}
