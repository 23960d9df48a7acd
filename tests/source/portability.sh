#!/bin/sh
# portability.sh [TARGET...]: the tests, built for other machines and run on this one. Installs Debian's cross compilers
#                             and qemu if they are missing (apt-get takes gcc-multilib away for them). Without TARGET
#                             all of them: i686 i686-checked aarch64 armhf s390x wasm wasm-simd mingw tcc cortex-m4.
# portability.sh --quick      as in CI: i686, i686-checked, cortex-m4 and of aarch64 cpu_half, and fewer suites.
#
# i686 is 32-bit x86 with SSE2, i686-checked the same with the address and undefined behavior sanitizers; a PC runs both
# by itself, unless its kernel refuses 32-bit programs: then qemu does, without the address sanitizer. armhf is 32-bit
# ARM with VFP, s390x 64-bit big-endian, wasm WebAssembly in node, wasm-simd the same with -msimd128, mingw 64-bit
# Windows by mingw-w64, run by wine, tcc this machine with a compiler without atomics, cortex-m4 without an operating
# system, on qemu's board mps2-an386: vectors, bits and same-bits only. Suites, as in make test: vectors; bits: the hash
# over all their results, which must equal that of gcc -O2 on this machine; same-bits: the library's own report with
# good and bad options; tests/*/test_*.c, with tests/source/cross/cmocka.h instead of cmocka; onnx-nodes; cli: the command line,
# compared with the one of this machine. Ends with a table (target, suite, passed, failed, skipped, seconds; separated
# by tabs) and "N passed, N failed"; status 0 if nothing failed and every suite passed something. Logs are in
# build/portability. JOBS suites run at a time; SUITES="vectors cli" runs some only (bits comes with vectors).
set -u
cd "$(dirname "$0")/../.." || exit 1
self=tests/source/portability.sh
out=build/portability
all='i686 i686-checked aarch64 armhf s390x wasm wasm-simd mingw tcc cortex-m4'
cmocka='math planner hal builder passes session file onnx_reader onnx_import hostile cpu cpu_chain cpu_convs cpu_each cpu_half cpu_integer cpu_nbits cpu_parts cpu_picks'
suites=${SUITES:-vectors same-bits cli onnx-nodes $cmocka}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
quick=''
# by_qemu TARGET: whether this machine's kernel does not run the target's programs. Answered once: $out/TARGET/by_qemu
# has the answer, for the suites, which are processes of their own.
by_qemu() {
    mkdir -p "$out/$1"
    if [ ! -f "$out/$1/by_qemu" ]; then
        sh tools/need.sh gcc-i686-linux-gnu libc6-dev-i386-cross >&2
        echo 'int main(void) { return 0; }' >"$out/$1/probe.c"
        if i686-linux-gnu-gcc -static -o "$out/$1/probe" "$out/$1/probe.c" && "$out/$1/probe"; then
            echo no
        else
            echo yes
        fi >"$out/$1/by_qemu" 2>/dev/null
        ! grep -q yes "$out/$1/by_qemu" || echo "$1: this kernel runs no 32-bit programs: by qemu, without the address sanitizer" >&2
    fi
    [ "$(cat "$out/$1/by_qemu")" = yes ]
}

# target NAME: sets packages, cc (compiler and what it always needs), board (what it needs for programs), warnings, run, others
# (processors without some instruction sets, on which the suite cpu runs, too), targets_of_cc (options with which it compiles
# the kernels of the device cpu), little (endian), suffix (of a program), lfs, only (suites, if not all can run), level (of
# optimization, if not that of the suite), own (suites of this target alone)
target() {
    packages='' cc='' board='' run='' others='' targets_of_cc='' little=1 suffix='' lfs='' only='' level='' own=''
    warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
    case $1 in
    native) cc='gcc' ;;
    i686)
        packages='gcc-i686-linux-gnu libc6-dev-i386-cross'
        cc='i686-linux-gnu-gcc -static -msse2 -mfpmath=sse' lfs=-D_FILE_OFFSET_BITS=64
        if by_qemu "$1"; then
            packages="$packages qemu-user" run=qemu-i386
            [ -z "$quick" ] || only=' vectors same-bits cli ' # i686-checked runs the others, without the address sanitizer
        fi
        ;;
    i686-checked) # not static, and so with the loader of the cross compiler's library; -Wconversion: see the Makefile. With the
        # sanitizers, gcc optimizes the implementation for 5 minutes.
        level=-O0
        packages='gcc-i686-linux-gnu libc6-dev-i386-cross'
        cc='i686-linux-gnu-gcc -msse2 -mfpmath=sse -g -fsanitize=undefined,float-cast-overflow'
        if by_qemu "$1"; then # the address sanitizer does not start in qemu
            packages="$packages qemu-user" run=qemu-i386
        else
            cc="$cc -fsanitize=address"
        fi
        cc="$cc -fno-sanitize-recover=all -fno-omit-frame-pointer"
        cc="$cc -Wl,--dynamic-linker=/usr/i686-linux-gnu/lib/ld-linux.so.2 -Wl,-rpath,/usr/i686-linux-gnu/lib"
        warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror' lfs=-D_FILE_OFFSET_BITS=64
        ;;
    aarch64)
        packages='gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user'
        cc='aarch64-linux-gnu-gcc -static' run='qemu-aarch64 -cpu max'
        others='cortex-a53 cortex-a72 neoverse-n1' # without I8MM, the first two also without SDOT
        targets_of_cc='-march=armv8.3-a -mcpu=neoverse-v1' # more than the kernels of dotprod assume
        [ -z "$quick" ] || only=' cpu_half '               # all kernels are compiled with warnings
        ;;
    armhf)
        packages='gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user'
        cc='arm-linux-gnueabihf-gcc -static' run=qemu-arm lfs=-D_FILE_OFFSET_BITS=64
        ;;
    s390x) # -std=c99 means excess precision there unless it is told otherwise
        packages='gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user'
        cc='s390x-linux-gnu-gcc -static -fexcess-precision=fast' run=qemu-s390x little=0
        ;;
    wasm) # NODE_PATH: where Debian keeps what emcc needs, for a node that is not Debian's
        packages='emscripten nodejs'
        cc=emcc run=node suffix=.js
        board='-sNODERAWFS=1 -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sEXIT_RUNTIME=1 -sSINGLE_FILE=1'
        export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}"
        ;;
    wasm-simd) # the fast device has a set of its own for these instructions; nothing else knows of them
        target wasm
        cc='emcc -msimd128' only=' cpu cpu_chain cpu_convs cpu_each cpu_half cpu_integer cpu_nbits cpu_parts cpu_picks '
        ;;
    mingw) # vectors, their bits, and suites that use nothing of POSIX; macros of its math.h are no -Wconversion.
        # Not math: sin and cos of msvcrt are those of the x87, wrong for large arguments, and so no reference.
        packages='gcc-mingw-w64-x86-64 wine wine64'
        cc='x86_64-w64-mingw32-gcc -static' board=-lpthread run=wine suffix=.exe
        warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror' only=' vectors planner passes windows_save ' own=windows_save
        export WINEDEBUG=-all WINEPREFIX="$PWD/build/portability/wine"
        ;;
    tcc) # it has no atomics, and so no threads: suites with an implementation of their own
        packages='tcc' cc='tcc' warnings='-Wall -Werror' only=' vectors '
        ;;
    cortex-m4) # files and arguments by semihosting
        packages='gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm'
        cc='arm-none-eabi-gcc -mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=rdimon.specs'
        board='-nostartfiles -T tests/source/cross/cortex_m4.ld -Wl,--no-warn-rwx-segments tests/source/cross/cortex_m4.c'
        run='sh tests/source/cross/cortex_m4.sh' only=' vectors same-bits '
        ;;
    *) return 1 ;;
    esac
}

# Options that prevent identical bits on a target: lines of "options", or "link options" for linker options.
bad_options() {
    echo -ffast-math
    case $1 in
    i686) printf '%s\n' -mfpmath=387 '-mfpmath=sse,387' '-mno-sse2' -funsafe-math-optimizations 'link -ffast-math' ;;
    aarch64) echo 'link -ffast-math' ;;
    s390x) echo -fexcess-precision=standard ;;
    esac
}

# build TARGET FILE.c PROGRAM OPTIONS...: with the target's object of the implementation where FILE.c does not have it, or is
# the command line, and make gave the macros that leave it out (IMPLEMENTED)
build() {
    target=$1 source=$2 program=$3 with=''
    grep -q '^#define NNRT_IMPLEMENTATION' "$source" || with=$out/$target/implementation.o
    shift 3
    # shellcheck disable=SC2086
    if [ "$source" = tools/nnrt.c ] && [ -n "${IMPLEMENTED:-}" ] && [ -f "$out/$target/implementation.o" ]; then
        with=$out/$target/implementation.o
        set -- "$@" $IMPLEMENTED
    fi
    ! grep -q '^#include "inside.h"' "$source" || set -- "$@" -w -fno-inline # see there
    # shellcheck disable=SC2086  # the compiler is several words, the object one or none
    $cc -std=c99 $warnings -DNNRT_CPU=0 "$@" $level -Itests/source/cross -I. -Itests/kit -isystem $out/include -o "$program" "$source" $with $board -lm
}

# ---- suites that are programs or come from one ----

say_same() { # WHAT EXPECTED PROGRAM
    # shellcheck disable=SC2086  # run may be nothing
    got=$($run "$3")
    if [ "$got" = "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: the library says '$got', expected '$2'"
    fi
}

same_bits() { # TARGET FOLDER
    passed=0 failed=0 program=$2/same_bits$suffix
    build "$1" tests/source/cross/same_bits.c "$program" -O2
    say_same "$cc" '1 1' "$program"
    while read -r link options; do
        rm -f "$program"
        # shellcheck disable=SC2086
        if [ "$link" = link ]; then
            $cc -std=c99 -O0 -I. -c -o "$2/same_bits.o" tests/source/cross/same_bits.c
            $cc $options -o "$program" "$2/same_bits.o" $board -lm
            say_same "linked with $options" '1 0' "$program"
        else
            build "$1" tests/source/cross/same_bits.c "$program" -O0 -w $link $options
            say_same "$link $options" '0 0' "$program"
        fi
    done <<END
$(bad_options "$1")
END
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

bits() { # TARGET: what its suite vectors printed
    want=$(cat $out/native/bits) got=$(sed -n 's/^bits //p' "$out/$1/vectors.log" | tr -d '\r') # Windows
    if [ -n "$got" ] && [ "$got" = "$want" ]; then
        echo '1 passed, 0 failed'
    else
        echo "FAIL bits ${got:-none}, expected $want as from gcc -O2 on this machine"
        echo '0 passed, 1 failed'
        return 1
    fi
}

# suite TARGET NAME: builds what it needs and runs it; its output is the suite's log
suite() {
    folder=$out/$1
    # shellcheck disable=SC2086
    case $2 in
    vectors)
        build "$1" tests/ops/test_ops.c "$folder/vectors$suffix" -O2 && $run "$folder/vectors$suffix" tests/ops/vectors/*.vec
        ;;
    bits) bits "$1" ;;
    same-bits) same_bits "$1" "$folder" ;;
    cli)
        build "$1" tools/nnrt.c "$folder/nnrt$suffix" -O1 &&
            sh tests/source/cross/cli.sh $out/native/nnrt "$little" $run "$folder/nnrt$suffix"
        ;;
    onnx-nodes) build "$1" tests/formats/onnx_nodes.c "$folder/onnx_nodes$suffix" -O1 $lfs && $run "$folder/onnx_nodes$suffix" ;;
    cpu)
        build "$1" tests/devices/test_cpu.c "$folder/test_cpu$suffix" -O1 $lfs && $run "$folder/test_cpu$suffix" || return 1
        for option in $targets_of_cc; do
            $cc -std=c99 -w -O0 "$option" -I. -isystem $out/include -c -o "$folder/kernels.o" tools/kernels.c || return 1
        done
        for cpu in $others; do
            ${run% *} "$cpu" "$folder/test_cpu$suffix" || return 1
        done
        ;;
    windows_save) build "$1" tests/source/cross/windows_save.c "$folder/windows_save$suffix" -O1 && $run "$folder/windows_save$suffix" ;;
    *) build "$1" tests/*/"test_$2.c" "$folder/test_$2$suffix" -O1 $lfs && $run "$folder/test_$2$suffix" ;;
    esac
}

# ---- one suite, called below ----

if [ "${1:-}" = --log ]; then # TARGET SUITE
    target "$2" && suite "$2" "$3"
    exit
fi
if [ "${1:-}" = --suite ]; then # TARGET SUITE; the results lie in build/portability/TARGET
    log=$(sh tests/kit/run_suite.sh "$out/$2" "$3" sh $self --log "$2" "$3")
    case $log in ok*) log=$(echo "$log" | head -n 1) ;; esac # not the list of what is skipped
    printf '%-8s %s\n' "$2" "$log"
    exit
fi

# ---- all ----

if [ "${1:-}" = --quick ]; then
    quick=yes
    all='i686 i686-checked aarch64 cortex-m4' suites='vectors same-bits cli hal builder file corners onnx_reader onnx_import cpu cpu_half'
    shift
fi
targets=${*:-$all}
rm -rf $out
for t in $targets; do
    target "$t" || {
        echo "$self: there is no target $t; there are: $all" >&2
        exit 2
    }
done
mkdir -p $out/native $out/include
sh tools/need.sh libc6-dev libstb-dev libonnx-testdata gcc python3 || exit 1
# shellcheck disable=SC2086  # CPPFLAGS are several words
stb=$(echo '#include <stb/stb_ds.h>' | gcc ${CPPFLAGS:-} -M -x c - | tr ' ' '\n' | sed -n 's|/stb_ds\.h$||p')
ln -s "$stb" $out/include/stb # /usr/include as a whole would hide the target's own headers

target native
build native tests/ops/test_ops.c $out/native/test_ops -O2 && build native tools/nnrt.c $out/native/nnrt -O0 || exit 1
$out/native/test_ops tests/ops/vectors/*.vec | sed -n 's/^bits //p' >$out/native/bits

table=$out/table.txt
printf 'target\tsuite\tpassed\tfailed\tskipped\tseconds\n' >$table
passed=0 failed=0
for t in $targets; do
    target "$t"
    mkdir -p "$out/$t"
    # shellcheck disable=SC2086
    can='' more='' whole=$([ -n "$only" ] || echo yes) # whole: an object of the implementation is wanted
    for s in $suites $own; do
        case ${only:- $s } in *" $s "*) can="$can $s" ;; *) continue ;; esac
        [ ! -f "$(echo tests/*/"test_$s.c")" ] || grep -q '^#define NNRT_IMPLEMENTATION' tests/*/"test_$s.c" || whole=yes
    done
    # shellcheck disable=SC2086
    sh tools/need.sh $packages &&
        { [ -z "$whole" ] || $cc -std=c99 $warnings -O1 $level $lfs -I. -isystem $out/include -c -o "$out/$t/implementation.o" tests/kit/nnrt.c; } &&
        printf '%s\n' $can | xargs -r -P "$jobs" -n 1 sh $self --suite "$t"
    case $can in *' vectors'*) more=bits && sh $self --suite "$t" bits ;; esac
    for s in $can $more; do
        p=0 f=1 k=0 seconds=0
        [ -f "$out/$t/$s.txt" ] && read -r p f k seconds <"$out/$t/$s.txt"
        printf '%s\t%s\t%d\t%d\t%d\t%d\n' "$t" "$s" "$p" "$f" "$k" "$seconds" >>$table
        passed=$((passed + p)) failed=$((failed + f))
    done
done
echo
cat $table
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
