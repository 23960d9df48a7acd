#!/bin/sh
# test_onnx_nodes.sh NNRT ONNX_NODES [ARGUMENT...]: the tests of the onnx package, in the version that docs/ONNX.md counts
# (tests/kit/onnx_data.sh), and that docs/ONNX.md contains their results. With other tests (NNRT_ONNX_TESTDATA, no mirror), or on
# a device, nothing is compared. Runs from the root of the repository.
set -u
nnrt=$1
shift
log=$(mktemp)
trap 'rm -f "$log" "$log.note"' EXIT
data=${NNRT_ONNX_TESTDATA:-}
[ -n "$data" ] || data=$(sh tests/kit/onnx_data.sh 2>"$log.note")
[ ! -s "$log.note" ] || cat "$log.note"
NNRT_ONNX_TESTDATA=$data "$@" >"$log" 2>&1
status=$?
cat "$log"
[ "$status" -eq 0 ] || exit "$status"
case " $* " in *' --device '*) exit 0 ;; esac
case $data in */onnx-data/*) "${PYTHON:-/usr/bin/python3}" -B tools/docs/docs.py --nnrt "$nnrt" --check onnx "$log" >&2 ;; esac
