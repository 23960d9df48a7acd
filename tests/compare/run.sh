#!/bin/sh
# run.sh [--models | --dir DIR] [OPTION...] : compares build/nnrt with ONNX Runtime (the npm package onnxruntime-node).
#
# --models: the networks of make_models.py, the speech detectors of examples/vad, which are fetched, and the families of
# export_families.py, which torch exports with dynamic axes.
# Without both: our own networks, written by make_networks.py; then whether ONNX Runtime still gives the results in
# tests/core/models; then RANDOM_MODELS (1000) random models of one node, tests/kit/random_models.py. With --dir: every .onnx
# file in DIR. Other options go to compare.py; `run.sh --help` shows them. COMPARE_ARGS in the environment contains
# options, too, for `make compare` and `make models`. --fetch: only fetches ONNX Runtime. All its files are in
# build/compare. Exit status: 0 all agree, 1 some do not, 2 wrong usage.
set -eu

ORT_VERSION=1.30.0
PYTHON=${PYTHON:-/usr/bin/python3}
here=tests/compare
work=build/compare

from=$(pwd)
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2086  # words are meant to be split
[ -z "${COMPARE_ARGS:-}" ] || set -- "$@" $COMPARE_ARGS

packages="python3 python3-numpy python3-onnx npm"
command -v node >/dev/null 2>&1 || packages="$packages nodejs"
# shellcheck disable=SC2086
sh tools/need.sh $packages

for argument in "$@"; do
    if [ "$argument" = --help ] || [ "$argument" = -h ]; then
        sed -n '2,9s/^# \{0,1\}//p' "$here/run.sh"
        exec "$PYTHON" "$here/compare.py" --help
    fi
done

if [ "${1:-}" != --fetch ] && [ ! -x build/nnrt ]; then
    echo "compare: build/nnrt is not there; run make first" >&2
    exit 1
fi

# The package carries its CPU library for Linux; its install script would only fetch libraries for GPUs.
installed=$work/node_modules/onnxruntime-node/package.json
if ! grep -q "\"version\": \"$ORT_VERSION\"" "$installed" 2>/dev/null; then
    echo "compare: fetching onnxruntime-node $ORT_VERSION (290 MB unpacked) into $work" >&2
    mkdir -p "$work"
    echo '{"private": true}' >"$work/package.json"
    npm install --prefix "$work" --ignore-scripts --no-audit --no-fund --loglevel=error \
        "onnxruntime-node@$ORT_VERSION" >&2
fi

[ "${1:-}" != --fetch ] || exit 0
networks=$work/networks
more=yes
families=
if [ "${1:-}" = --models ]; then
    networks=$work/models
    sh examples/vad/fetch.sh
    rm -rf "$networks"
    "$PYTHON" -B "$here/make_models.py" "$networks" --vad build/vad-data
    sh tools/need.sh python3-torch python3-torchvision
    echo "compare: exporting networks with torch" >&2
    rm -rf "$work/families"
    "$PYTHON" -B "$here/export_families.py" "$work/families"
    families=yes
    shift
    more=
elif [ "${1:-}" = --dir ]; then
    case ${2:-} in
    /*) networks=$2 ;;
    *) networks=$from/${2:-} ;;
    esac
    if [ $# -lt 2 ] || [ ! -d "$networks" ]; then
        echo "compare: --dir needs a folder" >&2
        exit 2
    fi
    shift 2
    more=
else
    rm -rf "$networks"
    "$PYTHON" "$here/make_networks.py" "$networks"
fi
status=0
"$PYTHON" "$here/compare.py" "$networks" --work "$work" "$@" || status=$?
if [ -n "$families" ] && [ $status -ne 2 ]; then
    echo "networks with dynamic dimensions, which have bounds of their inputs alone:"
    "$PYTHON" "$here/compare.py" "$work/families" --work "$work" "$@" || status=1
fi
if [ -n "$more" ] && [ $status -ne 2 ]; then
    echo "tests/core/models, where make test compares nnrt with what ONNX Runtime gave:"
    "$PYTHON" -B tests/core/models/make.py --check --work "$work" || status=1
    echo "tests/formats/quantized.txt, the results of ONNX Runtime for 8-bit tensors:"
    "$PYTHON" -B tests/formats/test_quantized.py --check --ort "$work" || status=1
    "$PYTHON" -B tests/formats/test_contrib.py --check --ort "$work" || status=1
    echo "random models of one node:"
    "$PYTHON" -B "$here/random_compare.py" --work "$work" --number "${RANDOM_MODELS:-1000}" || status=1
fi
exit $status
