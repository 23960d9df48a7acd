#!/usr/bin/env node
/* bench.mjs MODEL... : times networks in nnrt and in onnxruntime-web, in one page of Chromium, with one thread. Each network
   is run in turns of 0.1 s by the one and the other; a time is the median of the means of the turns. Then the time from the
   fetch to the first answer, in new pages, and the sizes. Prints a table in Markdown. SIMD=fixed: without relaxed SIMD. */
import {readFileSync} from 'node:fs';
import {cpus} from 'node:os';
import path from 'node:path';
import {brotliCompressSync} from 'node:zlib';

import {launch, root, serve} from './pages.mjs';

const models = process.argv.slice(2), TURNS = Number(process.env.TURNS ?? 15);
const site = await serve(`${root}build/web/site`, `${root}build/web/modules/node_modules/onnxruntime-web/dist`, '/');
const browser = await launch('chromium');

/** In the page: times of one network, and the largest difference of the results in parts of the largest value. */
async function compare([model, turns, simd]) {
    const nnrt = await import('/nnrt/nnrt.js'), ort = await import('/ort.wasm.min.mjs');
    nnrt.env.wasm.simd = simd;
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = 'error';
    const bytes = new Uint8Array(await (await fetch(model)).arrayBuffer());
    const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
    const all = [];
    for (const {InferenceSession, Tensor} of [nnrt, ort]) {
        const session = await InferenceSession.create(bytes.slice()), feeds = {};
        for (const {name, type, shape} of session.inputMetadata) {
            const size = shape.reduce((a, b) => a * b, 1), integer = type !== 'float32';
            const value = (i) => integer ? (type === 'int64' ? BigInt(i % 7) : i % 7) : Math.sin(i * 0.37);
            feeds[name] = new Tensor(type, type === 'int64' ? BigInt64Array.from({length: size}, (_, i) => value(i))
                : Float32Array.from({length: size}, (_, i) => value(i)), shape);
        }
        const run = () => session.run(feeds);
        let count = 0;
        for (const begin = performance.now(); performance.now() - begin < 300; count++) // also compiles the module's hot functions
            await run();
        all.push({run, each: Math.max(1, Math.round(count / 3)), times: [], session});
    }
    for (let turn = 0; turn < turns; turn++)
        for (const one of all) {
            const begin = performance.now();
            for (let i = 0; i < one.each; i++)
                await one.run();
            one.times.push((performance.now() - begin) / one.each);
        }
    const results = await Promise.all(all.map(async (one) => Object.values(await one.run())[0].data));
    const most = results[1].reduce((a, v) => Math.max(a, Math.abs(Number(v))), 1e-30);
    return {times: all.map((one) => median(one.times)), memory: all[0].session.memory.instance,
        ratio: median(all[0].times.map((t, i) => t / all[1].times[i])),
        error: results[0].reduce((a, v, i) => Math.max(a, Math.abs(Number(v) - Number(results[1][i]))), 0) / most};
}

/** In a new page: the milliseconds from the import to the first result. */
async function first(name) {
    const begin = performance.now();
    if (name === 'digits.wasm') { // of nnrt emit-wasm
        const {exports} = (await WebAssembly.instantiateStreaming(fetch('/digits.wasm'))).instance;
        exports.run();
        return performance.now() - begin;
    }
    const library = await import(name);
    if (library.env.wasm)
        library.env.wasm.numThreads = 1;
    const session = await library.InferenceSession.create('/digits.onnx');
    await session.run({image: new library.Tensor('float32', new Float32Array(784), [1, 1, 28, 28])});
    return performance.now() - begin;
}

const page = await browser.newPage();
page.setDefaultTimeout(300_000);
await page.goto(`${site}style.css`);
console.log(`Chromium ${browser.version()}, ${cpus()[0].model}, one thread; milliseconds\n`);
console.log('| Network | nnrt | onnxruntime-web | ratio | largest difference | memory of the instance |\n|---|---|---|---|---|---|');
const ratios = [];
for (const model of models)
    try {
        const {times, ratio, error, memory} = await page.evaluate(compare, [path.resolve(model), TURNS, process.env.SIMD]);
        ratios.push(ratio);
        console.log(`| ${path.basename(model, '.onnx')} | ${times[0].toFixed(3)} | ${times[1].toFixed(3)} | ${ratio.toFixed(2)} | ${error.toExponential(1)} | ${(memory / 2 ** 20).toFixed(1)} MiB |`);
    } catch (error) {
        console.log(`| ${path.basename(model, '.onnx')} | ${error.message.split('\n')[0].slice(0, 120)} | | | | |`);
    }
const mean = Math.exp(ratios.reduce((a, r) => a + Math.log(r), 0) / ratios.length);
console.log(`\ngeometric mean of the ratios ${mean.toFixed(2)}, largest ${Math.max(...ratios).toFixed(2)}; wanted: each at most 0.80: ` +
    `${ratios.filter((r) => r <= 0.8).length} of ${ratios.length} met`);
for (const name of ['digits.wasm', '/nnrt/nnrt.js', '/ort.wasm.min.mjs']) {
    const times = [];
    for (let i = 0; i < 9; i++) {
        const other = await (await browser.newContext()).newPage();
        await other.goto(`${site}style.css`);
        times.push(await other.evaluate(first, name));
        await other.context().close();
    }
    const median = times.sort((a, b) => a - b)[4];
    console.log(`fetch to first answer, digits: ${name} ${median.toFixed(0)} ms` +
        (name.includes('ort') ? '' : `; wanted: at most 30, ${median <= 30 ? 'met' : 'missed'}`));
}
for (const [file, most, mostPacked] of [['nnrt/nnrt.wasm', 900_000, 250_000], ['digits.wasm', 60_000, 60_000]]) {
    const bytes = readFileSync(`${root}build/web/site/${file}`), packed = brotliCompressSync(bytes).length;
    console.log(`${file}: ${bytes.length} bytes, with brotli ${packed}; wanted: at most ${most}, ${mostPacked}, ` +
        (bytes.length <= most && packed <= mostPacked ? 'met' : 'missed'));
}
await browser.close();
