// wake_compare.mjs FOLDER FILE.wav WORD... < SCORES: compares the lines of `wake --scores FOLDER FILE.wav WORD...` with
// the scores that ONNX Runtime computes for the same sound, and prints the largest difference of each word.
// FILE.wav: 16 kHz, mono. Status 1 if a difference exceeds 1e-5.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const ort = createRequire(process.cwd() + '/build/compare/')('onnxruntime-node');
const [folder, file, ...words] = process.argv.slice(2);
const open = name =>
    ort.InferenceSession.create(`${folder}/${name}.onnx`, { intraOpNumThreads: 1, logSeverityLevel: 3 });
const [mel, embed, ...nets] = await Promise.all(['melspectrogram', 'embedding_model', ...words].map(open));
const run = async (net, values, dims) =>
    (await net.run({ [net.inputNames[0]]: new ort.Tensor('float32', values, dims) }))[net.outputNames[0]].data;

const wav = fs.readFileSync(file), data = wav.indexOf('data') + 8;
const bytes = wav.subarray(data, wav.length - ((wav.length - data) & 1)), sound = new Int16Array(bytes.length / 2);
sound.forEach((_, i) => { sound[i] = bytes.readInt16LE(2 * i); });
const ours = fs.readFileSync(0, 'utf8').trim().split('\n').map(line => line.trim().split(/\s+/));
const samples = new Float32Array(1760), frames = new Float32Array(76 * 32), history = new Float32Array(40 * 96);
const worst = words.map(() => 0);
let random = 1, line = 0;
for (let k = -50; k * 1280 < sound.length; k++) {
    samples.copyWithin(0, 1280);
    for (let i = 0; i < 1280; i++) {
        if (k < 0)
            random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
        samples[480 + i] = k < 0 ? Math.fround((random >>> 16) / Math.fround(32.768)) - 1000 : sound[k * 1280 + i] ?? 0;
    }
    frames.copyWithin(0, 8 * 32);
    frames.set((await run(mel, samples, [1, 1760])).map(v => Math.fround(v / 10) + 2), 68 * 32);
    history.copyWithin(0, 96);
    history.set(await run(embed, frames, [1, 76, 32, 1]), 39 * 96);
    for (let w = 0; w < words.length && k >= 0; w++) {
        const inputs = nets[w].inputMetadata[0].shape[1];
        const [score] = await run(nets[w], history.slice((40 - inputs) * 96), [1, inputs, 96]);
        const [time, , name, found] = ours[line++] ?? [];
        const now = (k + 1) * 0.08;
        if (name !== words[w] || !(Math.abs(time - now) < 0.006))
            throw new Error(`line ${line}: ${time} s of ${name}, expected ${now.toFixed(2)} s of ${words[w]}`);
        worst[w] = Math.max(worst[w], Math.abs(found - score));
    }
}
if (line !== ours.length)
    throw new Error(`${ours.length} lines, expected ${line}`);
words.forEach((word, w) =>
    console.log(`${word}: ${line / words.length} scores, largest difference ${worst[w].toExponential(1)}`));
process.exit(worst.every(difference => difference < 1e-5) ? 0 : 1);
