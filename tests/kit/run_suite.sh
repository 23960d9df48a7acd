#!/bin/sh
# run_suite.sh FOLDER NAME COMMAND...    runs one suite of tests; FOLDER gets NAME.log (its output) and NAME.txt
#                                        ("passed failed skipped seconds"); prints a line, and the log if it failed.
#                                        With NNRT_SUITES, the names of all suites, the line begins with "[n/all]": the
#                                        n-th to end. With NNRT_BEGAN, the time of the beginning in seconds, it ends with
#                                        the time since then and an estimate of the remaining time. Below the log of
#                                        a suite that failed: the command that repeats it. NNRT_GIVEN has the variables
#                                        of make that belong to it.
# run_suite.sh --summary FOLDER NAME...  prints a line for each suite and at the end "N passed, N failed"; status 0 only
#                                        if nothing failed and every suite ran and passed something. For a suite without
#                                        NAME.txt it searches FOLDER/make.log, the output of make, for the first error of
#                                        the compiler.
#
# run_suite.sh --seconds FOLDER          prints suite_seconds.txt, updated with the times of the suites in FOLDER
#
# The estimate: suite_seconds.txt contains the times of suites and of the objects that make builds for them; the elapsed
# time is scaled by the finished part, so that a slow machine needs no other numbers.
#
# A suite reports its result like cmocka, or with a last line "N passed, N failed[, N skipped]". A suite
# that ends with a status other than 0, reports nothing, runs nothing or takes NNRT_SUITE_SECONDS (1200) has failed,
# whatever it counted.
set -u

# count LOG: "passed failed skipped" of a suite's output
count() {
    awk '
    /^[0-9]+ passed.* [0-9]+ failed/ {
        last = 1
        p = f = s = 0
        for (i = 2; i <= NF; i++) {
            if ($i ~ /^passed,?$/) p = $(i - 1)
            if ($i ~ /^failed,?$/) f = $(i - 1)
            if ($i ~ /^skipped,?$/) s = $(i - 1)
        }
    }
    /^\[  PASSED  \] [0-9]+ test/ { cp += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { cf += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { cs += $4 }
    END { if (last) print p + 0, f + 0, s + 0; else print cp + 0, cf + 0, cs + 0 }' "$1"
}

line() { # name passed failed skipped seconds [more]
    printf '%-4s %-15s %6d passed, %d failed%s  (%d s%s)\n' "$(if [ "$3" -eq 0 ]; then echo ok; else echo FAIL; fi)" \
        "$1" "$2" "$3" "$(if [ "$4" -gt 0 ]; then echo ", $4 skipped"; fi)" "$5" "${6:-}"
}

# clock SECONDS: as minutes:seconds
clock() {
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# left ELAPSED: the seconds that the suites of NNRT_SUITES without results are likely to take; nothing while too few have ended
left() {
    {
        for name in $NNRT_SUITES; do
            echo "suite $name $([ -f "$folder/$name.txt" ] && echo 1 || echo 0)"
        done
        grep -v '^#' "${NNRT_SECONDS:-$(dirname "$0")/suite_seconds.txt}" | while read -r name seconds suites; do
            echo "takes $name $seconds"
            [ -z "$suites" ] || if [ ! -f "$name" ]; then
                echo "file $name 0 $suites"
            elif [ "$(stat -c %Y "$name" 2>/dev/null || echo 0)" -ge "$NNRT_BEGAN" ]; then
                echo "file $name 1 $suites"
            fi # one that was there before takes no time
        done
    } | awk -v elapsed="$1" '
        $1 == "takes" { takes[$2] = $3 }
        $1 == "suite" { ended[$2] = $3 }
        $1 == "file" {
            for (i = 4; i <= NF; i++)
                if ($i == "all" || $i in ended) {
                    files[$2] = $3
                }
        }
        END {
            for (name in files)
                ended[name] = files[name]
            for (name in ended) {
                seconds = name in takes ? takes[name] : 2
                all += seconds
                done += seconds * ended[name]
            }
            if (done * 20 >= all)
                printf "%d\n", elapsed * (all - done) / done
        }'
}

# progress: ", M:SS so far, about M:SS left"
progress() {
    elapsed=$(($(date +%s) - NNRT_BEGAN))
    rest=$(left $elapsed)
    printf '; %s so far%s' "$(clock $elapsed)" "$([ -z "$rest" ] || printf ', about %s left' "$(clock "$rest")")"
}

# why_not_built NAME: the first error of the first target that make could not make for the suite
why_not_built() {
    [ -f "$folder/make.log" ] || return
    { # the targets that the suite still waits for, in make's order, and what make printed
        LC_ALL=C make -n --debug=b "suite-$1" 2>/dev/null | sed -n "s/.*Must remake target '\(.*\)'\..*/waits \1/p"
        cat "$folder/make.log"
    } | awk -v suite="suite-$1" '
        /^waits / { waits[$2] = 1; next }
        /^make.*No rule to make target/ && index($0, "\047" suite "\047") { print ": there is no such suite"; exit }
        /^make.*\*\*\* \[/ { # make: *** [Makefile:12: TARGET] Error 1, behind what its commands printed
            target = $0
            sub(/^[^*]*\*\*\* \[([^]:]*:[0-9]+: )?/, "", target) # make[1]: in a make within make
            sub(/\].*/, "", target)
            if (target in waits) {
                print ": " target ": " (error != "" ? error : $0)
                exit
            }
            error = ""
            next
        }
        /^\[ *[0-9]+\/[0-9]+\]/ { error = "" } # a suite that ran: its failures are none of the compiler
        error == "" && /(^|[^-A-Za-z])(fatal )?error:|undefined reference|cannot find|not found|No such file/ { error = $0 }'
}

# again NAME: the command that repeats the suite, or what failed of it: one test of cmocka, operators of vectors
again() {
    test='' operators=''
    if [ -f "$folder/$1.log" ]; then
        test=$(sed -n 's/^\[  FAILED  \] \([A-Za-z0-9_]*\)$/\1/p' "$folder/$1.log" | sort -u)
        operators=$(sed -n 's:^FAIL.*tests/ops/vectors/\([a-z0-9_]*\)\.vec.*:\1:p' "$folder/$1.log" | sort -u)
    fi
    [ "$(echo "$test" | wc -l)" -eq 1 ] || test=''
    given=${NNRT_GIVEN:-}
    [ -z "$operators" ] || [ "$(echo "$operators" | wc -l)" -gt 20 ] ||
        given="$(echo "$given" | sed 's/VEC="[^"]*"//') VEC=\"$(echo "$operators" | tr '\n' ' ' | sed 's/ $//')\""
    echo "again: make test ONLY=$1 ${test:+TEST=$test }$given" | tr -s ' ' | sed 's/ $//'
}

summary() {
    folder=$1
    shift
    passed=0 failed=0
    echo
    for name in "$@"; do
        if [ -f "$folder/$name.txt" ]; then
            read -r p f s t <"$folder/$name.txt"
            line "$name" "$p" "$f" "$s" "$t"
        else
            p=0 f=1
            printf 'FAIL %-15s was not built%s\n' "$name" "$(why_not_built "$name")"
        fi
        [ "$f" -eq 0 ] || again "$name"
        passed=$((passed + p)) failed=$((failed + f))
    done
    [ -z "${NNRT_BEGAN:-}" ] || echo "$# suites in $(clock $(($(date +%s) - NNRT_BEGAN)))"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# seconds FOLDER: NAME.times is the output of the shell's times, whose second line is "0m12.340000s 0m1.230000s" of the suite
seconds() {
    grep -e '^#' -e / "$(dirname "$0")/suite_seconds.txt"
    for file in "$1"/*.times; do
        name=${file##*/}
        sed -n '2s/[ms]/ /gp' "$file" | awk -v name="${name%.times}" '{ printf "%s %d\n", name, $1 * 60 + $2 + $3 * 60 + $4 + 0.5 }'
    done | awk '$2 > 2' | sort -k 2nr -k 1
}

case $1 in
--summary | --seconds)
    mode=${1#--}
    shift
    $mode "$@"
    exit
    ;;
esac

folder=$1 name=$2
shift 2
mkdir -p "$folder"
start=$(date +%s)
limit=''
command -v timeout >/dev/null 2>&1 && limit="timeout -k 10 ${NNRT_SUITE_SECONDS:-1200}"
# shellcheck disable=SC2086  # several words, or none
$limit "$@" >"$folder/$name.log" 2>&1 </dev/null
status=$?
times >"$folder/$name.times"
n='' all=0
# shellcheck disable=SC2034  # they are counted
for suite in ${NNRT_SUITES:-}; do all=$((all + 1)); done
if [ $all -gt 0 ]; then
    n=1
    until mkdir "$folder/.$n" 2>/dev/null; do n=$((n + 1)); done # no two that end together have the same number
fi
# shellcheck disable=SC2046  # three numbers
set -- $(count "$folder/$name.log")
passed=$1 failed=$2 skipped=$3
if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
    failed=1
    echo "the suite ended with status $status after $passed tests" >>"$folder/$name.log"
fi
echo "$passed $failed $skipped $(($(date +%s) - start))" >"$folder/$name.txt"
if [ "$failed" -gt 0 ]; then
    echo "---- $name ----"
    grep -vE '^\[ +(RUN|OK) +\]' "$folder/$name.log" | tail -n 40
    again "$name"
fi
[ -z "$n" ] || printf '[%*d/%d] ' "${#all}" "$n" "$all"
line "$name" "$passed" "$failed" "$skipped" $(($(date +%s) - start)) "$([ -z "$n" ] || [ -z "${NNRT_BEGAN:-}" ] || progress)"
if [ "$skipped" -gt 0 ]; then # what was left out, and why: a table at the end of the suite's output
    sed -n '/^skipped  because of/,$p' "$folder/$name.log" | sed '$d'
    echo "the whole list is in $folder/$name.log"
fi
exit 0
