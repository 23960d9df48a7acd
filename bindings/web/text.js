/*
text.js - generates text with language models of GGUF files, in browsers, workers and Node.js.

    const model = await TextModel.create('model.gguf', {context: 1024});
    for await (const text of model.generate('Once upon a time', {tokens: 100}))
        write(text);

A model is an instance of nnrt-text.wasm (text_web.c), or in engines with relaxed SIMD of nnrt-text-relaxed.wasm. Its memory holds the
file, the session, and the conversation: keys and values of at most `context` tokens. All of it is allocated by create(). A run
of the model occupies its thread for some milliseconds to seconds: pages use a worker.
*/
import {compileModule, env, fetchFile, isRelaxed} from './nnrt.js';

const NONE = 2 ** 32 - 1; // of functions that return a count: there was a fault
const PAUSE = 30;         // milliseconds after which other events of the thread get their turn
let compiled;             // a promise of the module

/** The address of the module, which bundlers recognize. */
function address() {
    const {wasmPaths} = env.wasm, relaxed = isRelaxed();
    if (typeof wasmPaths === 'string' && wasmPaths.endsWith('/'))
        return wasmPaths + (relaxed ? 'nnrt-text-relaxed.wasm' : 'nnrt-text.wasm');
    return wasmPaths?.text ?? (relaxed ? new URL('nnrt-text-relaxed.wasm', import.meta.url) : new URL('nnrt-text.wasm', import.meta.url));
}

function compile(source) {
    compiled ??= compileModule(source ?? address()).catch((error) => {
        compiled = undefined;
        throw error;
    });
    return compiled;
}

/** The bytes of a model. */
async function bytesOf(source) {
    if (typeof source === 'string' || source instanceof URL)
        return fetchFile(source);
    const bytes = typeof source?.arrayBuffer === 'function' ? await source.arrayBuffer() : source;
    if (ArrayBuffer.isView(bytes))
        return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes instanceof ArrayBuffer)
        return new Uint8Array(bytes);
    throw new TypeError('a model is an address, a path, a File, an ArrayBuffer or a Uint8Array');
}

function whole(name, value, least, most) {
    if (!Number.isInteger(value) || value < least || value > most)
        throw new RangeError(`${name} is ${value}, expected an integer from ${least} to ${most}`);
    return value;
}

export class TextModel {
    #wasm;  // the functions of text_web.c
    #about; // vocabulary, context, batch, chat, memory, cache
    #busy = false;

    /** source: an address, in Node.js also a path; a File or Blob, an ArrayBuffer, a Uint8Array. options: context, the tokens of a
     * conversation; batch, those of a prompt that the model runs on at a time; wasm, the module or its bytes. */
    static async create(source, {context = 1024, batch = 64, wasm} = {}) {
        whole('context', context, 1, 2 ** 24);
        whole('batch', batch, 1, 2 ** 16);
        const [module, bytes] = await Promise.all([compile(wasm), bytesOf(source)]);
        const model = new TextModel();
        model.#wasm = (await WebAssembly.instantiate(module, {})).exports;
        const at = model.#copy(bytes);
        const about = model.#call('open', at, bytes.length, context, batch) >>> 0;
        if (about === 0)
            throw model.#fault();
        model.#about = new Uint32Array(model.#wasm.memory.buffer, about, 6).slice();
        return model;
    }

    /** The number of tokens of the tokenizer. */
    get vocabulary() {
        return this.#about[0];
    }
    get context() {
        return this.#about[1];
    }
    /** Tokens of the conversation so far: prompts, messages and replies. */
    get position() {
        return this.#call('position');
    }
    /** The name of the chat template of the file; undefined: it has none that is known, and chat() throws. */
    get template() {
        const name = this.#call('template');
        return name === 0 ? undefined : this.#text(name);
    }
    /** Bytes: of the session (total), of keys and values in it (cache), of the whole instance with the file. */
    get memory() {
        return {total: this.#about[4], cache: this.#about[5], instance: this.#wasm.memory.buffer.byteLength};
    }

    #fault() {
        return new Error(this.#text(this.#wasm.error()));
    }

    /** After a trap the memory of the instance is in no defined state. */
    #call(name, ...args) {
        if (this.#wasm === undefined)
            throw new Error('the model was released, or its last call failed for good: create another one');
        try {
            return this.#wasm[name](...args);
        } catch (error) {
            this.#wasm = undefined;
            throw new Error(`nnrt-text.wasm stopped in ${name}(): ${error.message}`, {cause: error});
        }
    }

    #text(address, length) {
        const bytes = new Uint8Array(this.#wasm.memory.buffer, address >>> 0);
        return new TextDecoder().decode(bytes.subarray(0, length ?? bytes.indexOf(0)));
    }

    #copy(bytes) {
        const at = this.#call('allocate', bytes.length) >>> 0;
        if (at === 0)
            throw new RangeError(`not enough memory for ${bytes.length} bytes`);
        new Uint8Array(this.#wasm.memory.buffer, at, bytes.length).set(bytes);
        return at;
    }

    /** use(address, length, ...) of texts in the memory of the instance. */
    #with(texts, use) {
        const encoded = texts.map((text) => new TextEncoder().encode(String(text)));
        const places = encoded.map((bytes) => this.#copy(bytes));
        const result = use(...places.flatMap((at, i) => [at, encoded[i].length]));
        places.forEach((at) => this.#call('release', at));
        return result;
    }

    /** The tokens of a text; affixes: with the tokens that begin and end a text. Control tokens in the text, such as <|im_end|>, are found. */
    tokenize(text, {affixes = true} = {}) {
        return this.#with([text], (at, length) => {
            const count = this.#call('tokenize', at, length, affixes, 0, 0) >>> 0;
            if (count === NONE)
                throw this.#fault();
            const ids = this.#call('allocate', 4 * count) >>> 0;
            if (ids === 0)
                throw new RangeError(`not enough memory for ${count} tokens`);
            this.#call('tokenize', at, length, affixes, ids, count);
            const result = new Uint32Array(this.#wasm.memory.buffer, ids, count).slice();
            this.#call('release', ids);
            return result;
        });
    }

    /** The tokens of the conversation. */
    get tokens() {
        return new Uint32Array(this.#wasm.memory.buffer, this.#call('tokens') >>> 0, this.position).slice();
    }

    /** How tokens are chosen from now on. temperature 0: the most likely one; else topK, topP and minP limit the choice (0: not), and
     * one seed always chooses the same tokens. */
    sampling({temperature = 0, topK = 0, topP = 0, minP = 0, repeatPenalty = 0, presencePenalty = 0, seed = 0} = {}) {
        if (!this.#call('sampling', whole('seed', seed, 0, NONE), temperature, topK, topP, minP, repeatPenalty, presencePenalty))
            throw this.#fault();
    }

    /** Goes back to a position of the conversation; 0: the begin. */
    rewind(position = 0) {
        this.#call('rewind', whole('position', position, 0, this.position));
    }

    /** Appends a prompt to the conversation and continues it: an iterator of texts. tokens: at most so many; signal: an AbortSignal, which
     * ends the iteration; onProgress(done, all): tokens of the prompt that the model has processed. */
    async *generate(prompt, options) {
        yield* this.#reply(() => prompt === '' && this.position > 0 || this.#with([prompt], (at, length) => this.#call('add', at, length)), options);
    }

    /** Appends a message in the form of the chat template, and replies: an iterator of texts. system: before the first message, the
     * system's; the other options: see generate(). */
    async *chat(message, options) {
        if (this.template === undefined)
            throw new Error('the file has no chat template that is known; generate() continues a text');
        yield* this.#reply(() => this.#with([`${options?.system ?? ''}\0`, message], (system, _, ...user) => this.#call('message', system, ...user)), options);
    }

    async *#reply(add, {tokens = 256, signal, onProgress} = {}) {
        if (this.#busy)
            throw new Error('the model generates a text already');
        this.#busy = true;
        try {
            if (!add())
                throw this.#fault();
            this.#call('begin');
            const first = this.position;
            let found = 1; // 0: the text ended, 2: the context is full
            for (let i = 0; i < whole('tokens', tokens, 0, NONE) && found === 1; i++) {
                await this.#process(first, signal, onProgress);
                if (signal?.aborted)
                    break;
                if ((found = this.#call('next')) === 3)
                    throw this.#fault();
                yield* this.#piece();
            }
            this.#call('finish');
            yield* this.#piece();
        } finally {
            this.#busy = false;
        }
    }

    /** The text of the last token, if it has one: bytes of a character wait for its last one. */
    *#piece() {
        const text = this.#text(this.#call('piece'), this.#call('pieceBytes'));
        if (text !== '')
            yield text;
    }

    #paused = 0;

    /** Lets the model process tokens; other events of the thread get their turn. */
    async #process(first, signal, onProgress) {
        for (let left = 1; left > 0 && !signal?.aborted;) {
            left = this.#call('process') >>> 0;
            if (left === NONE)
                throw this.#fault();
            if (this.position === first)
                onProgress?.(first - left, first);
            if (performance.now() - this.#paused > PAUSE) {
                await new Promise((done) => setTimeout(done));
                this.#paused = performance.now();
            }
        }
    }

    async release() {
        this.#wasm = undefined;
    }
}

export {env};
export default {TextModel, env};
