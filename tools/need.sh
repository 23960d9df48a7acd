#!/bin/sh
# need.sh PACKAGE... : makes sure that what these Debian packages give is there, however it came. Installs with apt-get
# only what is missing, and only as root or through sudo; says plainly what to do where it may not. CC and PYTHON are
# taken from the environment.
set -u
CC=${CC:-cc}
PYTHON=${PYTHON:-/usr/bin/python3}

header() {
    # shellcheck disable=SC2086  # CPPFLAGS are several words
    printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\n' "$1" |
        $CC ${CPPFLAGS:-} -E - >/dev/null 2>&1
}

# have PACKAGE: is what it gives usable here?
have() {
    case $1 in
    gcc | g++ | clang | make | npm | git | cmake) command -v "$1" >/dev/null 2>&1 ;;
    pkgconf) command -v pkg-config >/dev/null 2>&1 ;;
    nodejs) command -v node >/dev/null 2>&1 ;;
    binutils) command -v nm >/dev/null 2>&1 ;;
    libc6-dev) header stdio.h ;;
    libstb-dev) header stb/stb_ds.h && header stb/stb_image.h ;;
    libcmocka-dev) header cmocka.h ;;
    libonnx-testdata) [ -d "${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}" ] ;;
    python3) "$PYTHON" -c '' >/dev/null 2>&1 ;;
    python3-*) # a folder of that name that another package has filled has no __file__
        "$PYTHON" -c "import ${1#python3-} as module; module.__file__ + ''" >/dev/null 2>&1 ;;
    *) dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed ;;
    esac
}

list_missing() {
    for package in "$@"; do
        have "$package" || printf ' %s' "$package"
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
    echo "nnrt: missing packages:$missing" >&2
    echo "nnrt: not root, and sudo is not there or asks for a password; please run: apt-get install$missing" >&2
    exit 1
fi

echo "nnrt: installing$missing" >&2
get="$as_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # words are meant to be split
if ! $get install -y --no-install-recommends $missing >"$log" 2>&1; then
    $get update >>"$log" 2>&1 && $get install -y --no-install-recommends $missing >>"$log" 2>&1
fi
# shellcheck disable=SC2086
missing=$(list_missing $missing)
if [ -n "$missing" ]; then
    tail -n 20 "$log" >&2
    echo "nnrt: could not install$missing with apt-get" >&2
    exit 1
fi
