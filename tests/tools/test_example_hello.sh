#!/bin/sh
# test_example_hello.sh FOLDER: the examples hello, device and custom.
set -u
. tests/tools/examples.sh

expect 'hello' 0 "$bin/hello" $digits/digits.onnx
shows 'hello' out '^largest output: [0-9]; arena: [1-9][0-9]* bytes$'
expect 'hello without a model' 1 "$bin/hello"
shows 'hello without a model' err '^usage: '
expect 'hello with a file that is not there' 1 "$bin/hello" "$folder/none.onnx"
shows 'hello with a file that is not there' err 'none\.onnx|open|read'
expect 'hello with a file that is no model' 1 "$bin/hello" $digits/sheet.png
shows 'hello with a file that is no model' err '.'

expect 'device' 0 "$bin/device" $digits/digits.onnx
shows 'device' out '^largest difference: 0; steps: [1-9][0-9]* on reference, [1-9][0-9]* on example$'
expect 'device without a model' 1 "$bin/device"
shows 'device without a model' err '^usage: '
expect 'device with a file that is no model' 1 "$bin/device" $digits/sheet.png
shows 'device with a file that is no model' err '.'

# x + sin(2 x)^2 / 2, by the mathematics
expect 'custom' 0 "$bin/custom" "$folder/snake.nnrt"
shows 'custom' out '^snake\(-1\) = -0\.5866$'
shows 'custom' out '^snake\(0\.5\) = 0\.8540$'
shows 'custom' out '^snake\(1\) = 1\.4134$'
expect 'custom without a file' 1 "$bin/custom"
shows 'custom without a file' err '^usage: '
expect 'custom without a place for its file' 1 "$bin/custom" "$folder/none/snake.nnrt"
shows 'custom without a place for its file' err 'none/snake\.nnrt'

total
