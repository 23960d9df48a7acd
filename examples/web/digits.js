/* Recognizes the digit on the drawing area while it is drawn. Lines are lists of points from 0 to 1. */
import {InferenceSession, Tensor} from './nnrt/nnrt.js';

const byId = (id) => document.getElementById(id);
const pad = byId('pad'), SIDE = 28, BOX = 20, PEN = 2.6; // pixels of the network's input, of the digit in it, of the pen
const lines = [], pen = {x: 0.5, y: 0.3, down: false};
const small = new OffscreenCanvas(SIDE, SIDE).getContext('2d', {willReadFrequently: true});
const times = [];
let session;

const bars = Array.from({length: 10}, (_, digit) => {
    const row = document.createElement('li');
    row.innerHTML = `<span>${digit}</span><i></i><b></b>`;
    return byId('bars').appendChild(row);
});

function stroke(context) {
    context.lineCap = context.lineJoin = 'round';
    for (const line of lines) {
        context.beginPath();
        line.forEach(([x, y]) => context.lineTo(x, y));
        context.lineTo(...line[0].map((v, i) => line.length > 1 ? line.at(-1)[i] : v + 1e-4));
        context.stroke();
    }
}

/** Draws the lines, and the pen if it is moved by keys. */
function show() {
    const size = Math.round(pad.clientWidth * devicePixelRatio), style = getComputedStyle(pad), context = pad.getContext('2d');
    pad.width = pad.height = size;
    context.scale(size, size);
    context.lineWidth = 0.075;
    context.strokeStyle = style.color;
    stroke(context);
    if (lines.length === 0) {
        context.font = '0.07px system-ui, sans-serif';
        context.textAlign = 'center';
        context.globalAlpha = 0.6;
        context.fillStyle = style.color;
        context.fillText('draw a digit here', 0.5, 0.52);
        context.globalAlpha = 1;
    }
    if (document.activeElement === pad && pad.matches(':focus-visible')) {
        context.lineWidth = 0.008;
        context.fillStyle = context.strokeStyle = getComputedStyle(byId('digit')).color;
        context.beginPath();
        context.arc(pen.x, pen.y, 0.03, 0, 7);
        if (pen.down)
            context.fill();
        context.stroke();
    }
}

/** The drawing as the network was trained: in a box of 20 pixels, the center of mass in the middle of 28; 1 is ink. */
function input() {
    const points = lines.flat(), xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = (BOX - PEN) / Math.max(right - left, bottom - top, 0.05);
    const draw = (x, y) => {
        small.setTransform(1, 0, 0, 1, 0, 0);
        small.clearRect(0, 0, SIDE, SIDE);
        small.setTransform(scale, 0, 0, scale, x, y);
        small.lineWidth = PEN / scale;
        stroke(small);
        return Float32Array.from({length: SIDE * SIDE}, ((data) => (_, i) => data[4 * i + 3] / 255)(small.getImageData(0, 0, SIDE, SIDE).data));
    };
    const x = SIDE / 2 - scale * (left + right) / 2, y = SIDE / 2 - scale * (top + bottom) / 2;
    const mass = draw(x, y), sum = mass.reduce((a, b) => a + b, 0);
    const mean = (at) => mass.reduce((a, v, i) => a + v * (at(i) + 0.5), 0) / sum;
    return draw(x + SIDE / 2 - mean((i) => i % SIDE), y + SIDE / 2 - mean((i) => Math.floor(i / SIDE)));
}

async function recognize() {
    show();
    if (session === undefined || lines.length === 0)
        return;
    const image = new Tensor('float32', input(), [1, 1, SIDE, SIDE]), begin = performance.now();
    const {probabilities: {data}} = await session.run({image});
    times.unshift(performance.now() - begin);
    times.length = Math.min(times.length, 100);
    const best = data.indexOf(Math.max(...data));
    bars.forEach((row, digit) => {
        row.classList.toggle('best', digit === best);
        row.children[1].style.setProperty('--share', `${100 * data[digit]}%`);
        row.lastChild.textContent = `${(100 * data[digit]).toFixed(0)} %`;
    });
    byId('digit').value = best;
    byId('note').textContent = `${(100 * data[best]).toFixed(0)} % sure`;
    byId('time').textContent = `${(times.reduce((a, b) => a + b) / times.length).toFixed(2)} ms`;
}

function clear() {
    lines.length = 0;
    pen.down = false;
    byId('digit').value = '–';
    byId('note').textContent = session ? 'draw on the left, or above' : 'loading the network …';
    bars.forEach((row) => {
        row.classList.remove('best');
        row.children[1].style.setProperty('--share', '0%');
        row.lastChild.textContent = '';
    });
    show();
}

const at = (event) => [event.offsetX / pad.clientWidth, event.offsetY / pad.clientHeight];
pad.addEventListener('pointerdown', (event) => {
    pad.setPointerCapture(event.pointerId);
    lines.push([at(event)]);
    recognize();
});
pad.addEventListener('pointermove', (event) => {
    if (event.buttons === 0 || lines.length === 0)
        return;
    lines.at(-1).push(at(event));
    recognize();
});
pad.addEventListener('keydown', (event) => {
    const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key] ?? [0, 0];
    if (event.key === 'Escape')
        clear();
    else if (event.key === ' ') {
        pen.down = !pen.down;
        if (pen.down)
            lines.push([[pen.x, pen.y]]);
    } else if (dx === 0 && dy === 0)
        return;
    event.preventDefault();
    pen.x = Math.min(0.96, Math.max(0.04, pen.x + dx * 0.04));
    pen.y = Math.min(0.96, Math.max(0.04, pen.y + dy * 0.04));
    if (pen.down)
        lines.at(-1).push([pen.x, pen.y]);
    recognize();
});
for (const event of ['focus', 'blur'])
    pad.addEventListener(event, show);
byId('clear').addEventListener('click', clear);
new ResizeObserver(show).observe(pad);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);

try {
    const begin = performance.now();
    session = await InferenceSession.create(new URL('digits.onnx', import.meta.url));
    await session.run({image: new Tensor('float32', new Float32Array(SIDE * SIDE), [1, 1, SIDE, SIDE])});
    byId('start').textContent = `${(performance.now() - begin).toFixed(0)} ms`;
    byId('memory').textContent = `${(session.memory.total / 1024).toFixed(0)} KiB`;
    if (lines.length === 0)
        clear();
    else
        recognize();
} catch (error) {
    byId('note').textContent = error.message;
    byId('note').className = 'error';
}
