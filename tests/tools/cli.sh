# cli.sh - functions of the suites of the command line, read with `.` from the root of the tree:
#     sh tests/tools/test_cli_NAME.sh NNRT [SHIPPED [DEVICES]]
#   NNRT     the program with sanitizers, for bad input, files and memory: it takes ten times as long
#   SHIPPED  the program as built for users, for results alone; without it, as for coverage, NNRT does all
#   DEVICES  the program with more devices, tests/tools/nnrt_devices.c
# Expected results come from numpy; the models are files that cli_models.py writes byte by byte.
# shellcheck shell=sh disable=SC2034
. tests/kit/verdict.sh
. tests/kit/commands.sh
nnrt=${1:?usage: sh "$0" path/to/nnrt}
shipped=${2:-$nnrt}
devices=${3:-}
sanitized=$(commands_of "$nnrt")
plain=$(commands_of "$shipped")
program=$sanitized # the one that t asks
python=${PYTHON:-/usr/bin/python3}
digits=examples/digits
data=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node

# t STATUS NAME ARGUMENTS...: the program with these arguments ends with that status.
t() {
    want=$1
    name=$2
    shift 2
    ask "$program" "$@"
    if [ "$got" = "$want" ]; then pass; else fail "$name: status $got, expected $want"; fi
}

# fed FILE STATUS NAME ARGUMENTS...: the same with FILE as standard input
fed() {
    fed=$1
    shift
    program=$nnrt
    t "$@" <"$fed"
    program=$sanitized
}

# says NAME PATTERN, prints NAME PATTERN: a line of standard error (output) matches. lacks NAME PATTERN: none of output
# does.
says() { if grep -Eq -e "$2" "$folder/err"; then pass; else fail "$1: standard error lacks $2"; fi; }
prints() { if grep -Eq -e "$2" "$folder/out"; then pass; else fail "$1: standard output lacks $2"; fi; }
lacks() { if grep -Eq -e "$2" "$folder/out"; then fail "$1: standard output has $2"; else pass; fi; }

# silent NAME: nothing on standard error.
silent() { if [ -s "$folder/err" ]; then fail "$1: something on standard error"; else pass; fi; }

# same NAME A B: both files, or folders, have the same bytes.
same() { if diff -r "$2" "$3" >/dev/null; then pass; else fail "$1: $2 and $3 differ"; fi; }

# absent NAME FILE...: no such file was written, or is left.
absent() {
    label=$1
    shift
    for file in "$@"; do
        if [ -e "$file" ]; then
            fail "$label: there is $file"
            return
        fi
    done
    pass
}

# refused STATUS NAME PATTERN ARGUMENTS...: ends with that status, one clear line on standard error, nothing on output.
refused() {
    status=$1
    label=$2
    pattern=$3
    shift 3
    t "$status" "$label" "$@"
    line='' more=''
    { IFS= read -r line && ! IFS= read -r more; } <"$folder/err"
    case $?$more$line in 0nnrt:\ *) pass ;; *) fail "$label: not one line of message" ;; esac
    if [ -s "$folder/out" ]; then fail "$label: output beside the message"; else pass; fi
    says "$label" "$pattern"
}

# models NAME...: the files of these functions of cli_models.py, in $folder. Starts the Python that answers py.
models() {
    mkfifo "$folder/ask" "$folder/answers"
    "$python" -B tests/tools/cli_judge.py "$folder" "$@" <"$folder/ask" >"$folder/answers" &
    judge=$!
    trap 'kill $judge 2>/dev/null; rm -rf "$folder"' EXIT
    exec 8>"$folder/ask" 9<"$folder/answers"
    read -r answer <&9
    if [ "$answer" != True ]; then
        fail 'cannot make models and data (python3 with numpy is needed)'
        total
        exit
    fi
}

# py NAME EXPRESSION: the Python expression of cli_judge.py holds. d is standard output as JSON.
py() {
    printf '%s' "$2" >"$folder/asked"
    echo >&8
    answer=none
    read -r answer <&9
    if [ "$answer" = True ]; then pass; else
        fail "$1: $2"
        echo "     python: $answer"
    fi
}
