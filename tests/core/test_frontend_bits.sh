#!/bin/sh
# test_frontend_bits.sh NNRT: features of nnrt_frontend.h have the same bits from each compiler, at each level of optimization,
# on this machine, on Cortex-M0+, Cortex-M4 and RV32 in qemu, and on s390x (big-endian), where compiler and emulator are
# installed; and the same bits from the tables of nnrt emit-frontend as from the tables that nnrt_frontend_init computes. An
# emitted int16 front end links no floating-point arithmetic. Wrong descriptions are refused. Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 1
nnrt=$1
. tests/kit/verdict.sh
want=
kws=rate=16000,window=640,hop=320,fft=1024,mels=40,lower=20,upper=4000,dct=10,output=int8,scale=0.5,zeroPoint=83

skip() {
    echo "skipped  $1: $2"
}

# line NAME FILE: the value of NAME=VALUE
line() {
    sed -n "s/^$1=//p" "$2"
}

# same NAME RUN COMPILER...: the hashes of tests/core/frontend_case.c, compiled so and run by RUN, equal the hashes of the first call
same() {
    title=$1 run=$2
    shift 2
    try "$title: compiles" "$@" -w -I. -o "$folder/case" tests/core/frontend_case.c -lm
    # shellcheck disable=SC2086  # run is several words, or none
    $run "$folder/case" >"$folder/got" 2>&1 </dev/null
    [ -n "$want" ] || want=$(line bits "$folder/got") && kws_bits=${kws_bits:-$(line kws "$folder/got")}
    [ -n "$want" ] && [ "$(line bits "$folder/got")" = "$want" ]
    verdict "$title: the bits are not $want" $? "$folder/got"
}

# emitted NAME RUN COMPILER...: the same for the front end of nnrt emit-frontend
emitted() {
    title=$1 run=$2
    shift 2
    try "$title, emitted: compiles" "$@" -w -DFRONTEND_EMITTED -I. "-I$folder" -o "$folder/case" tests/core/frontend_case.c -lm
    # shellcheck disable=SC2086
    $run "$folder/case" >"$folder/got" 2>&1 </dev/null
    [ -n "$kws_bits" ] && [ "$(line bits "$folder/got")" = "$kws_bits" ]
    verdict "$title, emitted: the bits are not $kws_bits" $? "$folder/got"
}

holds 'emit-frontend' "$nnrt" emit-frontend $kws -o "$folder/kws_frontend.h" --name kws

# ---- this machine ----

same 'gcc -O2' '' gcc -std=c99 -O2
emitted 'gcc' '' gcc -std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
same 'clang -O0, checked' '' clang -std=c99 -O0 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
same 'gcc -O3, contraction' '' gcc -std=gnu11 -O3 -march=native -ffp-contract=fast
same 'clang -O3' '' clang -std=gnu11 -O3 -march=native
same 'g++' '' g++ -x c++ -std=c++17 -Os
[ -z "${NNRT_LONG:-}" ] || emitted 'clang++' '' clang++ -x c++ -std=c++17 -O1

# It must be able to fail: a step that rounds in another way has other bits.
mkdir -p "$folder/other/core"
sed 's/nnrti_frontend_down(re + t->half/nnrti_frontend_down(re/' core/nnrt_frontend.h |
    sed 's:"../nnrt_ops.h":"nnrt_ops.h":' >"$folder/other/core/nnrt_frontend.h"
if sed 's:"../nnrt_ops.h":"nnrt_ops.h":' core/nnrt_frontend.h | cmp -s - "$folder/other/core/nnrt_frontend.h"; then
    fail 'nnrt_frontend.h has no place for the change that must be seen: choose another'
else
    try 'the changed header' tcc -std=c99 -w "-I$folder/other" -I. -o "$folder/case" tests/core/frontend_case.c -lm
    "$folder/case" >"$folder/got"
    [ "$(line bits "$folder/got")" != "$want" ]
    verdict 'a changed step is not seen' $?
fi

# ---- other processors ----

# board NAME COMPILER MACHINE OPTIONS...
board() {
    name=$1 compiler=$2 machine=$3 from=examples/firmware
    shift 3
    emulator=${machine%% *}
    if ! command -v "$compiler" >/dev/null 2>&1 || ! command -v "$emulator" >/dev/null 2>&1; then
        skip "$name" "$compiler or $emulator is not installed"
        return
    fi
    set -- "$compiler" "$@" -std=c99 -Os -ffreestanding -ffunction-sections -fdata-sections -DFRONTEND_BOARD -DNNRT_MAX_RANK=4 \
        -I$from $from/start.c -nostartfiles -Wl,--gc-sections -Wl,--no-warn-rwx-segments
    emulate="$machine -nographic -icount shift=0 -semihosting-config enable=on,target=native -kernel"
    same "$name" "$emulate" "$@"
    emitted "$name" "$emulate" "$@"
    echo "$name: $(($(echo "0x$(line instructions "$folder/got")"))) instructions per frame of 10 MFCC"
    floats=$("${compiler%gcc}nm" "$folder/case" | awk '{ print $NF }' |
        grep -E '^__(aeabi_(c?[fd].*|[iu]2[fd]|u?l2[fd])|(add|sub|mul|div|float.*|fix.*)[sd]f.*|float.*[sd]f)$' | tr '\n' ' ')
    [ -z "$floats" ]
    verdict "$name, emitted: links floating-point arithmetic: $floats" $?
}

arm='-mthumb --specs=nano.specs -T examples/firmware/arm.ld'
# shellcheck disable=SC2086  # options are several words
board 'Cortex-M0+' arm-none-eabi-gcc 'qemu-system-arm -M mps2-an385' $arm -mcpu=cortex-m0plus
# shellcheck disable=SC2086
board 'Cortex-M4' arm-none-eabi-gcc 'qemu-system-arm -M mps2-an386' $arm -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16
board 'RV32IMC' riscv64-unknown-elf-gcc 'qemu-system-riscv32 -M virt -bios none' -mabi=ilp32 -march=rv32imc \
    --specs=picolibc.specs -T examples/firmware/riscv.ld -mcmodel=medany
if command -v s390x-linux-gnu-gcc >/dev/null 2>&1 && command -v qemu-s390x >/dev/null 2>&1; then
    same 's390x, big-endian' qemu-s390x s390x-linux-gnu-gcc -static -std=c99 -O1 -fexcess-precision=fast
    emitted 's390x, big-endian' qemu-s390x s390x-linux-gnu-gcc -static -std=c99 -O1
else
    skip 's390x, big-endian' 's390x-linux-gnu-gcc or qemu-s390x is not installed'
fi

# ---- descriptions that emit-frontend refuses, and other forms ----

# refused PATTERN DESCRIPTION [OPTION...]
refused() {
    pattern=$1
    shift
    "$nnrt" emit-frontend "$@" -o "$folder/refused.h" >"$folder/log" 2>&1
    [ $? -eq 2 ] && grep -q "$pattern" "$folder/log" && [ ! -e "$folder/refused.h" ]
    verdict "emit-frontend $*: is not refused with '$pattern'" $? "$folder/log"
}

refused "'colour=red' is no MEMBER=VALUE" "$kws,colour=red"
refused "'rate' is no MEMBER=VALUE" rate
refused 'melScale does not take .mels.; it is one of: htk slaney' "$kws,melScale=mels"
refused 'output does not take .int64.' "$kws,output=int64"
refused 'rate does not take .1.5.' "$kws,rate=1.5"
refused 'dct does not take .99999999999.' "$kws,dct=99999999999"
refused 'floor does not take .1e99.' "$kws,floor=1e99"
refused 'window is 2000' "$kws,window=2000"
refused 'fft is 7.* must be 8' "$kws,fft=7"
refused 'output is float32, and must be int8, int16' "$kws,output=float32"
refused 'name 1x: expected a C identifier' "$kws" --name 1x
for more in arithmetic=float32,melArea=yes spectrum=magnitude,windowKind=rectangular,dct=0 mels=0,dct=0,log=db; do
    holds "emit-frontend with $more" "$nnrt" emit-frontend "$kws,$more" -o "$folder/more.h" --name more
    printf '%s\n' '#define NNRT_IMPLEMENTATION' '#include "core/nnrt_frontend.h"' '#include "more.h"' \
        'int main(void) { return more_frontend()->hop - 320; }' >"$folder/more.c"
    try "emitted with $more" tcc -std=c99 -Wall -Werror -I. "-I$folder" -o "$folder/more" "$folder/more.c" -lm
    holds "emitted with $more: run" "$folder/more"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
