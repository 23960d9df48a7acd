#!/bin/sh
# test_cli_serve.sh: nnrt serve and the device remote. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
[ "$(uname)" = Linux ] || {
    skip 'serve' 'only Linux has it'
    total
    exit
}
models

# serving NAME ARGUMENTS...: nnrt serve in the background, $server; it listens when this ends.
serving() {
    label=$1
    shift
    : >"$folder/served"
    "$nnrt" serve "$@" >"$folder/served" 2>"$folder/served_err" &
    server=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -s "$folder/served" ] && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    if [ -s "$folder/served" ]; then pass; else fail "$label: does not serve: $(cat "$folder/served_err")"; fi
}
# served NAME SIGNAL: the server exits with 0 after the signal, and removes its socket.
served() {
    kill -s "$2" "$server"
    wait "$server"
    got=$?
    [ "$got" -eq 0 ]
    verdict "$1: status $got, expected 0" $?
    absent "$1: the socket is still there" "$folder/socket"
}

t 0 'the reference device, for comparison' run $digits/digits.onnx --input $digits/digit_7.png --device reference --output-dir "$folder/reference_out"
t 0 'serve --help' serve --help
prints 'serve --help: the socket' '^  --socket PATH '
prints 'serve --help: limits' '^  --limits NAME=N'
refused 2 'serve without a socket' 'serve: --socket PATH is missing' serve
refused 2 'serve: no such device' 'unknown device' serve --socket "$folder/socket" --device nobody
for limit in clients clients= clients=0 client=1 clients=1,, bytes=0 bytes=x bytes=9999999999999999999 time=-1; do
    refused 2 "serve --limits $limit" "--limits does not take '$limit'" serve --socket "$folder/socket" --limits "$limit"
done
refused 2 'serve --users' "--users does not take '1,x'" serve --socket "$folder/socket" --users 1,x
for mode in 0 8 600x 99 07777; do
    refused 2 "serve --mode $mode" "--mode does not take '$mode'" serve --socket "$folder/socket" --mode "$mode"
done
refused 1 'serve: a message that is too short' 'expected at most 65536, and a message of 4096 to' serve --socket "$folder/socket" --limits message=4095
refused 1 'serve: no such folder' 'cannot make the socket' serve --socket "$folder/none/socket"
: >"$folder/no_socket"
refused 1 'serve: in the place of a file' 'exists and is not a socket' serve --socket "$folder/no_socket"
refused 2 'nobody serves' "no server listens at '[^']*/socket'" run "$digits/digits.onnx" --input random --device "remote:$folder/socket"
refused 2 'a device without a path' "the path '' has 0 characters" devices --device remote:
serving 'serve' --socket "$folder/socket" --device reference
grep -q "^device reference at $folder/socket\$" "$folder/served"
verdict 'serve says what it serves' $?
case $(ls -l "$folder/socket") in srw-------*) pass ;; *) fail "serve: permissions $(ls -l "$folder/socket")" ;; esac
refused 1 'serve: twice at one socket' "another process already serves a device at '[^']*/socket'" serve --socket "$folder/socket"
t 0 'devices --device remote' devices --device "remote:$folder/socket" --device "remote:name=npu7,time=5000,$folder/socket"
prints 'devices lists a remote device' '^remote_reference  nnrt  CPU  AVAILABLE$'
prints 'devices lists it under its name' '^npu7  nnrt  CPU  AVAILABLE$'
t 0 'run --device remote' run "$digits/digits.onnx" --input "$digits/digit_7.png" --device "remote:$folder/socket" --output-dir "$folder/remote_out"
same 'a remote device has the bits of the reference device' "$folder/remote_out" "$folder/reference_out"
t 0 'compare with a remote device' compare "$digits/digits.onnx" --device "remote:$folder/socket"
t 0 'a part on a remote device' run "$digits/digits.onnx" --input "$digits/digit_7.png" --device "remote:name=npu7,$folder/socket" --device auto:npu7 --output-dir "$folder/remote_auto"
same 'auto on a remote device has the bits of the reference device' "$folder/remote_auto" "$folder/reference_out"
t 0 'info --device auto:remote:PATH' info "$digits/digits.onnx" --device "auto:remote:$folder/socket" --placement --json
py 'auto:remote:PATH: all nodes are there' 'all(p["device"] == "remote_reference_nnrt_v2_0" for p in d["placement"])'
t 0 'a list of devices that have options' info "$digits/digits.onnx" --device "auto:fake:name=npu0,ops=SOFTMAX,remote:name=npu7,time=5000,$folder/socket,reference" --placement --json
py 'a list of devices that have options: who has what' '[p["device"] for p in d["placement"]] == ["npu7_nnrt_v2_0"] * 9 + ["npu0_nnrt_v1_0"]'
t 0 'compare of two lists' compare "$digits/digits.onnx" --device "auto:remote:name=a,$folder/socket" --device "auto:remote:name=b,$folder/socket"
refused 2 'auto:remote: of nobody' "no server listens at '[^']*/none'" devices --device "auto:remote:$folder/none"
served 'serve ends by SIGTERM' TERM
serving 'serve again, with limits' --socket "$folder/socket" --device fake:not=SOFTMAX --limits clients=1,models=1,bytes=65536 --mode 0660 --log debug
case $(ls -l "$folder/socket") in srw-rw----*) pass ;; *) fail "serve --mode 0660: permissions $(ls -l "$folder/socket")" ;; esac
refused 2 'limits of a server: clients' 'the server has reached its limit of clients' devices --device "remote:$folder/socket" --device "remote:name=other,$folder/socket"
for i in 1 2 3 4 5 6 7 8 9 10; do # until the server has seen that the last client is gone
    "$nnrt" run "$digits/digits.onnx" --input random --device "remote:$folder/socket" >"$folder/out" 2>"$folder/err"
    got=$?
    grep -q 'limit of clients' "$folder/err" || break
    sleep 0.2
done
[ "$got" -eq 1 ]
verdict "limits of a server: bytes: status $got, expected 1" $?
says 'limits of a server: bytes' 'allows a client at most 65536 bytes'
served 'serve ends by SIGINT' INT
grep -q 'nnrt: warning: process [0-9]* is refused: the server has its limit of 1 clients' "$folder/served_err"
verdict 'serve --log' $?
serving 'serve, of another user' --socket "$folder/socket" --users 12345
refused 2 'another user' 'the server does not admit this user id' devices --device "remote:$folder/socket"
kill -s KILL "$server"
wait "$server" 2>/dev/null
[ -S "$folder/socket" ]
verdict 'a killed server leaves its socket' $?
serving 'serve in the place of a server that was killed' --socket "$folder/socket" --device fake:not=SOFTMAX
refused 1 'run on a remote device that refuses' "node 9 'probabilities' \\(SOFTMAX\\): device 'fake' does not have this operator" run "$digits/digits.onnx" --input random --device "remote:$folder/socket"
served 'serve ends' TERM

total
