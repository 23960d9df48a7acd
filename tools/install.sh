#!/bin/sh
# install.sh install [FOLDER] | uninstall: puts nnrt below $DESTDIR$PREFIX, or takes it away again. The shared libraries come
# from FOLDER, build, where they are there; SOVERSION is theirs. The command line and they lose their symbols: STRIP=: keeps them.
# The headers lie in include/nnrt as in the repository: #include "formats/nnrt_onnx.h" is right for both.
# CMakeLists.txt installs the same files; tests/source/test_install.sh compares the two.
set -eu
libraries=${2:-build}
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
umask 022
to=${DESTDIR:-}${PREFIX:-/usr/local}
version=$(sed -n 's/^#define NNRT_VERSION_[A-Z]* \([0-9][0-9]*\)$/\1/p' nnrt.h | paste -s -d . -)

# Lines "source destination mode".
list() {
    for header in nnrt*.h core/*.h formats/*.h devices/*.h compat/*.h compat/*/*.h; do
        [ ! -f "$header" ] || echo "$header include/nnrt/$header 644"
    done
    echo build/nnrt bin/nnrt 755
    echo packaging/nnrt.pc.in share/pkgconfig/nnrt.pc 644
    echo packaging/nnrt-config.cmake share/cmake/nnrt/nnrt-config.cmake 644
    echo packaging/nnrt-config-version.cmake share/cmake/nnrt/nnrt-config-version.cmake 644
    echo packaging/nnrt.1 share/man/man1/nnrt.1 644
    echo LICENSE share/doc/nnrt/LICENSE 644
    for library in libneural_network_runtime.so libnnadapter.so; do
        [ ! -f "$libraries/$library" ] || echo "$libraries/$library lib/$library.$version 755"
    done
}

# What pkg-config says of stb_ds.h, which the file with NNRT_IMPLEMENTATION includes.
stb() {
    if pkg-config --exists stb 2>/dev/null; then
        echo 'Requires.private: stb'
    else
        echo '# The file that defines NNRT_IMPLEMENTATION includes stb_ds.h: no package "stb" was found.'
    fi
}

case ${1:-} in
install)
    list | while read -r source destination mode; do
        mkdir -p "$to/$(dirname "$destination")"
        rm -f "$to/$destination"
        case $source in
        *.in) sed "s/@PROJECT_VERSION@/$version/; s/@NNRT_STB@/$(stb)/" "$source" >"$to/$destination" ;;
        *) cp "$source" "$to/$destination" ;;
        esac
        chmod "$mode" "$to/$destination"
        case $destination in
        bin/*) "${STRIP:-strip}" "$to/$destination" ;;
        lib/*)
            "${STRIP:-strip}" --strip-unneeded "$to/$destination"
            library=${destination%.so.*}.so
            ln -sf "${destination##*/}" "$to/$library.$SOVERSION"
            ln -sf "${library##*/}.$SOVERSION" "$to/$library"
            ;;
        esac
    done
    echo "nnrt $version is in $to"
    ;;
uninstall)
    list | while read -r _ destination _; do
        rm -f "$to/$destination"
    done
    for library in libneural_network_runtime.so libnnadapter.so; do
        rm -f "$to/lib/$library" "$to/lib/$library.$SOVERSION" "$to/lib/$library.$version"
    done
    # Folders that are nnrt's own go when nothing else lies there.
    for folder in core formats devices compat/neural_network_runtime compat/nnadapter compat; do
        rmdir "$to/include/nnrt/$folder" 2>/dev/null || true
    done
    for folder in include/nnrt share/cmake/nnrt share/doc/nnrt; do
        rmdir "$to/$folder" 2>/dev/null || true
    done
    ;;
*)
    echo 'usage: install.sh install|uninstall, with PREFIX and DESTDIR in the environment' >&2
    exit 2
    ;;
esac
