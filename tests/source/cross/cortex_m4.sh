#!/bin/sh
# cortex_m4.sh PROGRAM [ARGUMENT...]: runs a program that was linked with cortex_m4.ld in qemu.
program=$1
args=arg=$1
shift
for word in "$@"; do
    args=$args,arg=$word
done
exec qemu-system-arm -M mps2-an386 -display none -monitor none -serial none \
    -semihosting-config "enable=on,target=native,$args" -kernel "$program"
