// Runs an ONNX model with ONNX Runtime on .npy inputs and writes its outputs as .npy.
//
//   node ort.mjs --modules DIR MODEL --output-dir DIR [--input NAME=FILE.npy]... [--level LEVEL] [--bench MILLISECONDS]
//   node ort.mjs --modules DIR --list FILE
//   node ort.mjs --modules DIR --stream
//
// --stream reads models without inputs from standard input, each behind its length (4 bytes, little-endian), and writes a line
// of JSON for each: {NAME: [type, dims, bytes in base64]} or {"error": TEXT}.
// FILE is JSON, [{"model": M, "output": DIR, "inputs": {NAME: FILE}}, ...]: each is run, and DIR has error.txt where that fails.
// "level": "all", or --level all, runs it with all optimisations.
// --modules is the folder whose node_modules has onnxruntime-node. Outputs are written as NAME.npy ('/' becomes '_').
// The graph runs as the file says, without ONNX Runtime's optimisations. With --bench it is then loaded again with all
// of them and run on one thread for about that long; the last line on stdout is JSON: {"median_ms": M, "min_ms": L, "runs": N,
// "peak_bytes": B}. B: by how much the largest resident memory of this process exceeds that before the first session.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { createRequire } from 'node:module';

// npy type letter and size, ONNX Runtime's name, and the array its binding takes (float16 travels as raw 16-bit words).
const TYPES = [
  ['f4', 'float32', Float32Array], ['f8', 'float64', Float64Array], ['f2', 'float16', Uint16Array],
  ['b1', 'bool', Uint8Array], ['i1', 'int8', Int8Array], ['u1', 'uint8', Uint8Array],
  ['i2', 'int16', Int16Array], ['u2', 'uint16', Uint16Array], ['i4', 'int32', Int32Array],
  ['u4', 'uint32', Uint32Array], ['i8', 'int64', BigInt64Array], ['u8', 'uint64', BigUint64Array],
];

function fail(message) {
  console.error('ort.mjs: ' + message);
  process.exit(2);
}

// Reads a little-endian C-order array of any type above.
function readNpy(file) {
  const bytes = fs.readFileSync(file);
  if (bytes.length < 12 || bytes.toString('latin1', 0, 6) !== '\x93NUMPY') fail(file + ': not a .npy file');
  const wide = bytes[6] > 1;
  const start = (wide ? 12 : 10) + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString('latin1', wide ? 12 : 10, start);
  const descr = /'descr':\s*'[<|=]?(\w+)'/.exec(header), shape = /'shape':\s*\(([^)]*)\)/.exec(header);
  const row = descr && TYPES.find((t) => t[0] === descr[1]);
  if (!row || !shape || !/'fortran_order':\s*False/.test(header)) fail(file + ': unexpected header ' + header.trim());
  const dims = shape[1].split(',').map((s) => s.trim()).filter(Boolean).map(Number);
  return { type: row[1], dims, data: new row[2](new Uint8Array(bytes.subarray(start)).buffer) };
}

function writeNpy(file, tensor) {
  const row = TYPES.find((t) => t[1] === tensor.type);
  if (!row) fail(file + ': no .npy form of type ' + tensor.type);
  const mark = row[0].endsWith('1') ? '|' : '<';
  const shape = tensor.dims.length === 1 ? tensor.dims[0] + ',' : tensor.dims.join(', ');
  const text = `{'descr': '${mark}${row[0]}', 'fortran_order': False, 'shape': (${shape}), }`;
  const header = Buffer.from(text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n', 'latin1');
  const prefix = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  const { buffer, byteOffset, byteLength } = tensor.data;
  fs.writeFileSync(file, Buffer.concat([prefix, header, Buffer.from(buffer, byteOffset, byteLength)]));
}

function parseArguments(argv) {
  const options = { inputs: {}, level: 'disabled' };
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '--modules') options.modules = argv[++i];
    else if (argv[i] === '--output-dir') options.outputDir = argv[++i];
    else if (argv[i] === '--level') options.level = argv[++i];
    else if (argv[i] === '--bench') options.bench = Number(argv[++i]);
    else if (argv[i] === '--list') options.list = argv[++i];
    else if (argv[i] === '--stream') options.stream = true;
    else if (argv[i] === '--input') {
      const at = argv[++i].lastIndexOf('=');
      options.inputs[argv[i].slice(0, at)] = argv[i].slice(at + 1);
    } else if (!options.model && !argv[i].startsWith('-')) options.model = argv[i];
    else fail('unexpected argument ' + argv[i]);
  }
  if (!options.modules || (!options.list && !options.stream && (!options.model || !options.outputDir))) {
    fail('--modules and --list or --stream, or --modules, MODEL and --output-dir are needed');
  }
  return options;
}

// Median of repeated runs after as long a warm-up.
async function bench(session, feeds, milliseconds) {
  const loop = async () => {
    const times = [];
    for (const start = performance.now(); times.length < 3 || performance.now() - start < milliseconds;) {
      const before = performance.now();
      await session.run(feeds);
      times.push(performance.now() - before);
    }
    return times.sort((a, b) => a - b);
  };
  await loop();
  const times = await loop();
  return { median_ms: times[times.length >> 1], min_ms: times[0], runs: times.length };
}

const options = parseArguments(process.argv.slice(2));
const require = createRequire(path.resolve(options.modules, 'package.json'));
const ort = require('onnxruntime-node');
const common = {
  executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential',
  logSeverityLevel: 3,
};

// Runs a model, by default without optimisations, and writes what it gives; returns what it was run on.
async function run(model, inputs, folder, level = 'disabled') {
  const feeds = {};
  for (const [name, file] of Object.entries(inputs)) {
    const { type, data, dims } = readNpy(file);
    feeds[name] = new ort.Tensor(type, data, dims);
  }
  const session = await ort.InferenceSession.create(model, { ...common, graphOptimizationLevel: level });
  const results = await session.run(feeds);
  fs.mkdirSync(folder, { recursive: true });
  for (const name of session.outputNames) {
    writeNpy(path.join(folder, name.replaceAll('/', '_') + '.npy'), results[name]);
  }
  await session.release();
  return feeds;
}

// Reads exactly so many bytes of standard input; null at its end.
function readInput(count) {
  const bytes = Buffer.alloc(count);
  for (let at = 0; at < count;) {
    let n = 0;
    try {
      n = fs.readSync(0, bytes, at, count - at, null);
    } catch (error) {
      if (error.code === 'EOF') return null;
      if (error.code !== 'EAGAIN') throw error;
      continue;
    }
    if (n === 0) return null;
    at += n;
  }
  return bytes;
}

// A model of a stream and what it gives.
async function answer(model) {
  const session = await ort.InferenceSession.create(model, { ...common, graphOptimizationLevel: 'disabled', logSeverityLevel: 4 });
  const results = await session.run({}), said = {};
  for (const name of session.outputNames) {
    const { buffer, byteOffset, byteLength } = results[name].data;
    said[name] = [results[name].type, results[name].dims, Buffer.from(buffer, byteOffset, byteLength).toString('base64')];
  }
  await session.release();
  return said;
}

if (options.stream) {
  for (let head; (head = readInput(4)) !== null;) {
    const model = readInput(head.readUInt32LE(0));
    let said;
    try {
      said = await answer(model);
    } catch (error) {
      said = { error: error.message };
    }
    fs.writeSync(1, JSON.stringify(said) + '\n');
  }
} else if (options.list) {
  for (const { model, inputs, output, level } of JSON.parse(fs.readFileSync(options.list))) {
    try {
      await run(model, inputs, output, level);
    } catch (error) {
      fs.mkdirSync(output, { recursive: true });
      fs.writeFileSync(path.join(output, 'error.txt'), error.message);
    }
  }
} else {
  try {
    const before = process.memoryUsage.rss();
    const feeds = await run(options.model, options.inputs, options.outputDir, options.level);
    if (options.bench) {
      const session = await ort.InferenceSession.create(options.model, { ...common, graphOptimizationLevel: 'all' });
      const times = await bench(session, feeds, options.bench);
      console.log(JSON.stringify({ ...times, peak_bytes: 1024 * process.resourceUsage().maxRSS - before }));
    }
  } catch (error) {
    fail(options.model + ': ' + error.message);
  }
}
