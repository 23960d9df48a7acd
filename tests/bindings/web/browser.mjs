#!/usr/bin/env node
/* browser.mjs : tests the example pages and the package in Chromium and Firefox: draws digits with mouse and keyboard and
   reads the answers; finds the faces of examples/face/picture.png; generates text with examples/text/model.gguf; widths, dark
   mode, errors, workers. Screenshots are in build/web/screenshots. Ends with "N passed, N failed". */
import assert from 'node:assert/strict';
import {mkdirSync} from 'node:fs';

import {launch, root, serve} from './pages.mjs';
import {finish, test} from './tests.mjs';

const screenshots = `${root}build/web/screenshots`;
/* Strokes of digits, in parts of the drawing area. */
const DIGITS = {
    0: [[[.5, .2], [.36, .26], [.3, .5], [.36, .74], [.5, .8], [.64, .74], [.7, .5], [.64, .26], [.5, .2]]],
    1: [[[.5, .2], [.5, .8]]],
    3: [[[.32, .25], [.5, .18], [.66, .28], [.62, .42], [.46, .48], [.64, .54], [.7, .68], [.52, .82], [.3, .74]]],
    4: [[[.35, .2], [.3, .5], [.7, .5]], [[.66, .2], [.66, .82]]],
    7: [[[.3, .25], [.7, .25], [.45, .8]]],
};
/* What examples/face/face.c, which reads the file itself, prints for its picture: make face. */
const FACES = [[55.4, 139.2, 142.8, 226.7], [338.9, 145.1, 426.3, 232.5], [189.6, 112.4, 289.5, 212.3]];
const site = await serve(`${root}build/web/site`, `${root}examples`);

const answer = (page) => page.locator('#digit').textContent();
const ready = (page) => page.waitForFunction(() => document.getElementById('start').textContent !== '–');

async function draw(page, strokes) {
    const box = await page.locator('#pad').boundingBox();
    const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
    for (const [first, ...rest] of strokes) {
        await page.mouse.move(...at(first));
        await page.mouse.down();
        for (const point of rest)
            await page.mouse.move(...at(point), {steps: 3});
        await page.mouse.up();
    }
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
}

async function pages(browser, name) {
    const page = await browser.newPage({viewport: {width: 1280, height: 800}, colorScheme: 'light'}), errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${site}index.html`);
    await ready(page);
    for (const [digit, strokes] of Object.entries(DIGITS))
        await test(`${name}: the digit ${digit} with the mouse`, async () => {
            await page.click('#clear');
            assert.equal(await answer(page), '–');
            await draw(page, strokes);
            assert.equal(await answer(page), digit);
            assert.match(await page.locator('#time').textContent(), /^\d+\.\d\d ms$/);
            assert.match(await page.locator('#memory').textContent(), /^\d+ KiB$/);
        });
    await test(`${name}: a digit by keyboard`, async () => {
        await page.focus('#pad');
        await page.keyboard.press('Escape');
        assert.equal(await answer(page), '–');
        for (const [key, times] of [['ArrowUp', 3], [' ', 1], ['ArrowDown', 15], [' ', 1], ['ArrowRight', 3]])
            for (let i = 0; i < times; i++)
                await page.keyboard.press(key);
        assert.equal(await answer(page), '1');
        await page.screenshot({path: `${screenshots}/${name}-keyboard.png`});
    });
    await test(`${name}: the answer appears while a line is drawn`, async () => {
        await page.click('#clear');
        const box = await page.locator('#pad').boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width / 2, box.y + 250, {steps: 8});
        await page.waitForFunction(() => document.getElementById('digit').value === '1', undefined, {timeout: 60_000});
        await page.mouse.up();
    });
    await test(`${name}: the faces of the picture`, async () => {
        await page.goto(`${site}faces.html`);
        await page.waitForFunction(() => document.querySelector('#faces li, .error'));
        const boxes = await page.locator('#faces li').evaluateAll((rows) => rows.map((r) => r.dataset.box.split(' ').map(Number)));
        assert.equal(boxes.length, FACES.length);
        boxes.flat().forEach((v, i) => assert.ok(Math.abs(v - FACES.flat()[i]) <= 1, `${boxes}, expected ${FACES}`));
    });
    await test(`${name}: a file that is no picture`, async () => {
        await page.setInputFiles('#file', {name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture')});
        await page.waitForFunction(() => document.querySelector('.error')?.textContent.length > 5);
    });
    await test(`${name}: text of a language model, stopped and continued`, async () => {
        const note = (text) => page.waitForFunction((t) => document.getElementById('note').textContent.startsWith(t), text, {timeout: 60_000});
        await page.goto(`${site}text.html`);
        assert.ok(await page.locator('#write').isDisabled());
        await page.setInputFiles('#file', {name: 'x.gguf', mimeType: '', buffer: Buffer.from('no model')});
        await page.waitForFunction(() => document.querySelector('#note.error')?.textContent.includes('GGUF'));
        await page.setInputFiles('#file', `${root}examples/text/model.gguf`);
        await page.waitForFunction(() => !document.getElementById('write').disabled, undefined, {timeout: 60_000});
        await page.fill('#prompt', 'In the beginning');
        await page.fill('#temperature', '0');
        await page.fill('#tokens', '30');
        const texts = () => page.locator('#text p').allTextContents();
        await page.click('#write');
        await note('done');
        const [whole] = await texts();
        assert.ok(whole.startsWith('In the beginning') && whole.length > 40, whole);
        assert.match(await page.locator('#speed').textContent(), /^[\d.]+ tokens\/s$/);
        await page.click('#clear');
        await page.fill('#tokens', '900');
        await page.click('#write');
        await page.waitForFunction((length) => document.getElementById('text').textContent.length > length, whole.length);
        await page.click('#stop');
        await page.waitForFunction(() => !document.getElementById('write').disabled, undefined, {timeout: 60_000});
        assert.ok((await texts())[0].startsWith(whole));
        await page.screenshot({path: `${screenshots}/${name}-text.png`, fullPage: true});
    });
    await test(`${name}: no errors in the pages`, () => assert.deepEqual(errors, []));
    await page.close();
}

/* Both pages at three widths: the colors tell light from dark; no page is wider than the window. */
async function looks(name) {
    const seen = new Set();
    for (const colorScheme of ['light', 'dark']) {
        const browser = await launch(name, colorScheme === 'dark');
        const digits = await browser.newPage({colorScheme}), faces = await browser.newPage({colorScheme}), text = await browser.newPage({colorScheme});
        await text.goto(`${site}text.html`);
        await faces.goto(`${site}faces.html`);
        await faces.waitForFunction(() => document.querySelector('#faces li, .error'));
        await digits.goto(`${site}index.html`);
        await ready(digits);
        for (const width of [360, 768, 1280])
            await test(`${name}: ${width} pixels, ${colorScheme}`, async () => {
                for (const page of [faces, digits, text]) {
                    await page.setViewportSize({width, height: 800});
                    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');
                }
                await digits.click('#clear');
                await draw(digits, DIGITS[7]);
                assert.equal(await answer(digits), '7');
                seen.add((await digits.locator('#pad').screenshot()).toString('base64'));
                await digits.screenshot({path: `${screenshots}/${name}-digits-${width}-${colorScheme}.png`, fullPage: true});
                await text.screenshot({path: `${screenshots}/${name}-text-${width}-${colorScheme}.png`, fullPage: true});
                await faces.screenshot({path: `${screenshots}/${name}-faces-${width}-${colorScheme}.png`, fullPage: true});
                const [paper, ink] = await digits.evaluate(() => [document.body, document.querySelector('h1')].map((e, i) =>
                    getComputedStyle(e)[i ? 'color' : 'backgroundColor'].match(/\d+/g).map(Number).reduce((a, b) => a + b) / 765));
                assert.ok(colorScheme === 'dark' ? paper < 0.2 && ink > 0.8 : paper > 0.8 && ink < 0.2, `${paper} ${ink}`);
                assert.ok(await digits.locator('#clear').evaluate((e) => e.clientHeight >= 40), 'the button is too small for a finger');
            });
        await browser.close();
    }
    await test(`${name}: the drawing is another one at each width, and in the dark`, () => assert.equal(seen.size, 6));
}

/* The package itself, in a page without anything else. */
async function library(browser, name) {
    const page = await browser.newPage();
    await page.goto(`${site}style.css`);
    const run = (body) => page.evaluate(`(async () => {
        const {InferenceSession, Tensor} = await import('${site}nnrt/nnrt.js');
        const image = new Tensor('float32', new Float32Array(784), [1, 1, 28, 28]);
        const fails = (work) => work().then(() => 'no error', (e) => e.constructor.name + ': ' + e.message);
        ${body} })()`);
    await test(`${name}: from memory and from an address, the same numbers`, async () => {
        assert.deepEqual(await run(`const a = await InferenceSession.create('digits.onnx');
            const b = await InferenceSession.create(await (await fetch('digits.onnx')).arrayBuffer());
            const out = async (s) => [...(await s.run({image})).probabilities.data];
            return String(await out(a)) === String(await out(b));`), true);
    });
    await test(`${name}: the module that the engine has the instructions for; both have the same bits of int8 networks`, async () => {
        const {valid, loaded, same} = await run(`
            const valid = WebAssembly.validate(await (await fetch('nnrt/nnrt-relaxed.wasm?valid')).arrayBuffer());
            const loaded = performance.getEntriesByType('resource').map((e) => e.name.split('/').pop()).filter((n) => n.endsWith('.wasm'));
            const outputs = async (simd) => {
                const {InferenceSession, Tensor, env} = await import('${site}nnrt/nnrt.js?' + simd);
                env.wasm.wasmPaths = '${site}nnrt/';
                env.wasm.simd = simd;
                const all = [];
                for (const file of ['digits/digits_int8.onnx', 'kws/kws_int8.onnx']) {
                    const s = await InferenceSession.create(file), [{name, type, shape}] = s.inputMetadata;
                    const data = Array.from({length: shape.reduce((a, b) => a * b)}, (_, i) => Math.sin(i * i) * (type === 'int8' ? 127 : 1));
                    all.push(...Object.values(await s.run({[name]: new Tensor(type, data, shape)})).flatMap((t) => [...t.data]));
                }
                return String(all);
            };
            return {valid, loaded, same: !valid || await outputs('fixed') === await outputs('relaxed')};`);
        assert.deepEqual(loaded, [valid ? 'nnrt-relaxed.wasm' : 'nnrt.wasm']);
        assert.ok(same);
        assert.ok(valid || name !== 'chromium');
    });
    await test(`${name}: errors`, async () => {
        assert.match(await run("return fails(() => InferenceSession.create('no.onnx'));"), /^Error: cannot fetch 'no\.onnx': the server answers 404/);
        assert.match(await run("return fails(() => InferenceSession.create('style.css'));"), /^Error: .*ONNX/i);
        assert.match(await run("const s = await InferenceSession.create('digits.onnx'); return fails(() => s.run({image: image.reshape([784])}));"),
            /^RangeError: input 'image' has the shape \[784\], expected \[1,1,28,28\]$/);
        assert.match(await run(`const s = await InferenceSession.create('digits.onnx'); structuredClone(image.data.buffer, {transfer: [image.data.buffer]});
            return fails(() => s.run({image}));`), /^TypeError: the data of input 'image' are detached/);
    });
    await test(`${name}: a worker, with the module inside of the package`, async () => {
        const code = `import {InferenceSession, Tensor} from '${site}nnrt/inline.js';
            const s = await InferenceSession.create('${site}digits.onnx');
            postMessage((await s.run({image: new Tensor('float32', new Float32Array(784), [1, 1, 28, 28])})).probabilities.dims);`;
        assert.deepEqual(await page.evaluate((text) => new Promise((done, fail) => {
            const worker = new Worker(URL.createObjectURL(new Blob([text], {type: 'text/javascript'})), {type: 'module'});
            worker.onmessage = (event) => done(event.data);
            worker.onerror = (event) => fail(new Error(event.message));
        }), code), [1, 10]);
    });
    await page.close();
}

mkdirSync(screenshots, {recursive: true});
for (const name of ['chromium', 'firefox']) {
    const browser = await launch(name);
    console.log(`${name} ${browser.version()}`);
    await pages(browser, name);
    await library(browser, name);
    await browser.close();
    await looks(name);
}
finish();
