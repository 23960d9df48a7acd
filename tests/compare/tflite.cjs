// Runs .tflite models in TensorFlow Lite (WebAssembly of npm's @tensorflow/tfjs-tflite), without a browser.
//
//     node tflite.cjs MODULES LIST [SECONDS]   LIST: lines "MODEL INPUT.bin ...": raw elements of the inputs in the model's order.
//         "N*MODEL": the model runs N times, its variables stay between the runs; the results are those of the last run
//
// Prints one line per model: "type shape hex" per output, separated by "; ", or "- message" if TensorFlow Lite refuses it. With
// SECONDS it uses SIMD and one thread, repeats each run for that time, and first prints the median and the shortest time in
// milliseconds, and the bytes of the WebAssembly memory, which only grows: "ms 1.25 1.2 16777216; ".
const fs = require('fs'), path = require('path');
const [modules, list, seconds] = process.argv.slice(2);
const program = 'tflite_web_api_cc' + (seconds ? '_simd' : '');
const folder = path.join(path.resolve(modules), '@tensorflow/tfjs-tflite/wasm/');
globalThis.window = globalThis; // the module was compiled for browsers
const errors = [];

function times(runner, seconds) {
  const all = [];
  for (const end = performance.now() + 1000 * seconds; all.length < 3 || performance.now() < end;) {
    const start = performance.now();
    runner.Infer();
    all.push(performance.now() - start);
  }
  all.sort((a, b) => a - b);
  return all[all.length >> 1].toFixed(4) + ' ' + all[0].toFixed(4);
}

async function main() {
  const tflite = await require(folder + program + '.js')({
    wasmBinary: fs.readFileSync(folder + program + '.wasm'), print: () => {}, printErr: (text) => errors.push(text)});
  for (const line of fs.readFileSync(list, 'utf8').trim().split('\n')) {
    const [given, ...inputs] = line.split(' '), [, repeats, model] = given.match(/^(?:(\d+)\*)?(.*)$/);
    errors.length = 0;
    try {
      const bytes = fs.readFileSync(model), at = tflite._malloc(bytes.length);
      tflite.HEAPU8.set(bytes, at);
      const made = tflite.TFLiteWebModelRunner.CreateFromBufferAndOptions(
        at, bytes.length, {numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 1024});
      if (!made.ok()) throw Error(made.errorMessage());
      const runner = made.value(), places = runner.GetInputs();
      for (let k = 0; k < places.size(); k++) {
        const data = places.get(k).data(), raw = fs.readFileSync(inputs[k]);
        if (data.byteLength !== raw.length) throw Error('input ' + k + ' has ' + data.byteLength + ' bytes, not ' + raw.length);
        new Uint8Array(data.buffer, data.byteOffset, data.byteLength).set(raw);
      }
      for (let run = 0; run < Number(repeats || 1); run++)
        if (!runner.Infer()) throw Error('Infer failed');
      const results = runner.GetOutputs(), texts = [];
      for (let k = 0; k < results.size(); k++) {
        const r = results.get(k), data = r.data();
        texts.push([r.dataType, r.shape || '-', Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex') || '-'].join(' '));
      }
      if (seconds) texts.unshift(`ms ${times(runner, Number(seconds))} ${tflite.HEAPU8.length}`);
      console.log(texts.join('; '));
      runner.delete();
    } catch (e) {
      console.log('- ' + String(e.message || e).replace(/\s+/g, ' ').slice(0, 120) + ' ' + errors.join(' ').replace(/\s+/g, ' ').slice(0, 200));
    }
  }
}
main().catch((e) => { console.error(e); process.exit(1); });
