#!/usr/bin/env node
/* run.mjs FOLDER NNRT : tests the package nnrt in Node.js. FOLDER: the ONNX tests; NNRT: the command line, whose reference
   device has the same bits on every machine. Ends with "N passed, N failed". */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Worker} from 'node:worker_threads';
import {brotliCompressSync, constants} from 'node:zlib';

import nnrt, {InferenceSession, Tensor, env} from '../../../build/web/nnrt/nnrt.js';
import {readNpy, readTensor, writeNpy} from './files.mjs';
import {count, finish, test} from './tests.mjs';
import {testText} from './text.mjs';

const [onnxTests, program] = process.argv.slice(2);
const root = new URL('../../../', import.meta.url).pathname;
const scratch = mkdtempSync(path.join(tmpdir(), 'nnrt-web-'));
const digits = `${root}examples/digits/digits.onnx`;
/** Numbers that are the same in every run: of a linear congruential generator, in [-1, 1), or small integers. */
function fill(type, dims) {
    let state = 12345;
    const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 31 - 1;
    const integer = !type.startsWith('float');
    const values = Array.from({length: dims.reduce((a, b) => a * b, 1)}, () => integer ? Math.floor(next() * 8) : next());
    return new Tensor(type, type.startsWith('u') ? values.map(Math.abs) : values, dims);
}

const bytes = (t) => Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength);

// ---- sizes ----

const binary = readFileSync(`${root}build/web/nnrt/nnrt.wasm`);
// Bytes of each module and of its brotli form. A test allows 1 % more, since paths and the version of the compiler change some hundred bytes.
for (const [file, size, sizePacked] of [['nnrt.wasm', 1_479_200, 484_400], ['nnrt-relaxed.wasm', 1_596_100, 494_800]])
    await test(`size of ${file}`, () => {
        const bytes = readFileSync(`${root}build/web/nnrt/${file}`);
        const packed = brotliCompressSync(bytes, {params: {[constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24}});
        console.log(`${file} ${bytes.length} bytes, with brotli ${packed.length}`);
        assert.ok(bytes.length <= 1.01 * size && packed.length <= 1.01 * sizePacked, `${bytes.length} bytes, with brotli ${packed.length}`);
    });
await test('lines of JavaScript', () => {
    assert.ok(readFileSync(`${root}bindings/web/nnrt.js`, 'utf8').split('\n').length <= 400);
});
await test('the module imports nothing, and its memory is not shared', async () => {
    const module = await WebAssembly.compile(binary);
    assert.deepEqual(WebAssembly.Module.imports(module), []);
    const {exports} = await WebAssembly.instantiate(module, {});
    assert.ok(exports.memory.buffer instanceof ArrayBuffer);
});

// ---- ONNX's tests of operators, with ONNX's own results ----

/* As ONNX's runner: |difference| <= 1e-7 + 1e-3 |expected|, for float16 two units in the last place more. */
function close(got, expected) {
    const decode = (t) => t.type === 'float16' && t.data instanceof Uint16Array ? Array.from(t.data, half) : Array.from(t.data, Number);
    const a = decode(got), b = decode(expected);
    const [absolute, relative] = got.type === 'float16' ? [1e-3, 3e-3] : got.type.startsWith('float') ? [1e-7, 1e-3] : [0, 0];
    return a.every((v, i) => Object.is(v, b[i]) || v === b[i] || (Number.isNaN(v) && Number.isNaN(b[i])) ||
        Math.abs(v - b[i]) <= absolute + relative * Math.abs(b[i]));
}

function half(bits) {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    return sign * (exponent === 0 ? mantissa * 2 ** -24 : exponent === 31 ? (mantissa ? NaN : Infinity) : (1024 + mantissa) * 2 ** (exponent - 25));
}

const skipped = {}, refused = [];
async function node(name) {
    const folder = `${onnxTests}/node/${name}`, set = `${folder}/test_data_set_0`;
    const read = (kind) => readdirSync(set).filter((f) => f.startsWith(kind)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
        .map((f) => readTensor(readFileSync(`${set}/${f}`)));
    const inputs = read('input_'), outputs = read('output_');
    if ([...inputs, ...outputs].some((t) => t.tensor === undefined))
        return 'types';
    let session, got;
    try {
        session = await InferenceSession.create(`${folder}/model.onnx`);
        got = await session.run(Object.fromEntries(session.inputNames.map((n, i) => [n, inputs[i].tensor])));
    } catch (error) {
        refused.push(`${name}: ${error.message}`);
        return error.code ?? 'FAILED';
    }
    session.outputNames.forEach((n, i) => {
        assert.deepEqual([got[n].type, got[n].dims], [outputs[i].tensor.type, outputs[i].tensor.dims], n);
        assert.ok(close(got[n], outputs[i].tensor), `${n} is ${got[n].data.slice(0, 8)}, expected ${outputs[i].tensor.data.slice(0, 8)}`);
    });
    return undefined;
}

/* Results that ONNX does not define; inputs that are no tensors; results that ONNX 1.12 has wrong. */
const other = /dropout.*(?<!default)$|bernoulli|random|training|_seq|sequence|_opt|BFLOAT16/;
for (const name of readdirSync(`${onnxTests}/node`).filter((n) => !other.test(n)))
    await test(name, async () => {
        const why = await node(name);
        if (why !== undefined) {
            skipped[why] = (skipped[why] ?? 0) + 1;
            count.passed--;
        }
    });
console.log(`${count.passed} ONNX tests of operators; not supported:`, skipped);
if (process.env.NNRT_WEB_REFUSED)
    writeFileSync(process.env.NNRT_WEB_REFUSED, refused.join('\n'));
await test('most of ONNX\'s tests run', () => assert.ok(count.passed >= 700, `${count.passed} ran`));

// ---- the command line ----

/** Outputs of nnrt run for one input, by name. */
function runNative(model, tensors, device) {
    const out = path.join(scratch, 'out');
    rmSync(out, {recursive: true, force: true});
    const inputs = Object.entries(tensors).flatMap(([name, t], i) => {
        writeFileSync(`${scratch}/${i}.npy`, writeNpy(t));
        return ['--input', `${name}=${scratch}/${i}.npy`];
    });
    execFileSync(program, ['run', model, ...inputs, '--device', device, '--output-dir', out], {stdio: 'pipe'});
    return Object.fromEntries(readdirSync(out).map((f) => [f.replace(/\.npy$/, ''), readNpy(readFileSync(`${out}/${f}`))]));
}

const convert = (model, out) => {
    execFileSync(program, ['convert', model, out], {stdio: 'pipe'});
    return out;
};
const networks = [digits, `${root}examples/digits/digits_int8.onnx`, `${root}examples/kws/kws.onnx`, `${root}examples/kws/kws_int8.onnx`,
    convert(digits, `${scratch}/digits.nnrt`), convert(`${root}examples/kws/kws_int8.onnx`, `${scratch}/kws.nnrt`)];
for (const model of [...networks, ...['build/face-data/face_detection_short_range.tflite'].map((f) => root + f).filter(existsSync)])
    await test(`${path.basename(model)} has the bits of nnrt run`, async () => {
        const session = await InferenceSession.create(model, {device: 'reference'});
        const feeds = Object.fromEntries(session.inputMetadata.map((i) => [i.name, fill(i.type, i.shape)]));
        const got = await session.run(feeds), expected = runNative(model, feeds, 'reference');
        for (const name of session.outputNames)
            assert.ok(bytes(got[name]).equals(expected[name.replace(/[^\w.-]/g, '_')]), name);
        const fast = await (await InferenceSession.create(model)).run(feeds);
        for (const name of session.outputNames) // sums in another order: 1e-4 of the largest
            got[name].data.forEach((v, i) => assert.ok(Math.abs(Number(v) - Number(fast[name].data[i])) <=
                (got[name].type === 'float32' ? 1e-4 * Math.max(1, ...got[name].data.map(Math.abs)) : 0), `${name}[${i}] on cpu`));
        assert.equal(session.device.split('_')[0], 'reference');
    });

// ---- nnrt emit-wasm ----

for (const [model, most] of [['digits/digits_int8', 60_000], ['digits/digits', 100_000], ['kws/kws_int8', 120_000]])
    await test(`emit-wasm ${model} has the bits of nnrt run`, async () => {
        const file = `${root}examples/${model}.onnx`, out = `${scratch}/model.wasm`;
        execFileSync(program, ['emit-wasm', file, '-o', out], {stdio: 'pipe', cwd: root});
        const module = await WebAssembly.compile(readFileSync(out));
        const {exports} = await WebAssembly.instantiate(module, {});
        assert.ok(readFileSync(out).length <= most, `${readFileSync(out).length} bytes`);
        assert.deepEqual(WebAssembly.Module.imports(module), []);
        assert.throws(() => exports.memory.grow(1), RangeError);
        const about = await InferenceSession.create(file), feeds = {};
        about.inputMetadata.forEach((i, k) => {
            feeds[i.name] = fill(i.type, i.shape);
            assert.equal(exports.input_bytes(k), feeds[i.name].data.byteLength);
            new Uint8Array(exports.memory.buffer, exports.input(k)).set(bytes(feeds[i.name]));
        });
        const expected = runNative(file, feeds, 'reference');
        for (let run = 0; run < 2; run++) {
            assert.equal(exports.run(), 0);
            about.outputNames.forEach((name, k) => assert.ok(Buffer.from(exports.memory.buffer, exports.output(k), exports.output_bytes(k))
                .equals(expected[name.replace(/[^\w.-]/g, '_')]), name));
        }
    });
await test('emit-wasm without clang', () => {
    try {
        execFileSync(program, ['emit-wasm', digits, '-o', `${scratch}/none.wasm`], {stdio: 'pipe', cwd: root, env: {...process.env, PATH: '/nowhere'}});
        assert.fail('it succeeded');
    } catch (error) {
        assert.match(String(error.stderr), /this needs clang with the target wasm32/);
    }
    assert.deepEqual(readdirSync(scratch).filter((f) => f.startsWith('none')), []);
});

// ---- the classes ----

const image = new Tensor('float32', new Float32Array(784), [1, 1, 28, 28]);
const session = await InferenceSession.create(digits);

await test('names, metadata and memory', () => {
    assert.deepEqual(session.inputNames, ['image']);
    assert.deepEqual(session.outputNames, ['probabilities']);
    assert.deepEqual(session.inputMetadata, [{name: 'image', isTensor: true, type: 'float32', shape: [1, 1, 28, 28]}]);
    assert.ok(session.memory.total > session.memory.arena && session.memory.instance < 2 ** 20);
});
await test('sources: path, URL, buffer, part of a buffer, array', async () => {
    const file = readFileSync(digits), buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
    const shifted = new Uint8Array(file.length + 3);
    shifted.set(file, 3);
    const first = bytes((await session.run({image})).probabilities);
    for (const source of [[digits], [new URL(`file://${digits}`)], [buffer], [file], [shifted.buffer, 3], [shifted.buffer, 3, file.length, {}],
        [shifted.subarray(3)], [`data:application/octet-stream;base64,${file.toString('base64')}`]]) {
        const made = await InferenceSession.create(...source);
        assert.ok(bytes((await made.run({image})).probabilities).equals(first));
    }
});
await test('outputs by name, in a tensor of the caller, and tensors of onnxruntime-common', async () => {
    const {probabilities} = await session.run({image: {type: 'float32', data: image.data, dims: [1, 1, 28, 28]}}, ['probabilities']);
    const mine = new Tensor('float32', new Float32Array(10), [1, 10]);
    assert.equal((await session.run({image}, {probabilities: mine})).probabilities, mine);
    assert.deepEqual(mine.data, probabilities.data);
});
await test('runs at the same time, and results that stay', async () => {
    const white = new Tensor('float32', new Float32Array(784).fill(1), [1, 1, 28, 28]);
    const [a, b, c] = await Promise.all([session.run({image}), session.run({image: white}), session.run({image})]);
    assert.deepEqual(a.probabilities.data, c.probabilities.data);
    assert.notDeepEqual(a.probabilities.data, b.probabilities.data);
});
await test('outputs of .tflite files have the shapes that are declared', async () => {
    execFileSync('tar', ['-xf', `${root}tests/fuzz/corpus/tflite.tar`, '-C', scratch]);
    let seen = 0;
    for (const file of execFileSync('tar', ['-tf', `${root}tests/fuzz/corpus/tflite.tar`], {encoding: 'utf8'}).trim().split('\n')) {
        const s = await InferenceSession.create(`${scratch}/${file}`).catch(() => null); // most files are damaged
        if (!s?.inputMetadata.every((i) => i.shape.every(Number.isInteger)))
            continue;
        const got = await s.run(Object.fromEntries(s.inputMetadata.map((i) => [i.name, fill(i.type, i.shape)]))).catch(() => null);
        for (const {name, shape} of got ? s.outputMetadata : [])
            if (shape.every(Number.isInteger)) {
                assert.deepEqual(shape, got[name].dims, `${file}: ${name}`);
                seen++;
            }
    }
    assert.ok(seen >= 10, `${seen} outputs`);
});
await test('tensors', () => {
    assert.deepEqual(new Tensor(new Float32Array(6), [2, 3]).dims, [2, 3]);
    assert.equal(new Tensor([true, false]).type, 'bool');
    assert.deepEqual(new Tensor('int64', [1, 2]).data, BigInt64Array.of(1n, 2n));
    assert.equal(new Tensor(new Uint8ClampedArray(2)).type, 'uint8');
    assert.equal(new Tensor(new Uint16Array(2)).type, 'uint16');
    assert.equal(new Tensor('float16', new Uint16Array(2)).size, 2);
    assert.deepEqual(new Tensor(new Float32Array(6)).reshape([3, 2]).dims, [3, 2]);
    assert.equal(nnrt.Tensor, Tensor);
});
await test('dynamic dimensions: a new shape prepares the model again', async () => {
    const s = await InferenceSession.create(dynamicModel());
    assert.deepEqual(s.inputMetadata[0].shape, ['N', 3]);
    for (const n of [1, 4, 2]) {
        const {y} = await s.run({x: new Tensor('float32', Float32Array.from({length: 3 * n}, (_, i) => i - 2), [n, 3])});
        assert.deepEqual([y.dims, [...y.data]], [[n, 3], Array.from({length: 3 * n}, (_, i) => Math.max(0, i - 2))]);
    }
    const fixed = await InferenceSession.create(dynamicModel(), {freeDimensionOverrides: {N: 2}});
    assert.deepEqual(fixed.inputMetadata[0].shape, [2, 3]);
});

/** An ONNX model y = Relu(x) with the shape [N,3]. */
function dynamicModel() {
    const message = (...parts) => parts.flatMap(([field, value]) => typeof value === 'number' ? [field << 3, value]
        : [field << 3 | 2, ...(Array.isArray(value) ? [value.length, ...value] : [value.length, ...Buffer.from(value)])]);
    const io = (name) => message([1, name], [2, message([1, message([1, 1], [2, message([1, message([2, 'N'])], [1, message([1, 3])])])])]);
    const graph = message([1, message([1, 'x'], [2, 'y'], [4, 'Relu'])], [2, 'g'], [11, io('x')], [12, io('y')]);
    return Uint8Array.from(message([1, 8], [7, graph], [8, message([2, 13])]));
}

// ---- errors ----

const rejects = (what, Kind, pattern, body) => test(`error: ${what}`, () => assert.rejects(async () => body(), (error) => {
    assert.equal(error.constructor, Kind, String(error));
    assert.match(error.message, pattern);
    return true;
}));
const detached = new Tensor('float32', new Float32Array(784), [1, 1, 28, 28]);
structuredClone(detached.data.buffer, {transfer: [detached.data.buffer]});
const gone = new ArrayBuffer(8);
structuredClone(gone, {transfer: [gone]});

await rejects('missing file', Error, /^cannot read 'no\.onnx': ENOENT/, () => InferenceSession.create('no.onnx'));
await rejects('no model', TypeError, /^a model is an address/, () => InferenceSession.create(42));
await rejects('detached model', TypeError, /detached/, () => InferenceSession.create(gone));
await rejects('text as a model', Error, /ONNX/i, () => InferenceSession.create(Buffer.from('<!doctype html>')));
await rejects('empty model', TypeError, /./, () => InferenceSession.create(new Uint8Array(0)));
await rejects('no input', RangeError, /^input 'image' is missing; the model has 'image'$/, () => session.run({}));
await rejects('no object', TypeError, /^run\(\) expects/, () => session.run());
await rejects('unknown input', RangeError, /^input 'x' does not exist/, () => session.run({image, x: image}));
await rejects('unknown output', RangeError, /^output 'y' does not exist/, () => session.run({image}, ['y']));
await rejects('wrong type', TypeError, /^input 'image' has elements of type int32, expected float32$/,
    () => session.run({image: new Tensor('int32', new Int32Array(784), [1, 1, 28, 28])}));
await rejects('wrong shape', RangeError, /^input 'image' has the shape \[1,784\], expected \[1,1,28,28\]$/,
    () => session.run({image: image.reshape([1, 784])}));
await rejects('detached tensor', TypeError, /^the data of input 'image' are detached/, () => session.run({image: detached}));
await rejects('array as a tensor', TypeError, /is no tensor/, () => session.run({image: new Float32Array(784)}));
await rejects('size of a tensor', RangeError, /^the shape \[2,2\] has 4 elements, but the data have 3$/, () => new Tensor(new Float32Array(3), [2, 2]));
await rejects('dimension of a tensor', RangeError, /^the dimension -1/, () => new Tensor(new Float32Array(3), [-1]));
await rejects('type of a tensor', TypeError, /^tensors of type 'string'/, () => new Tensor('string', ['a']));
await rejects('data of a tensor', TypeError, /needs data of Float32Array/, () => new Tensor('float32', new Int8Array(3)));
await rejects('device', Error, /device 'gpu'|'gpu'/, () => InferenceSession.create(digits, {device: 'gpu'}));
await rejects('released session', Error, /released/, async () => {
    const closed = await InferenceSession.create(digits);
    await closed.release();
    await closed.run({image});
});
await test('error: damaged models', async () => { // of any byte that is changed: an error of nnrt, or numbers
    const file = readFileSync(digits);
    for (let i = 0; i < 300; i++) {
        const copy = Buffer.from(file);
        copy[(i * 7919) % 4000] ^= 1 << i % 8;
        const part = i % 3 === 0 ? copy.subarray(0, (i * 131) % file.length) : copy;
        const error = await InferenceSession.create(part).then(() => undefined, (e) => e);
        assert.ok(error === undefined || (error.message.length > 10 && error.code?.startsWith('NNRT_')), `${i}: ${error}`);
    }
});
await test('a session is usable after an error', async () => assert.equal((await session.run({image})).probabilities.size, 10));

// ---- relaxed SIMD ----

/* Both modules in a folder each, as the choice has it: the error of a missing file names the other one. */
for (const [file, other, valid] of [['nnrt.wasm', 'nnrt-relaxed.wasm', false], ['nnrt-relaxed.wasm', 'nnrt.wasm', true]])
    await test(`an engine ${valid ? 'with' : 'without'} relaxed SIMD loads ${file}`, async () => {
        const {validate} = WebAssembly, seen = [];
        const create = async (file, options) => {
            const made = await import(`../../../build/web/nnrt/nnrt.js?${Math.random()}`);
            mkdirSync(`${scratch}/${file}.only`, {recursive: true});
            writeFileSync(`${scratch}/${file}.only/${file}`, binary); // the engine of this test may not have relaxed SIMD
            Object.assign(made.env.wasm, {wasmPaths: `${scratch}/${file}.only/`, ...options});
            return made.InferenceSession.create(digits);
        };
        WebAssembly.validate = (bytes) => seen.push(bytes) > 0 && valid;
        try {
            await create(file);
            await assert.rejects(create(other), new RegExp(`/${file}'`));
            await create(other, {simd: valid ? 'fixed' : 'relaxed'});
        } finally {
            WebAssembly.validate = validate;
        }
        assert.equal(seen.length, 2);
        const asked = Buffer.from(seen[0]).toString('hex'); // f32x4.relaxed_madd, i32x4.relaxed_dot_i8x16_i7x16_add_s
        assert.ok(asked.includes('fd8502') && asked.includes('fd9302'), asked);
        if (WebAssembly.validate(readFileSync(`${root}build/web/nnrt/nnrt-relaxed.wasm`)))
            assert.ok(WebAssembly.validate(seen[0]));
    });

/* emulated.wasm has the kernels of nnrt-relaxed.wasm; emulate() chooses what the engine's dot product does (emulated_dot.h). */
const emulated = await WebAssembly.compile(readFileSync(`${root}build/web/emulated.wasm`));
const {InferenceSession: Emulated, env: emulatedEnv} = await import('../../../build/web/nnrt/nnrt.js?emulated');
emulatedEnv.wasm.wasmBinary = emulated;
async function withChoice(choice, body) {
    const {instantiate} = WebAssembly;
    WebAssembly.instantiate = async (...args) => {
        const made = await instantiate(...args);
        made.exports.emulate(choice);
        return made;
    };
    try {
        return await body();
    } finally {
        WebAssembly.instantiate = instantiate;
    }
}
const int8 = readdirSync(`${onnxTests}/node`).filter((n) => /^test_(qlinear|matmulinteger|convinteger|dynamicquantize)/.test(n))
    .map((n) => `${onnxTests}/node/${n}/model.onnx`);
for (const [choice, what] of ['uint8', 'int8', 'uint8 with saturated sums', 'int8 with sums that wrap'].entries())
    await test(`the bits of int8 networks, if the engine's dot product reads ${what}`, async () => {
        for (const model of [`${root}examples/digits/digits_int8.onnx`, `${root}examples/kws/kws_int8.onnx`, ...int8]) {
            const plain = await InferenceSession.create(model), other = await withChoice(choice, () => Emulated.create(model));
            const feeds = Object.fromEntries(plain.inputMetadata.map((i) => [i.name, fill(i.type, i.shape)]));
            const expected = await plain.run(feeds), got = await other.run(feeds);
            for (const name of plain.outputNames)
                assert.ok(bytes(got[name]).equals(bytes(expected[name])), `${model}: ${name}`);
            assert.equal(other.simd, choice < 2 ? 'relaxed' : 'simd128', model);
        }
    });

// ---- workers, and the module inside of the package ----

await test('a worker', async () => {
    const code = `import('${root}build/web/nnrt/nnrt.js').then(async ({InferenceSession, Tensor}) => {
        const s = await InferenceSession.create('${digits}');
        const {probabilities} = await s.run({image: new Tensor('float32', new Float32Array(784), [1, 1, 28, 28])});
        require('node:worker_threads').parentPort.postMessage(probabilities.data);
    })`;
    const worker = new Worker(code, {eval: true});
    const data = await new Promise((done, fail) => worker.on('message', done).on('error', fail));
    assert.deepEqual(data, (await session.run({image})).probabilities.data);
});
await test('the program of docs/web.md', () => {
    const [, code] = /```js\n(.*?)```/s.exec(readFileSync(`${root}docs/web.md`, 'utf8'));
    mkdirSync(`${scratch}/node_modules`, {recursive: true});
    execFileSync('cp', ['-R', `${root}build/web/nnrt`, `${scratch}/node_modules/nnrt`]);
    execFileSync('cp', [digits, `${scratch}/digits.onnx`]);
    writeFileSync(`${scratch}/program.mjs`, `${code}console.log(probabilities.dims.join());`);
    assert.equal(execFileSync('node', ['program.mjs'], {cwd: scratch, encoding: 'utf8'}), '1,10\n');
});
await test('inline.js, by the name of the package', async () => {
    rmSync(`${scratch}/node_modules/nnrt/nnrt.wasm`);
    writeFileSync(`${scratch}/main.mjs`, `import {InferenceSession} from 'nnrt/inline';
        console.log((await InferenceSession.create('${digits}')).inputNames[0]);`);
    assert.equal(execFileSync('node', [`${scratch}/main.mjs`], {encoding: 'utf8'}), 'image\n');
});

await testText(program, scratch);

rmSync(scratch, {recursive: true});
finish();
