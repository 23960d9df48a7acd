#!/bin/sh
# need.sh PACKAGE... : makes sure that what these Debian packages give is there, however it came. Installs with apt-get
# only what is missing, and only as root or through sudo; says plainly what to do where it may not. CC, PYTHON and SANITIZE,
# the sanitizers of the tests as compiler options, are taken from the environment.
#
# Two names stand for packages that have the compiler's version in their name: libgcc-dev, the sanitizers of CC, and
# libclang-rt-dev, those of clang.
set -u
CC=${CC:-cc}
PYTHON=${PYTHON:-/usr/bin/python3}
SANITIZE=${SANITIZE:--fsanitize=address,undefined}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

header() {
    # shellcheck disable=SC2086  # CPPFLAGS are several words
    printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" |
        $CC ${CPPFLAGS:-} -E - >/dev/null 2>&1
}

# runs COMPILER: does a program with the sanitizers link and run? It is linked as the tests are: an object by CC, one by COMPILER.
runs() {
    printf 'int part(void);\nint main(void)\n{\n    return part();\n}\n' >"$scratch/main.c"
    printf '#include <stdlib.h>\nint part(void);\nint part(void)\n{\n    return atoi("0");\n}\n' >"$scratch/part.c"
    # shellcheck disable=SC2086  # several words
    { $CC $SANITIZE -c -o "$scratch/part.o" "$scratch/part.c" &&
        $1 $SANITIZE -o "$scratch/main" "$scratch/main.c" "$scratch/part.o" && "$scratch/main"; } >"$scratch/log" 2>&1
}

# have PACKAGE: is what it gives usable here?
have() {
    case $1 in
    gcc | g++ | clang | make | npm | git | cmake | cargo | meson) command -v "$1" >/dev/null 2>&1 ;;
    pkgconf) command -v pkg-config >/dev/null 2>&1 ;;
    nodejs) command -v node >/dev/null 2>&1 ;;
    binutils) command -v nm >/dev/null 2>&1 ;;
    libc6-dev) header stdio.h ;;
    libgcc-dev) runs "$CC" ;;
    libclang-rt-dev) runs clang ;;
    libstb-dev) header stb/stb_ds.h && header stb/stb_image.h ;;
    libjpeg-dev) header jpeglib.h ;;
    libcmocka-dev) header cmocka.h ;;
    libonnx-testdata) [ -d "${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}" ] ;;
    postgresql-server-dev-all) ls /usr/include/postgresql/*/server/postgres.h >/dev/null 2>&1 ;;
    python3) "$PYTHON" -c '' >/dev/null 2>&1 ;;
    python3-dev) "$PYTHON" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ;;
    python3-*) # a folder of that name that another package has filled has no __file__
        "$PYTHON" -c "import $(echo "${1#python3-}" | tr - _) as module; module.__file__ + ''" >/dev/null 2>&1 ;;
    *) dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed ;;
    esac
}

list_missing() {
    for package in "$@"; do
        have "$package" || printf ' %s' "$package"
    done
}

# package NAME: what apt-get knows it by
package() {
    case $1 in
    libgcc-dev) compiler=$CC ;;
    libclang-rt-dev) compiler=clang ;;
    *) compiler='' ;;
    esac
    version=''
    # shellcheck disable=SC2086  # CC is several words
    [ -z "$compiler" ] || version=$($compiler -dumpversion 2>/dev/null | cut -d . -f 1)
    if [ -z "$version" ]; then
        echo "$1"
    elif $compiler --version | grep -q clang; then
        echo "libclang-rt-$version-dev"
    else
        echo "libgcc-$version-dev"
    fi
}

packages() {
    for name in "$@"; do
        printf ' %s' "$(package "$name")"
    done
}

missing=$(list_missing "$@")
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "nnrt: missing here, by their names in Debian:$missing" >&2
    echo "nnrt: there is no apt-get to install them with; please install them in your system's way" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root='env'
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root='sudo env'
else
    # shellcheck disable=SC2086  # words are meant to be split
    missing=$(packages $missing)
    echo "nnrt: missing packages:$missing" >&2
    echo "nnrt: not root, and sudo is not there or asks for a password; please run: apt-get install$missing" >&2
    exit 1
fi

get="$as_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300"
log=$scratch/apt
# Which package has clang's sanitizers is known when clang is there: a second time for what then is missing.
for again in yes no; do
    now=$missing
    command -v clang >/dev/null 2>&1 || [ "$missing" = ' libclang-rt-dev' ] || now=$(echo "$missing " | sed 's/ libclang-rt-dev / /')
    # shellcheck disable=SC2086
    now=$(packages $now)
    echo "nnrt: installing$now" >&2
    # shellcheck disable=SC2086
    if ! $get install -y --no-install-recommends $now >"$log" 2>&1; then
        $get update >>"$log" 2>&1 && $get install -y --no-install-recommends $now >>"$log" 2>&1
    fi
    # shellcheck disable=SC2086
    missing=$(list_missing $missing)
    [ -n "$missing" ] || exit 0
    [ "$missing" = ' libclang-rt-dev' ] && [ $again = yes ] || break
done
tail -n 20 "$log" >&2
for name in $missing; do
    case $name in
    libgcc-dev | libclang-rt-dev)
        have "$name"
        grep -Ei 'error|cannot find' "$scratch/log" | head -n 1 >&2
        ;;
    esac
done
# shellcheck disable=SC2086
echo "nnrt: could not install$(packages $missing) with apt-get" >&2
exit 1
