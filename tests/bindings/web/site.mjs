#!/usr/bin/env node
/* site.mjs : tests the site of build/site in Chromium, from a server below a path and from its folder: every page at four
   widths, light and dark; contrast; search, menu and demos by keyboard and mouse; no request leaves the site. Screenshots are
   in build/site-shots. Ends with "N passed, N failed". */
import assert from 'node:assert/strict';
import {mkdirSync, readdirSync, rmSync} from 'node:fs';

import {launch, root, serve} from './pages.mjs';
import {finish, test} from './tests.mjs';

const folder = `${root}build/site/`, shots = `${root}build/site-shots`, base = `${await serve(`${root}build`)}site/`;
const WIDTHS = [360, 768, 1280, 1920];
const SHOWN = ['index.html', 'docs/getting-started.html', 'docs/OPERATORS.html', 'charts.html', 'docs/SPEED.html', 'docs/ONNX.html',
    'demo/index.html', 'demo/faces.html', 'examples/hello.c.html'];
const SEVEN = [[0.3, 0.25], [0.7, 0.25], [0.45, 0.8]];
/** A page that records its errors, and requests that leave the site. */
async function open(browser, options = {}) {
    const page = await browser.newPage(options);
    page.faults = [];
    page.on('pageerror', (error) => page.faults.push(error.message));
    page.on('requestfailed', (request) => /ABORTED/.test(request.failure().errorText) || // by the next page
        page.faults.push(`${request.url().slice(0, 200)}: ${request.failure().errorText}`));
    page.on('response', (response) => response.status() >= 400 && page.faults.push(`${response.url()}: ${response.status()}`));
    page.on('request', (request) => /^(data|blob|file):/.test(request.url()) || request.url().startsWith(base) ||
        page.faults.push(`requests ${request.url()}`));
    return page;
}

/** Texts with less contrast than WCAG's 4.5, large ones 3. The background is that of the first ancestor that is nearly opaque. */
function faintTexts() {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const pixel = (color) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, k, i) =>
        sum + k * (c[i] / 255 <= 0.04045 ? c[i] / 255 / 12.92 : ((c[i] / 255 + 0.055) / 1.055) ** 2.4), 0);
    const faint = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement, style = getComputedStyle(element);
        if (walker.currentNode.data.trim() === '' || !element.checkVisibility({opacityProperty: true}) || element.closest('script, .skip, svg'))
            continue;
        let behind = element;
        while (behind.parentElement && pixel(getComputedStyle(behind).backgroundColor)[3] < 200)
            behind = behind.parentElement;
        const [a, b] = [light(pixel(style.color)), light(pixel(getComputedStyle(behind).backgroundColor))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
            faint.add(`${element.tagName}.${element.className} ${walker.currentNode.data.trim().slice(0, 30)} ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
    }
    return [...faint].slice(0, 5);
}

/* Wider than the window: the page. Wider than its box: code, of the front page always, of others if the box does not scroll. */
const overflow = () => {
    const front = document.body.classList.contains('front');
    const wide = [...document.querySelectorAll('pre')].find((pre) => pre.scrollWidth > pre.clientWidth &&
        (front || !['auto', 'scroll'].includes(getComputedStyle(pre).overflowX)));
    return document.documentElement.scrollWidth > innerWidth ? `the page has ${document.documentElement.scrollWidth} pixels`
        : wide ? `code has ${wide.scrollWidth} pixels in a box of ${wide.clientWidth}: ${wide.textContent.slice(0, 40)}` : '';
};

async function layouts(browser, scheme, names, isShown) {
    const page = await open(browser, {colorScheme: scheme});
    for (const name of names)
        await test(`${name}, ${scheme}`, async () => {
            page.faults.length = 0;
            await page.goto(base + name, {waitUntil: isShown ? 'networkidle' : 'load'});
            for (const width of WIDTHS) {
                await page.setViewportSize({width, height: width === 360 ? 780 : 900});
                assert.equal(await page.evaluate(overflow), '', `${width} pixels`);
                if (isShown)
                    await page.screenshot({path: `${shots}/${name.replace(/\W/g, '-')}-${width}-${scheme}.png`});
            }
            if (isShown)
                assert.deepEqual(await page.evaluate(faintTexts), [], 'contrast');
            assert.deepEqual(page.faults, []);
        });
    await page.close();
}

/** Types into the search, and opens the result that is selected. Returns the results. */
async function search(page, text) {
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.waitForFunction((t) => document.querySelector('#search').value === t && !document.querySelector('#results').hidden, text);
    await page.waitForTimeout(100);
    return page.locator('#results [role=option] b').allTextContents();
}

/* Names of nnrt, ONNX and TensorFlow Lite, and words: the first result, and the address that Enter opens. */
const SEARCHES = [['Conv', /^CONV2D_FUSION/, '#CONV2D_FUSION'], ['LSTM', /^LSTM /, '#LSTM'], ['quantize', /^QUANT_DTYPE_CAST/, '#QUANT_DTYPE_CAST'],
    ['FULLY_CONNECTED', /^FULL_CONNECTION/, '#FULL_CONNECTION'], ['dynamic shapes', /^Dynamic shapes/, 'dynamic-shapes.html']];

async function searches(page, address) {
    for (const [text, first, target] of address === base ? SEARCHES : SEARCHES.slice(0, 1))
        await test(`search ${text} at ${address}`, async () => {
            await page.goto(`${address}docs/web.html`);
            const found = await search(page, text);
            assert.match(found[0], first);
            if (text === 'quantize')
                assert.ok(found.slice(0, 5).includes('Quantization'), String(found));
            await page.keyboard.press('Enter');
            await page.waitForURL((url) => url.href.includes(target));
        });
}

async function draw(page) {
    await page.waitForFunction(() => document.getElementById('start').textContent !== '–');
    const box = await page.locator('#pad').boundingBox();
    for (const [i, [x, y]] of SEVEN.entries()) {
        await page.mouse.move(box.x + x * box.width, box.y + y * box.height, {steps: 4});
        if (i === 0)
            await page.mouse.down();
    }
    await page.mouse.up();
    await page.waitForFunction(() => document.getElementById('digit').value === '7', undefined, {timeout: 20_000});
}

async function demos(page, address) {
    for (const name of ['index.html', 'demo/index.html'])
        await test(`a digit, drawn at ${address}${name}`, async () => {
            await page.goto(address + name);
            await draw(page);
            await page.screenshot({path: `${shots}/drawn-${name.replace(/\W/g, '-')}-${address.startsWith('file') ? 'folder' : 'server'}.png`});
            await page.focus('#pad');
            await page.keyboard.press('Escape');
            for (const [key, times] of [['ArrowUp', 3], [' ', 1], ['ArrowDown', 15], [' ', 1]])
                for (let i = 0; i < times; i++)
                    await page.keyboard.press(key);
            await page.waitForFunction(() => document.getElementById('digit').value === '1', undefined, {timeout: 20_000});
        });
    await test(`faces at ${address}`, async () => {
        await page.goto(`${address}demo/faces.html`);
        await page.waitForFunction(() => document.getElementById('count').value === '3', undefined, {timeout: 20_000});
    });
}

async function keyboard(page) {
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
    await test('the keyboard reaches navigation, search and content', async () => {
        await page.setViewportSize({width: 1440, height: 900});
        await page.goto(`${base}docs/web.html`);
        const seen = [];
        for (let i = 0; i < 12; i++) {
            await page.keyboard.press('Tab');
            seen.push(await focused());
        }
        assert.deepEqual(seen.slice(0, 8), ['Skip to the content', 'nnrt', 'Get started', 'Operators', 'Speed', 'Demo', 'search', 'Start']);
        assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'solid');
        await page.goto(`${base}docs/web.html`);
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        assert.equal(await focused(), 'content');
    });
    await test('the menu of a narrow window', async () => {
        await page.setViewportSize({width: 375, height: 812});
        await page.goto(`${base}docs/web.html`);
        assert.ok(await page.locator('#pages').isHidden());
        await page.focus('#menu');
        await page.keyboard.press('Enter');
        assert.ok(await page.locator('#pages a[aria-current]').isVisible());
        await page.screenshot({path: `${shots}/menu-375.png`});
        await page.keyboard.press('Escape');
        assert.ok(await page.locator('#pages').isHidden());
        assert.equal(await focused(), 'menu');
        await search(page, 'softmax');
        await page.screenshot({path: `${shots}/search-375.png`});
        assert.equal(await page.evaluate(overflow), '');
        await page.setViewportSize({width: 1440, height: 900});
        await page.screenshot({path: `${shots}/search-1440.png`});
    });
    await test('the filter of the operators', async () => {
        await page.goto(`${base}docs/OPERATORS.html`);
        const all = await page.locator('.operator').count();
        await page.fill('#filter', 'averagepool');
        const left = await page.locator('.operator:visible h3 a').allTextContents();
        assert.ok(all >= 189 && left.includes('AVGPOOL_FUSION') && left.length < 10, `${all}, ${left}`);
        await page.screenshot({path: `${shots}/filter-1440.png`});
    });
}

rmSync(shots, {recursive: true, force: true});
mkdirSync(shots, {recursive: true});
/* Pages of source files have one layout: one of them stands for all. */
const guides = readdirSync(folder, {recursive: true}).filter((f) => f.endsWith('.html') && !/\.\w+\.html$/.test(f)).sort();
for (const scheme of ['light', 'dark']) {
    const browser = await launch('chromium');
    if (scheme === 'light')
        await layouts(browser, scheme, guides.filter((f) => !SHOWN.includes(f)), false);
    await layouts(browser, scheme, SHOWN, true);
    await browser.close();
}
for (const [name, addresses] of [['chromium', [base, `file://${folder}`]], ['firefox', [`file://${folder}`]]]) {
    const browser = await launch(name);
    const page = await open(browser, {viewport: {width: 1440, height: 900}});
    for (const address of addresses) {
        await searches(page, address);
        await demos(page, address);
    }
    if (name === 'chromium')
        await keyboard(page);
    await test(`${name}: no errors, and no request leaves the site`, () => assert.deepEqual(page.faults, []));
    await browser.close();
}
finish();
