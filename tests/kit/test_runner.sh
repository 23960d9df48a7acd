#!/bin/sh
# The runner of the suites must not call a failure a success: suites that fail in every way, and suites that make cannot
# build. No variable belongs to two files of make. The search for packages must try the sanitizers, and the script that runs the tests in a bare root must report
# if it cannot.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
export NNRT_SUITE_SECONDS=3
unset NNRT_SUITES NNRT_BEGAN
root=$(cd "$here/../.." && pwd)

# check NAME EXPECTED COMMAND...: the suite's counts must be EXPECTED ("passed failed skipped")
check() {
    what=$1 expected=$2
    shift 2
    sh "$here/run_suite.sh" "$folder" suite "$@" >/dev/null 2>&1
    read -r p f s _ <"$folder/suite.txt"
    if [ "$p $f $s" = "$expected" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: counts $p $f $s, expected $expected"
    fi
}

check 'all pass' '3 0 0' echo '3 passed, 0 failed'
check 'some skipped' '3 0 2' echo '3 passed, 0 failed, 2 skipped'
check 'with a remark' '3 1 20' echo '3 passed (2 of them twice), 1 failed, 20 skipped'
check 'one fails' '2 1 0' sh -c 'echo "2 passed, 1 failed"; exit 1'
check 'fails with status 0' '2 1 0' echo '2 passed, 1 failed'
check 'counts none failed, ends with status 1' '2 1 0' sh -c 'echo "2 passed, 0 failed"; exit 1'
check 'is killed' '0 1 0' sh -c 'kill -9 $$'
check 'takes too long' '1 1 0' sh -c 'echo "1 passed, 0 failed"; exec sleep 30'
check 'runs nothing' '0 1 0' echo '0 passed, 0 failed'
check 'says nothing' '0 1 0' true
check 'is not there' '0 1 0' ./no-such-program
check 'cmocka passes' '5 0 0' echo '[  PASSED  ] 5 test(s).'
check 'cmocka fails' '4 1 0' printf '%s\n' '[  PASSED  ] 4 test(s).' '[  FAILED  ] 1 test(s), listed below:'
check 'cmocka skips' '4 0 1' printf '%s\n' '[  PASSED  ] 4 test(s).' '[  SKIPPED ] 1 test(s), listed below:'

# says NAME EXPECTED VARIABLE=VALUE COMMAND...: the first line that is printed about a suite
says() {
    what=$1 expected=$2 set=$3
    shift 3
    got=$(env "$set" sh "$here/run_suite.sh" "$folder/numbered" suite "$@" | grep -E '^(\[|ok|FAIL)' | sed 's: *(.*::' | tr -s ' ')
    if [ "$got" = "$expected" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: '$got', expected '$expected'"
    fi
}

says 'no number' 'ok suite 3 passed, 0 failed' NNRT_SUITES= echo '3 passed, 0 failed'
says 'the first of eleven' '[ 1/11] ok suite 3 passed, 0 failed' NNRT_SUITES='a b c d e f g h i j suite' echo '3 passed, 0 failed'
says 'the second of eleven' '[ 2/11] FAIL suite 2 passed, 1 failed' NNRT_SUITES='a b c d e f g h i j suite' echo '2 passed, 1 failed'

# The estimate, 100 s after the beginning: `suite` has ended, which takes 30 s, and `other` has not, which takes 60. The object
# takes 30 s: it is still to be built, is built or was there before.
printf '# NAME SECONDS\nsuite 30\nother 60\nthird 1000\n%s 30 all\n%s 500 third\n' "$folder/object" "$folder/another" >"$folder/seconds"
# estimates NAME EXPECTED
estimates() {
    rm -rf "$folder/estimated"
    got=$(NNRT_SECONDS=$folder/seconds NNRT_SUITES='suite other' NNRT_BEGAN=$(($(date +%s) - 100)) \
        sh "$here/run_suite.sh" "$folder/estimated" suite echo '3 passed, 0 failed')
    if echo "$got" | grep -qE "; 1:4[01] so far$2\)\$"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: '$got', expected '$2'"
    fi
}
estimates 'an object to be built' ', about 5:0[0-3] left' # 90 of 120 s are left, three times what is done
: >"$folder/object"
estimates 'an object that is built' ', about 1:4[01] left' # 60 of 120
touch -d '2001-01-01' "$folder/object"
estimates 'an object that was there' ', about 3:2[0-2] left' # 60 of 90
printf 'other 600\n' >"$folder/seconds"
estimates 'too early to say' ''

# The seconds of a suite: processor time of its processes, and theirs.
sh "$here/run_suite.sh" "$folder/timed" busy timeout 60 sh -c 'i=0; while [ $i -lt 3000000 ]; do i=$((i + 1)); done' >"$folder/log"
printf '0m0.010000s 0m0.000000s\n1m12.300000s 0m3.300000s\n' >"$folder/timed/long.times"
printf '0m0.010000s 0m0.000000s\n0m1.000000s 0m0.400000s\n' >"$folder/timed/short.times"
got=$(sh "$here/run_suite.sh" --seconds "$folder/timed" | grep -v -e '^#' -e / | grep -v busy)
spent=$(sed -n '2s/[ms]/ /gp' "$folder/timed/busy.times" | awk '{ print ($2 + $4 > 0.2) }')
if [ "$got" = 'long 76' ] && [ "$spent" = 1 ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL seconds: '$got', expected 'long 76'; busy: $(cat "$folder/timed/busy.times")"
fi

# summary TITLE STATUS LAST NAME...
summary() {
    what=$1 status=$2 last=$3
    shift 3
    out=$(sh "$here/run_suite.sh" --summary "$folder" "$@")
    got=$?
    if [ "$got" -eq "$status" ] && [ "$(echo "$out" | tail -n 1)" = "$last" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: status $got, last line '$(echo "$out" | tail -n 1)', expected $status and '$last'"
    fi
}

echo '3 0 0 1' >"$folder/good.txt"
echo '2 1 0 1' >"$folder/bad.txt"
summary 'a good suite' 0 '3 passed, 0 failed' good
summary 'a bad one' 1 '5 passed, 1 failed' good bad
summary 'one that was not built' 1 '3 passed, 1 failed' good missing
summary 'nothing' 1 '0 passed, 0 failed'

# Suites that make cannot build: the line of each has the first error of its failed dependency.
mkdir -p "$folder/made/results" "$folder/made/out"
cat >"$folder/made/Makefile" <<'END'
all: suite-good suite-broken suite-also suite-linked suite-command
suite-good:
	@echo 'ran before: error: none of the compiler'
	@echo '[1/5] ok   good'
suite-broken suite-also: out/part.o
out/part.o: part.c
	@cc -Werror -c -o $@ $<
suite-linked: out/linked
out/linked: linked.c
	@cc -o $@ $<
suite-command:
	@no-such-command-here
.PHONY: suite-good suite-broken suite-also suite-linked suite-command
END
printf 'int part(void)\n{\n    return missing_name;\n}\n' >"$folder/made/part.c"
printf 'int elsewhere(void);\nint main(void)\n{\n    return elsewhere();\n}\n' >"$folder/made/linked.c"
echo '1 0 0 1' >"$folder/made/results/good.txt"
for order in '' '-O -j2'; do
    # shellcheck disable=SC2086  # several options; with MAKELEVEL make prints make[3]:
    (cd "$folder/made" && MAKELEVEL=${order:+3} make --no-print-directory -k $order all nonsense suite-unknown >results/make.log 2>&1
        sh "$here/run_suite.sh" --summary results good broken also linked command unknown >summary.log)
    # built NAME EXPECTED: its line in the summary
    built() {
        if grep "^[A-Za-z]* *$1 " "$folder/made/summary.log" | grep -q "$2"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL not built, '$order', $1: '$(grep " $1 " "$folder/made/summary.log")', expected '$2'"
        fi
    }
    built good '1 passed, 0 failed'
    built broken 'was not built: out/part.o: part\.c:3:.* error: .*missing_name'
    built also 'was not built: out/part.o: part\.c:3:.* error: .*missing_name'
    built linked 'was not built: out/linked: .*undefined reference to .elsewhere'
    built command 'was not built: suite-command: .*no-such-command-here'
    built unknown 'was not built: there is no such suite'
done

# need.sh: a clang without its sanitizers. apt-get and id are scripts, too: requests are recorded, and nothing is installed.
mkdir "$folder/bin"
cat >"$folder/bin/clang" <<'END'
#!/bin/sh
case $* in
-dumpversion) echo 17.0.6 ;;
--version) echo 'Some clang version 17.0.6' ;;
*-fsanitize*)
    [ -e "$FOLDER/installed" ] || { echo '/usr/bin/ld: cannot find libclang_rt.asan-x86_64.a'; exit 1; }
    while [ "$1" != -o ]; do shift; done
    printf '#!/bin/sh\n' >"$2"
    chmod +x "$2"
    ;;
esac
END
cat >"$folder/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$FOLDER/asked"
[ ! -e "$FOLDER/gives" ] || echo yes >"$FOLDER/installed"
END
printf '#!/bin/sh\necho "$USER_ID"\n' >"$folder/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/sudo"
chmod +x "$folder"/bin/*
# needs NAME USER_ID STATUS FILE EXPECTED: need.sh for the sanitizers of clang ends with STATUS, and then FILE has EXPECTED
needs() {
    FOLDER=$folder USER_ID=$2 SANITIZE='-fsanitize=address' PATH=$folder/bin:$PATH sh "$root/tools/need.sh" libclang-rt-dev \
        >"$folder/need.log" 2>&1 </dev/null
    status=$?
    if [ $status -eq "$3" ] && grep -q -e "$5" "$folder/$4"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: status $status, expected $3; no '$5' in"
        head -n 20 "$folder/$4"
    fi
}
needs 'an ordinary user reads the name of the package' 1000 1 need.log 'please run: apt-get install libclang-rt-17-dev'
needs 'root installs the package' 0 1 asked 'install .*libclang-rt-17-dev'
needs 'the error of the linker is shown' 0 1 need.log 'cannot find libclang_rt.asan'
: >"$folder/gives"
needs 'installed' 0 0 need.log 'installing libclang-rt-17-dev'
needs 'there already' 1000 0 installed yes

# bare.sh where no root can be built: the tests run here, and the last line says so.
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/unshare"
printf '#!/bin/sh\necho "$RESULT"\nexit $STATUS\n' >"$folder/bin/make"
chmod +x "$folder"/bin/*
# bare NAME USER_ID RESULT STATUS EXPECTED: the status and the last two lines
bare() {
    got=$(USER_ID=$2 RESULT=$3 STATUS=$4 PATH=$folder/bin:$PATH sh "$root/tests/kit/bare.sh" one 2>&1 </dev/null)
    got="$? $(echo "$got" | tail -n 2 | tr '\n' '|')"
    if [ "$got" = "$5" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL bare, $1: '$got', expected '$5'"
    fi
}
if command -v apt-config >/dev/null 2>&1; then
    bare 'no mounts' 0 '3 passed, 0 failed' 0 '3 3 passed, 0 failed|NOT BARE: this machine permits no mounts|'
    bare 'no mounts, and a test fails' 0 '2 passed, 1 failed' 1 '1 2 passed, 1 failed|NOT BARE: this machine permits no mounts|'
    bare 'not root' 1000 '3 passed, 0 failed' 0 '3 3 passed, 0 failed|NOT BARE: only root may build one|'
fi

# The sanitizers: gcc makes the object of the library, clang the programs (the Makefile says why). A fault in either ends the
# program, with these messages.
cat >"$folder/part.c" <<'END'
#include <stdlib.h>
int part(int kind, int n, double real);
int part(int kind, int n, double real)
{
    static int table[4];
    int local[4] = {0}, *block = (int *)calloc(4, sizeof(int)), *volatile kept = block, result = 0;
    volatile int at = n;
    switch (kind) {
    case 1: result = kept[at]; break;
    case 2: kept = local, result = kept[at]; break;
    case 3: kept = table, result = kept[at]; break;
    case 4: free(block), result = kept[0], block = NULL; break;
    case 5: result = 2147483647 + at; break;
    case 6: result = 1 << (at + 28); break;
    case 7: result = (int)(real * 1e30); break;
    case 8: block = NULL, kept = NULL; break;
    }
    free(block);
    return result & 1;
}
END
cat >"$folder/main.c" <<'END'
#include <stdlib.h>
#ifdef HERE
#include "part.c"
#else
int part(int kind, int n, double real);
#endif
int main(int argc, char **argv) { return argc < 2 || part(atoi(argv[1]), 4, 1) > 1; }
END
checks='-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer'
# shellcheck disable=SC2086  # several words
gcc -std=c99 $checks -O1 -g1 -c -o "$folder/part.o" "$folder/part.c" &&
    clang -std=c99 $checks -O0 -g1 -o "$folder/apart" "$folder/main.c" "$folder/part.o" &&
    clang -std=c99 $checks -O0 -g1 -DHERE -o "$folder/here" "$folder/main.c"
kind=0
for words in '' heap-buffer-overflow stack-buffer-overflow global-buffer-overflow heap-use-after-free 'signed integer overflow' \
    'shift exponent' 'outside the range of representable' 'detected memory leaks'; do
    for program in apart here; do
        "$folder/$program" $kind >"$folder/log" 2>&1
        status=$?
        if if [ -z "$words" ]; then [ $status -eq 0 ]; else [ $status -ne 0 ] && grep -q "$words" "$folder/log"; fi; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL sanitizers, $program, fault $kind: status $status, expected '$words'"
            head -n 3 "$folder/log"
        fi
    done
    kind=$((kind + 1))
done

# Suites of changed files: by includes, by name, by the folder of data; suites that test something else are not among them.
# depends FILE SUITES OTHERS
depends() {
    got=$("${PYTHON:-python3}" -B -c "import sys; sys.path.insert(0, '$here'); import changed
suites = changed.rules()
found = changed.depends('$1', suites, {name: changed.closure(files) for name, files in suites.items()})
found = set(suites) if found is changed.EVERY else found
print(set('$2'.split()) <= found and not set('$3'.split()) & found)")
    if [ "$got" = True ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL changed.py, $1: expected $2, and not $3"
    fi
}
depends core/nnrt_plan.h 'draft session emit-nodes docs' ''
depends devices/nnrt_cpu.h 'cpu cpu_convs cpu-sets default' 'tflite planner'
depends formats/nnrt_tflite.h 'tflite tflite_reader' 'cpu session'
depends formats/nnrt_gguf.h 'gguf gguf_reader' 'cpu session'
depends formats/nnrt_safetensors.h safetensors 'cpu session gguf'
depends tools/single.c dist 'session tflite'
depends tests/formats/tflite.txt tflite 'session cpu'
depends tests/kit/kit.h 'session runner' 'tflite docs'

# Many commands in one process: a status, one that ends the process, a file that stays open, and leaks at the end are told apart, by
# commands.sh and by commands.py.
cat >"$folder/commands" <<'END'
#!/usr/bin/env python3
# As commands.c; the command is its own answer: a status, "open", or "dies", which ends the process. The end fails after "leak".
import sys
leaks = False
for path in sys.argv[1:]:
    open(path, 'w').close()
while (words := int(sys.stdin.buffer.readline() or 0)) > 0:
    said = b''
    while said.count(b'\0') < words:
        said += sys.stdin.buffer.read(1)
    word = said.split(b'\0')[1].decode()
    if word == 'dies':
        sys.exit(9)
    leaks = leaks or word == 'leak'
    print(0 if word == 'leak' else word, flush=True)
sys.exit(leaks)
END
chmod +x "$folder/commands"
# answers RESULT WORD...: the answers to commands in a process of their own, and "end N" if its end fails
answers() {
    want=$1
    shift
    got=$(
        folder=$(mktemp -d) failed=0
        verdict() { failed=$((failed + ($2 != 0))); }
        . "$here/commands.sh"
        for word in "$@"; do
            ask "$commands" "$word"
            printf '%s ' "$got"
        done
        end_commands
        [ "$failed" -eq 0 ] || printf 'end %s' "$failed"
        rm -r "$folder"
    )
    judge "commands.sh, $*" "$want" "${got% }"
    got=$("${PYTHON:-python3}" -B -c "import sys; sys.path.insert(0, '$here'); import commands
for word in sys.argv[2:]:
    try:
        print(commands.run(sys.argv[1], word, text=True).returncode, end=' ')
    except RuntimeError as fault:
        print('open' if 'leaves a file open' in str(fault) else 'none', end=' ')" "$commands" "$@") || got="${got}end 1"
    got=${got% }
    judge "commands.py, $*" "$(echo "$want" | sed 's/none: it ended the process/none/')" "$got"
}
judge() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: '$3', expected '$2'"
    fi
}
commands=$folder/commands
answers '0 1 0' 0 1 0
answers '0 0 end 1' leak 0
answers '0 open' 0 open
answers '0 none: it ended the process 1' 0 dies 1

# All files are parts of one Makefile: the second definition of a variable would change the first file, or have no effect.
find "$root" -name build -prune -o \( -name Makefile -o -name "*.mk" \) -print | while read -r file; do
    sed -nE 's/^([A-Za-z_]+) *([:?+]?=).*/\1/p' "$file" | sort -u
done | sort | uniq -d >"$folder/twice"
# Within a file, a default (?=) behind another definition.
find "$root" -name build -prune -o \( -name Makefile -o -name "*.mk" \) -exec awk '
    FNR == 1 { delete set }
    match($0, /^[A-Za-z_]+ *[:?+]?=/) {
        name = $1
        sub(/[:?+]?=.*/, "", name)
        if ($0 ~ /^[A-Za-z_]+ *\?=/ && name in set)
            print name
        set[name] = 1
    }' {} + >>"$folder/twice"
# make test runs the short forms of suites, make test LONG=1 the long ones.
for form in ' 40' 'LONG=1 400'; do
    # shellcheck disable=SC2086  # a variable or none
    if (cd "$root" && unset LONG && MAKEFLAGS='' make -n suite-splits ${form% *} 2>/dev/null) | grep -q "splits ${form#* } "; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL make suite-splits '${form% *}' does not draw ${form#* } graphs"
    fi
done
if [ -s "$folder/twice" ]; then
    failed=$((failed + 1))
    echo "FAIL variables that two files of make define: $(tr '\n' ' ' <"$folder/twice")"
else
    passed=$((passed + 1))
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
