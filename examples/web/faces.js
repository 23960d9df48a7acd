/* Finds faces with MediaPipe's short-range detector, as examples/face/face.c does, which explains each step. */
import {InferenceSession, Tensor} from './nnrt/nnrt.js';

const SIDE = 128, ANCHORS = 896, VALUES = 16, LEAST_SCORE = 0.5, SAME_FACE = 0.3;
const byId = (id) => document.getElementById(id);
const canvas = byId('picture'), context = canvas.getContext('2d', {willReadFrequently: true});
let session;

/** The picture as a square of 128 x 128 means of its pixels, from -1 to 1, with black margins. */
function fillInput({data, width, height}) {
    const scale = SIDE / Math.max(width, height), left = (SIDE - width * scale) / 2, top = (SIDE - height * scale) / 2;
    const input = new Float32Array(SIDE * SIDE * 3);
    for (let i = 0; i < SIDE * SIDE; i++) {
        const x = (i % SIDE - left) / scale, y = (Math.floor(i / SIDE) - top) / scale, sum = [0, 0, 0];
        const right = Math.min(width, Math.ceil(x + 1 / scale)), bottom = Math.min(height, Math.ceil(y + 1 / scale));
        for (let v = Math.max(0, Math.floor(y)); v < bottom; v++)
            for (let u = Math.max(0, Math.floor(x)); u < right; u++) {
                const area = (Math.min(x + 1 / scale, u + 1) - Math.max(x, u)) * (Math.min(y + 1 / scale, v + 1) - Math.max(y, v));
                for (let c = 0; c < 3; c++)
                    sum[c] += area * data[4 * (v * width + u) + c];
            }
        sum.forEach((s, c) => { input[3 * i + c] = s * scale * scale / 127.5 - 1; });
    }
    return {input, scale, left, top};
}

/** Score and box (left, top, right, bottom), then six keypoints (x, y), in pixels of the picture. */
function decode(scores, values, anchor, {scale, left, top}) {
    const cells = anchor < 512 ? 16 : 8, cell = anchor < 512 ? anchor >> 1 : Math.floor((anchor - 512) / 6);
    const middle = [(cell % cells + 0.5) * SIDE / cells, (Math.floor(cell / cells) + 0.5) * SIDE / cells];
    const raw = values.subarray(anchor * VALUES, (anchor + 1) * VALUES);
    const value = Array.from(raw, (r, k) => {
        const at = middle[k % 2] + (k < 4 ? raw[k % 2] + (k < 2 ? -0.5 : 0.5) * raw[2 + k % 2] : r);
        return (at - (k % 2 === 0 ? left : top)) / scale;
    });
    return {score: 1 / (1 + Math.exp(-scores[anchor])), value};
}

const area = ([left, top, right, bottom]) => Math.max(0, right - left) * Math.max(0, bottom - top);

function isSame(a, b) {
    const both = area([Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])]);
    return both > SAME_FACE * (area(a) + area(b) - both);
}

/** Weighted non-maximum suppression: predictions that overlap become one face. */
function merge(found) {
    const faces = [];
    for (let rest = found.sort((a, b) => b.score - a.score); rest.length > 0;) {
        const [best] = rest, same = rest.filter((f) => f === best || isSame(f.value, best.value));
        const sum = same.reduce((a, f) => a + f.score, 0);
        faces.push({score: best.score, value: best.value.map((_, k) => same.reduce((a, f) => a + f.score * f.value[k], 0) / sum)});
        rest = rest.filter((f) => !same.includes(f));
    }
    return faces;
}

function draw(faces) {
    const t = Math.max(2, Math.max(canvas.width, canvas.height) / 200);
    context.lineWidth = t;
    for (const {value: [left, top, right, bottom, ...points]} of faces) {
        context.strokeStyle = '#00dc5a';
        context.strokeRect(left, top, right - left, bottom - top);
        context.fillStyle = '#ffe600';
        for (let k = 0; k < points.length; k += 2)
            context.fillRect(points[k] - t, points[k + 1] - t, 2 * t, 2 * t);
    }
}

async function find(picture) {
    canvas.width = picture.width;
    canvas.height = picture.height;
    context.drawImage(picture, 0, 0);
    const box = fillInput(context.getImageData(0, 0, canvas.width, canvas.height)), [name] = session.inputNames;
    const begin = performance.now();
    const results = Object.values(await session.run({[name]: new Tensor('float32', box.input, [1, SIDE, SIDE, 3])}));
    const time = performance.now() - begin;
    const scores = results.find((t) => t.size === ANCHORS).data, values = results.find((t) => t.size === ANCHORS * VALUES).data;
    const faces = merge(Array.from({length: ANCHORS}, (_, i) => decode(scores, values, i, box)).filter((f) => f.score >= LEAST_SCORE));
    draw(faces);
    byId('count').value = faces.length;
    byId('note').textContent = faces.length === 1 ? 'face' : 'faces';
    byId('time').textContent = `${time.toFixed(1)} ms`;
    byId('memory').textContent = `${(session.memory.total / 1024).toFixed(0)} KiB`;
    byId('faces').replaceChildren(...faces.map(({score, value}) => {
        const row = document.createElement('li');
        row.innerHTML = `<span>${Math.round(value[2] - value[0])} × ${Math.round(value[3] - value[1])} px</span><b>${(100 * score).toFixed(0)} %</b>`;
        row.dataset.box = value.slice(0, 4).map((v) => v.toFixed(1)).join(' ');
        return row;
    }));
}

async function attempt(work) {
    try {
        byId('note').className = '';
        await work();
    } catch (error) {
        byId('note').textContent = error.message;
        byId('note').className = 'error';
    }
}

const open = (blob) => attempt(async () => find(await createImageBitmap(blob)));
const sample = () => attempt(async () => find(await createImageBitmap(await (await fetch(new URL('picture.png', import.meta.url))).blob())));
byId('file').addEventListener('change', (event) => event.target.files[0] && open(event.target.files[0]));
byId('sample').addEventListener('click', sample);
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0])
        open(event.dataTransfer.files[0]);
});
await attempt(async () => {
    session = await InferenceSession.create(new URL('face_detection_short_range.tflite', import.meta.url));
    await sample();
});
