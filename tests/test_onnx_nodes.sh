#!/bin/sh
# test_onnx_nodes.sh NNRT ONNX_NODES [ARGUMENT...]: the ONNX node tests, and that docs/ONNX.md contains their results. With
# other tests than Debian's (NNRT_ONNX_TESTDATA), or on a device, nothing is compared. Runs from the root of the
# repository.
set -u
nnrt=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" >"$log" 2>&1
status=$?
cat "$log"
[ "$status" -eq 0 ] || exit "$status"
case " $* " in *' --device '*) exit 0 ;; esac
[ -n "${NNRT_ONNX_TESTDATA:-}" ] || "${PYTHON:-/usr/bin/python3}" -B tools/docs.py --nnrt "$nnrt" --check onnx "$log" >&2
