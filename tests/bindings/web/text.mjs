/* text.mjs - tests nnrt/text in Node.js with the model of examples/text, beside the command line, which has other kernels:
   tokens, greedy texts, seeds, interruptions, errors, memory. run.mjs calls it. */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {cpSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {brotliCompressSync} from 'node:zlib';

import {TextModel} from '../../../build/web/nnrt/text.js';
import {test} from './tests.mjs';

const root = new URL('../../../', import.meta.url).pathname;
const file = process.env.NNRT_TEXT_MODEL ?? `${root}examples/text/model.gguf`;
const PROMPT = 'In the beginning', TOKENS = 48;
// Bytes of the modules and of their brotli forms; a test allows 1 % more, as run.mjs does.
const SIZES = [['nnrt-text.wasm', 1_043_100, 350_500], ['nnrt-text-relaxed.wasm', 1_140_200, 361_000]];

async function all(iterator) {
    const parts = [];
    for await (const part of iterator)
        parts.push(part);
    return parts.join('');
}

/** A GGUF file with one more key. Its place is right behind the counts; its bytes are a multiple of the alignment of tensors. */
function withTemplate(bytes, template) {
    const key = 'tokenizer.chat_template', room = 8 + key.length + 4 + 8, text = template.padEnd(Math.ceil((room + template.length) / 32) * 32 - room);
    const entry = Buffer.alloc(room + text.length), counts = Buffer.from(bytes.subarray(0, 24));
    entry.writeBigUInt64LE(BigInt(key.length));
    entry.write(key, 8);
    entry.writeUInt32LE(8, 8 + key.length); // a string
    entry.writeBigUInt64LE(BigInt(text.length), room - 8);
    entry.write(text, room);
    counts.writeBigUInt64LE(counts.readBigUInt64LE(16) + 1n, 16);
    return Buffer.concat([counts, entry, bytes.subarray(24)]);
}

const fails = async (work, kind, message) => assert.rejects(async () => work(), (error) => {
    assert.ok(error instanceof kind && message.test(error.message), `${error.constructor.name}: ${error.message}`);
    return true;
});

/** program: the command line; scratch: a folder for files. */
export async function testText(program, scratch) {
    const command = (...words) => execFileSync(program, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
    for (const [name, size, packed] of SIZES)
        await test(`size of ${name}`, async () => {
            const bytes = readFileSync(`${root}build/web/nnrt/${name}`), small = brotliCompressSync(bytes).length;
            console.log(`${name} ${bytes.length} bytes, with brotli ${small}`);
            assert.ok(bytes.length <= 1.01 * size && small <= 1.01 * packed, `${bytes.length} bytes, with brotli ${small}`);
            if (!name.includes('relaxed')) // Node.js 18 cannot compile the other one
                assert.deepEqual(WebAssembly.Module.imports(await WebAssembly.compile(bytes)), []);
        });

    const model = await TextModel.create(file, {context: 128});
    const plain = command('generate', file, '--prompt', PROMPT, '--tokens', String(TOKENS), '--quiet').replace(/\n$/, '');
    await test('tokens are those of the command line', () => {
        for (const text of ['', 'a', PROMPT, ' two  spaces\n', 'Zürich 北京 🙂 \u0000 end', '<|im_end|> </s>', 'x'.repeat(500)]) {
            const expected = text.includes('\u0000') ? undefined : command('tokenize', file, '--text', text, '--no-affixes').trim();
            const got = [...model.tokenize(text, {affixes: false})].join();
            assert.ok(got === (expected ?? got), `${JSON.stringify(text)}: ${got}, expected ${expected}`);
        }
        assert.equal(model.tokenize('\u0000 a').length > 0, true);
    });
    await test('the most likely text is that of the command line', async () => {
        assert.equal(await all(model.generate(PROMPT, {tokens: TOKENS})), plain);
        assert.equal(model.position, model.tokenize(PROMPT).length + TOKENS);
        assert.equal(command('tokenize', file, '--decode', [...model.tokens].join()).replace(/\n$/, '').trim(), `${PROMPT}${plain}`.trim());
    });
    await test('after rewind(), and with a batch of 1 and 3 tokens, the same text; each token of the prompt is reported', async () => {
        model.rewind();
        assert.equal(await all(model.generate(PROMPT, {tokens: TOKENS})), plain);
        for (const batch of [1, 3]) {
            const other = await TextModel.create(readFileSync(file), {context: 100, batch}), seen = [];
            assert.equal(await all(other.generate(PROMPT, {tokens: TOKENS, onProgress: (...is) => seen.push(is)})), plain);
            const count = model.tokenize(PROMPT).length;
            assert.deepEqual(seen, Array.from({length: Math.ceil(count / batch)}, (_, i) => [Math.min(count, (i + 1) * batch), count]));
        }
    });
    await test('a text that was interrupted goes on as if it had not been', async () => {
        const stop = new AbortController(), parts = [];
        model.rewind();
        for await (const part of model.generate(PROMPT, {tokens: TOKENS, signal: stop.signal}))
            if (parts.push(part) === 10)
                stop.abort();
        const left = TOKENS - (model.position - model.tokenize(PROMPT).length);
        assert.ok(left > 0 && left < TOKENS);
        assert.equal(parts.join('') + await all(model.generate('', {tokens: left})), plain);
        model.rewind();
        for await (const part of model.generate(PROMPT, {tokens: TOKENS})) { // the loop of the caller ends
            assert.ok(plain.startsWith(part));
            break;
        }
        model.rewind();
        assert.equal(await all(model.generate(PROMPT, {tokens: TOKENS})), plain);
    });
    await test('a seed chooses the same text, another one another text', async () => {
        const write = async (how) => {
            model.rewind();
            model.sampling({temperature: 1.5, topK: 50, ...how});
            return all(model.generate(PROMPT, {tokens: TOKENS}));
        };
        const texts = [await write({seed: 1}), await write({seed: 1}), await write({seed: 2}), await write({seed: 2 ** 32 - 1})];
        assert.equal(texts[0], texts[1]);
        assert.equal(new Set(texts).size, 3);
        assert.equal(await write({topK: 1}), plain);
        model.sampling();
    });
    await test('a full context ends the text, and a longer prompt is refused; nothing is allocated meanwhile', async () => {
        const {instance, total, cache} = model.memory;
        model.rewind();
        await all(model.generate(PROMPT, {tokens: 1000}));
        assert.equal(model.position, model.context);
        await fails(() => all(model.generate('more')), Error, /^\d+ tokens after 128 exceed the context of 128 tokens$/);
        assert.equal(model.position, model.context);
        assert.equal(model.memory.instance, instance);
        assert.ok(cache > 0 && cache < total && total < instance);
    });
    await test('errors', async () => {
        model.rewind();
        await fails(() => all(model.generate('')), Error, /^the prompt has no tokens$/);
        await fails(() => all(model.generate(PROMPT, {tokens: -1})), RangeError, /^tokens is -1, expected an integer from 0 to/);
        await fails(() => model.rewind(model.position + 1), RangeError, /^position is/);
        await fails(() => model.sampling({temperature: -1}), Error, /temperature/);
        await fails(() => model.sampling({seed: 0.5}), RangeError, /^seed is 0\.5/);
        await fails(() => TextModel.create(file, {context: 0}), RangeError, /^context is 0, expected/);
        await fails(() => TextModel.create(7), TypeError, /^a model is an address/);
        await fails(() => TextModel.create(`${root}no.gguf`), Error, /^cannot read/);
        await fails(() => TextModel.create(new Uint8Array(100)), Error, /GGUF/);
        await fails(() => TextModel.create(readFileSync(file).subarray(0, 20000)), Error, /./);
        const running = model.generate(PROMPT);
        await running.next();
        await fails(() => all(model.generate(PROMPT)), Error, /^the model generates a text already$/);
        await running.return();
        const other = await TextModel.create(file);
        await other.release();
        await fails(() => all(other.generate(PROMPT)), Error, /^the model was released/);
    });
    await test('chat, with the replies of the command line', async () => {
        const chatting = path.join(scratch, 'chat.gguf'), messages = ['Hello', 'And then? <|im_end|>'];
        writeFileSync(chatting, withTemplate(readFileSync(file), '<|im_start|>role <|im_end|>'));
        const lines = execFileSync(program, ['generate', chatting, '--chat', '--system', 'You write.', '--tokens', '9', '--context', '400', '--quiet'],
            {encoding: 'utf8', input: `${messages.join('\n')}\n`});
        const other = await TextModel.create(chatting, {context: 400}), replies = [];
        assert.equal(other.template, 'chatml');
        for (const message of messages)
            replies.push(await all(other.chat(message, {tokens: 9, system: 'You write.'})));
        assert.equal(`${replies.join('\n')}\n`, lines);
        const text = command('tokenize', file, '--decode', [...other.tokens].join());
        assert.ok(text.includes(`system\nYou write.`) && text.indexOf('Hello') < text.indexOf('And then?'), text);
        if (model.template === undefined)
            await fails(() => all(model.chat('Hello')), Error, /no chat template/);
    });
    await test('the second program of docs/web.md', () => {
        const [, [, code]] = readFileSync(`${root}docs/web.md`, 'utf8').matchAll(/```js\n(.*?)```/gs);
        cpSync(file, path.join(scratch, 'model.gguf'));
        writeFileSync(path.join(scratch, 'second.mjs'), `${code}console.log(written.length > 20, model.position > 40);`);
        assert.equal(execFileSync('node', ['second.mjs'], {cwd: scratch, encoding: 'utf8'}), 'true true\n');
    });
}
