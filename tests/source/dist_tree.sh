#!/bin/sh
# dist_tree.sh DIST TREE: makes in TREE a copy of the repository in which nnrt.h is the amalgamation in DIST, and each other
# header one line that includes it. Every include of every program there, by any path, includes the amalgamation; the tests
# are unchanged. TREE/build is kept.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$2"
dist=$(cd "$1" && pwd) tree=$(cd "$2" && pwd)

find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
for entry in "$root"/*; do
    case ${entry##*/} in build | dist | *.h) ;; *) cp -Rp "$entry" "$tree/" ;; esac
done
for header in "$root"/*.h; do
    printf '#include "nnrt.h"\n' >"$tree/${header##*/}"
done
for header in "$root"/core/*.h "$root"/formats/*.h "$root"/devices/*.h "$root"/compat/*.h; do
    [ -f "$header" ] || continue
    name=${header#"$root"/}
    printf '#include "../%s"\n' "${name##*/}" >"$tree/$name"
done
cp -R "$dist"/. "$tree/"
