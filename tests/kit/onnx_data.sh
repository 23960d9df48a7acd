#!/bin/sh
# onnx_data.sh : prints a folder with the tests of the onnx package in VERSION, which docs/ONNX.md counts. It has Debian's
# package libonnx-testdata from the distribution that has this version (RELEASE), downloaded once into build/onnx-data with
# apt's signature checks and the mirror that this machine uses. Without apt, the mirror or the version it prints the folder
# of the installed package and says so on stderr.
set -u
cd "$(dirname "$0")/../.." || exit 1
VERSION=1.20
RELEASE=sid
root=$(pwd)/build/onnx-data
data=$root/$VERSION/usr/share/libonnx-testdata/data
mkdir -p "$root"

instead() {
    echo "NOT the tests of onnx $VERSION: $1; the installed ones run instead" >&2
    echo "${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}"
    exit 0
}

# A package index and cache of their own: the packages of the machine stay as they are.
apt() {
    command=$1
    shift
    "$command" -qq -o "Dir::Etc::SourceList=$root/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$root/lists" -o "Dir::Cache=$root/cache" -o APT::Sandbox::User= -o Acquire::Languages=none \
        -o Acquire::Retries=3 "$@"
}

if [ ! -d "$data/node" ]; then
    command -v apt-get >/dev/null 2>&1 || instead 'this machine has no apt'
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/ main$//p' | grep -v security | head -n 1)
    [ -n "$mirror" ] || instead 'apt knows no mirror'
    mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/$VERSION"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $RELEASE main" >"$root/sources.list"
    apt apt-get update >&2 || instead "$RELEASE cannot be reached"
    have=$(apt apt-cache madison libonnx-testdata | cut -d '|' -f 2 | tr -d ' ' | grep "^$VERSION" | head -n 1)
    [ -n "$have" ] || instead "$RELEASE has another version"
    (cd "$root" && apt apt-get download "libonnx-testdata=$have" >&2 && dpkg-deb -x libonnx-testdata_*.deb "$VERSION") ||
        instead 'the package cannot be downloaded'
    rm -rf "$root/lists" "$root/cache" "$root"/libonnx-testdata_*.deb
fi
echo "$data"
