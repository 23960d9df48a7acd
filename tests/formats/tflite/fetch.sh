#!/bin/sh
# fetch.sh : fetches TensorFlow Lite as WebAssembly, of the npm package @tensorflow/tfjs-tflite, into
# build/tflite-data/node_modules if it is missing: the folder for --modules of tests/formats/test_tflite.py.
set -e
cd "$(dirname "$0")/../../.."
package=@tensorflow/tfjs-tflite
folder=build/tflite-data/node_modules/$package
sh tools/fetch.sh $folder $package@0.0.1-alpha.10 <<'LIST'
ce8b5161c99ce05d5cdb610b6bbbe33fe874e133307e8c380bc00b1b30ec069d  package.json
LIST
sh tools/fetch.sh $folder/wasm $package@0.0.1-alpha.10 <<'LIST'
08e963fcde11dc041feeac97ff711b3a157614edc98ff8bfa309557189b7368d  wasm/tflite_web_api_cc.js
f1eb42f96ae91e5ef34e2f833f011373ca1c40fdc9d4062ec21eb07b886ea54f  wasm/tflite_web_api_cc.wasm
d5c71816525140d7a35b59a908d3b07d42741576630e647d246c19c6fa72d63d  wasm/tflite_web_api_cc_simd.js
40f49cc2d458ec09bb43db160e9e55f4b3c790a4c1d1fa280f8a61796296cf8e  wasm/tflite_web_api_cc_simd.wasm
LIST
