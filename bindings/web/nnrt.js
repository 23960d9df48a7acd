/*
nnrt.js - runs ONNX, TensorFlow Lite and .nnrt models in browsers, workers and Node.js, with the classes of onnxruntime-web.

Each session is an instance of nnrt.wasm (nnrt_web.c), or in engines with relaxed SIMD of nnrt-relaxed.wasm. Its memory holds
the model file, the prepared model and the buffers of inputs and outputs. The module is compiled once. run() copies inputs in and outputs out, and prepares the model
again if the inputs have other shapes than before.
*/
const TYPES = {
    float32: Float32Array, float64: Float64Array, bool: Uint8Array, float16: globalThis.Float16Array ?? Uint16Array,
    int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
    uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};
const UNSUPPORTED = ['NNRT_NOT_SUPPORT', 'NNRT_UNSUPPORTED_OP', 'NNRT_INVALID_DATATYPE'];
const SMALL = 64; // elements of an input whose values a plan may need
const inNode = typeof process === 'object' && process.versions?.node !== undefined && globalThis.Deno === undefined;
const decoder = new TextDecoder();

/** wasmPaths: the folder of the modules, with its '/', or the address of a module; wasmBinary: its bytes; simd: 'relaxed' or
 * 'fixed' selects the module, otherwise the engine's features do. */
export const env = {wasm: {wasmPaths: undefined, wasmBinary: undefined, simd: undefined, numThreads: 1}, versions: {nnrt: '0.2.0'}};

const quote = (names) => names.map((name) => `'${name}'`).join(', ') || 'none';
const product = (dims) => dims.reduce((a, b) => a * b, 1);
const isDetached = (buffer) => buffer.detached ?? buffer.byteLength === 0;

/** The class and the message of an error, with the name of the return code. */
function fault(code, message) {
    const Kind = code === 'NNRT_INVALID_DATATYPE' ? TypeError
        : /SHAPE|DIMENTION|OUT_OF_MEMORY/.test(code) ? RangeError : Error;
    return Object.assign(new Kind(message || code), {code});
}

// ---- tensors ----

/** The type of data for which no type is stated. */
function typeOf(data) {
    if (Array.isArray(data) && typeof data[0] === 'boolean')
        return 'bool';
    if (data instanceof Uint8ClampedArray)
        return 'uint8';
    const type = Object.keys(TYPES).find((name) => name !== 'bool' && data?.constructor === TYPES[name]);
    if (type === undefined)
        throw new TypeError('a tensor of this data needs a type: new Tensor("float32", data, dims)');
    return type === 'float16' && data instanceof Uint16Array ? 'uint16' : type;
}

/** Data as the typed array of a type. */
function elements(type, data) {
    const Kind = TYPES[type];
    if (Kind === undefined)
        throw new TypeError(`tensors of type '${type}' are not supported; the types are ${Object.keys(TYPES).join(', ')}`);
    if (data instanceof Kind || (type === 'float16' && data instanceof Uint16Array))
        return data;
    if (data instanceof Uint8ClampedArray && type === 'uint8')
        return new Uint8Array(data.buffer, data.byteOffset, data.length);
    if (!Array.isArray(data))
        throw new TypeError(`a tensor of type '${type}' needs data of ${Kind.name}, found ${data?.constructor?.name ?? data}`);
    return Kind.from(data, type.endsWith('int64') ? BigInt : Number);
}

export class Tensor {
    /** (type, data, dims) or (data, dims); without dims the tensor has one axis. */
    constructor(...args) {
        const [type, data, dims] = typeof args[0] === 'string' ? args : [typeOf(args[0]), ...args];
        this.type = type;
        this.data = elements(type, data);
        this.dims = [...(dims ?? [this.data.length])];
        this.location = 'cpu';
        const wrong = this.dims.find((d) => !Number.isSafeInteger(d) || d < 0);
        if (wrong !== undefined)
            throw new RangeError(`the dimension ${wrong} of a tensor is not an integer from 0 on`);
        if (this.size !== this.data.length)
            throw new RangeError(`the shape [${this.dims}] has ${this.size} elements, but the data have ${this.data.length}`);
    }
    get size() {
        return product(this.dims);
    }
    reshape(dims) {
        return new Tensor(this.type, this.data, dims);
    }
    async getData() {
        return this.data;
    }
    dispose() {}
}

// ---- files ----

/** The bytes of a file: its address, or in Node.js also its path. The response of a server is read by `use`. */
export async function fetchFile(source, use = async (response) => new Uint8Array(await response.arrayBuffer())) {
    const address = String(source);
    if (inNode && !/^(https?|data|blob):/.test(address)) {
        const {readFile} = await import(/* webpackIgnore: true */ 'node:fs/promises');
        return readFile(address.startsWith('file:') ? new URL(address) : address).catch((error) => {
            throw new Error(`cannot read '${address}': ${error.message}`, {cause: error});
        });
    }
    const response = await fetch(address).catch((error) => {
        throw new Error(`cannot fetch '${address}': ${error.message}`, {cause: error});
    });
    if (!response.ok)
        throw new Error(`cannot fetch '${address}': the server answers ${response.status} ${response.statusText}`);
    return use(response);
}

/* A module with the relaxed instructions of the kernels: (v) => dot(v, v, madd(v, v, v)) of vectors. */
const RELAXED = [0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 123, 1, 123, 3, 2, 1, 0, 10, 20, 1, 18, 0, 32, 0, 32, 0,
    32, 0, 32, 0, 32, 0, 253, 133, 2, 253, 147, 2, 11];
let compiled; // a promise of the module

/** Whether to use the modules for relaxed SIMD. This function and the next two serve text.js, too. */
export function isRelaxed() {
    const {simd} = env.wasm;
    return simd === 'relaxed' || (simd !== 'fixed' && WebAssembly.validate(Uint8Array.from(RELAXED)));
}

/** The address of a module, which bundlers recognize. */
function address() {
    const {wasmPaths} = env.wasm, relaxed = isRelaxed();
    if (typeof wasmPaths === 'string' && wasmPaths.endsWith('/'))
        return wasmPaths + (relaxed ? 'nnrt-relaxed.wasm' : 'nnrt.wasm');
    return (typeof wasmPaths === 'object' ? wasmPaths.wasm : wasmPaths) ??
        (relaxed ? new URL('nnrt-relaxed.wasm', import.meta.url) : new URL('nnrt.wasm', import.meta.url));
}

/** A module of its address or its bytes. It is compiled while it is fetched, if the server states its type. */
export async function compileModule(source) {
    const stream = (response) => /^application\/wasm/.test(response.headers.get('Content-Type'))
        ? WebAssembly.compileStreaming(response) : response.arrayBuffer();
    const found = typeof source === 'string' || source instanceof URL ? await fetchFile(source, stream) : source;
    return found instanceof WebAssembly.Module ? found : WebAssembly.compile(found);
}

function compile() {
    compiled ??= compileModule(env.wasm.wasmBinary ?? address()).catch((error) => {
        compiled = undefined;
        throw error;
    });
    return compiled;
}

/** The bytes of the model, and the options, of the arguments of create(). */
async function modelOf(source, ...rest) {
    if (typeof source === 'string' || source instanceof URL)
        return [await fetchFile(source), rest[0]];
    const buffer = ArrayBuffer.isView(source) ? source.buffer : source;
    if (!(buffer instanceof ArrayBuffer) && !(globalThis.SharedArrayBuffer && buffer instanceof SharedArrayBuffer))
        throw new TypeError('a model is an address, a path, an ArrayBuffer or a Uint8Array');
    if (isDetached(buffer))
        throw new TypeError('the buffer of the model is empty or detached: it was transferred; pass a copy');
    if (ArrayBuffer.isView(source))
        return [new Uint8Array(buffer, source.byteOffset, source.byteLength), rest[0]];
    const [offset, length, options] = typeof rest[0] === 'number' ? rest : [0, undefined, rest[0]];
    return [new Uint8Array(buffer, offset, typeof length === 'number' ? length : undefined),
        typeof length === 'object' ? length : options];
}

// ---- sessions ----

export class InferenceSession {
    #wasm;    // the functions of nnrt_web.c
    #inputs;  // [name, type, dims]: a dimension is a number, a name or null; dims null: of any rank
    #outputs;
    #options;
    #plan;    // the result of prepare, and for which inputs it was made

    /** source: an address, in Node.js also a path; an ArrayBuffer, which offset and length may follow; a Uint8Array. */
    static async create(source, ...rest) {
        const [module, [bytes, options]] = await Promise.all([compile(), modelOf(source, ...rest)]);
        const session = new InferenceSession();
        session.#wasm = (await WebAssembly.instantiate(module, {})).exports;
        session.#options = options ?? {};
        session.#load(bytes);
        return session;
    }

    #load(bytes) {
        const about = this.#call('load', this.#copy(bytes), bytes.length);
        const states = about.states.split('\n').map((line) => line.split('='));
        const fixed = this.#options.freeDimensionOverrides ?? {};
        const named = ([name, type, dims]) => [name, type, dims?.map((d) => fixed[d] ?? d) ?? null];
        this.#inputs = about.inputs.filter(([name]) => !states.some((s) => s[0] === name)).map(named);
        this.#outputs = about.outputs.filter(([name]) => !states.some((s) => s[1] === name)).map(named);
        if (this.#inputs.every(([, , dims]) => dims?.every(Number.isInteger)))
            this.#prepare(this.#inputs.map(([name, , dims]) => [name, dims]));
    }

    get inputNames() {
        return this.#inputs.map(([name]) => name);
    }
    get outputNames() {
        return this.#outputs.map(([name]) => name);
    }
    get inputMetadata() {
        return this.#inputs.map(([name, type, dims]) => ({name, isTensor: true, type, shape: dims?.map((d) => d ?? '') ?? []}));
    }
    get outputMetadata() {
        return this.#outputs.map(([name, type, dims]) => ({name, isTensor: true, type, shape: dims?.map((d) => d ?? '') ?? []}));
    }
    /** Bytes: of the session (total), of them tables and arena; of constants in the model; of the whole instance. */
    get memory() {
        return {...this.#plan?.memory, instance: this.#wasm.memory.buffer.byteLength};
    }
    /** "cpu", or "reference" for the same bits on every machine: an option of create(). */
    get device() {
        return this.#plan?.device;
    }
    /** The instruction set of device "cpu": "relaxed" or "simd128". Results of integers have the same bits with both. */
    get simd() {
        return this.#plan?.simd;
    }

    /** Calls a function that returns a JSON text or, after a fault, 0. */
    #call(name, ...args) {
        const address = this.#guard(name, ...args);
        if (address === 0)
            throw fault(...JSON.parse(this.#text(this.#wasm.fault())));
        return name === 'run' ? undefined : JSON.parse(this.#text(address));
    }

    /** After a trap (the stack is exhausted) the memory of the instance is in no defined state. */
    #guard(name, ...args) {
        if (this.#wasm === undefined)
            throw new Error('the session was released, or its last call failed for good: create another one');
        try {
            return this.#wasm[name](...args);
        } catch (error) {
            this.#wasm = undefined;
            throw new Error(`nnrt.wasm stopped in ${name}(): ${error.message}`, {cause: error});
        }
    }

    #text(address) {
        const bytes = new Uint8Array(this.#wasm.memory.buffer, address >>> 0);
        return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
    }

    /** A copy of bytes in the memory of the instance. */
    #copy(bytes) {
        const address = this.#guard('allocate', bytes.length) >>> 0;
        if (address === 0)
            throw fault('NNRT_OUT_OF_MEMORY', `not enough memory for ${bytes.length} bytes`);
        new Uint8Array(this.#wasm.memory.buffer, address, bytes.length).set(bytes);
        return address;
    }

    /** Prepares for inputs [name, dims, data or undefined]; data become constants of the model. If results lack upper bounds,
     * the fixed shapes of outputs in the file are used. */
    #prepare(inputs) {
        const bounds = Object.entries(this.#options.bounds ?? {});
        const fixed = this.#outputs.filter(([, , dims]) => dims?.every(Number.isInteger)).map(([name, , dims]) => [name, dims]);
        try {
            this.#prepareWith(inputs, bounds);
        } catch (error) {
            if (!error.message.includes('(bounds)') || fixed.length === 0)
                throw error;
            this.#prepareWith(inputs, [...fixed, ...bounds]);
        }
    }

    #prepareWith(inputs, bounds) {
        const used = [];
        const keep = (bytes) => used[used.push(this.#copy(bytes)) - 1];
        const name = (text) => keep(new TextEncoder().encode(text + '\0'));
        const record = ([tensor, dims, data], more) => [name(tensor), dims.length, ...dims, ...Array(8 - dims.length).fill(0),
            ...(more ? [data ? keep(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) : 0] : [])];
        const records = (list, more) => keep(new Uint8Array(Int32Array.from(list.flatMap((i) => record(i, more))).buffer));
        for (const [tensor, dims] of [...inputs, ...bounds])
            if (!Array.isArray(dims) || dims.length > 8 || dims.some((d) => !Number.isInteger(d) || d < 0 || d >= 2 ** 31))
                throw new RangeError(`'${tensor}' has the shape [${dims}], expected at most 8 axes of 0 to 2147483647`);
        this.#plan = undefined;
        const plan = this.#call('prepare', records(inputs, true), inputs.length, records(bounds, false), bounds.length,
            name(this.#options.device ?? ''));
        used.forEach((address) => this.#wasm.release(address));
        this.#plan = {...plan, shapes: JSON.stringify(inputs.map((i) => i[1])), values: inputs.map((i) => i[2]?.slice())};
    }

    /** Prepares for the shapes of these tensors; if the model needs the values of small inputs, also for these. */
    #prepareFor(tensors) {
        const small = (t) => t.dims.length <= 1 && t.data.length <= SMALL;
        const inputs = this.#inputs.map(([name], i) => [name, tensors[i].dims]);
        try {
            this.#prepare(inputs);
        } catch (error) {
            if (!UNSUPPORTED.includes(error.code) || !tensors.some(small))
                throw error;
            try {
                this.#prepare(inputs.map(([name, dims], i) => [name, dims, small(tensors[i]) ? tensors[i].data : undefined]));
            } catch {
                throw error;
            }
        }
    }

    #fits(tensors) {
        return this.#plan?.shapes === JSON.stringify(tensors.map((t) => t.dims)) &&
            this.#plan.values.every((v, i) => v === undefined || v.every((e, k) => e === tensors[i].data[k]));
    }

    /** The tensors of the inputs in the order of the model; an error names the first one that is wrong. */
    #check(feeds) {
        if (typeof feeds !== 'object' || feeds === null)
            throw new TypeError("run() expects an object of tensors: {image: new Tensor('float32', data, dims)}");
        const unknown = Object.keys(feeds).find((name) => !this.inputNames.includes(name));
        if (unknown !== undefined)
            throw new RangeError(`input '${unknown}' does not exist; the model has ${quote(this.inputNames)}`);
        return this.#inputs.map(([name, type, dims]) => {
            const t = feeds[name];
            if (t === undefined)
                throw new RangeError(`input '${name}' is missing; the model has ${quote(this.inputNames)}`);
            if (!ArrayBuffer.isView(t?.data) || !Array.isArray(t.dims))
                throw new TypeError(`input '${name}' is no tensor: expected new Tensor('${type}', data, dims)`);
            if (t.type !== type)
                throw new TypeError(`input '${name}' has elements of type ${t.type}, expected ${type}`);
            if (dims && (dims.length !== t.dims.length || dims.some((d, i) => Number.isInteger(d) && d !== t.dims[i])))
                throw new RangeError(`input '${name}' has the shape [${t.dims}], expected [${dims.map((d) => d ?? '?')}]`);
            if (t.data.length !== product(t.dims))
                throw new TypeError(`the data of input '${name}' are detached: they were transferred; pass a copy`);
            return t;
        });
    }

    /** An output of the last run: a new tensor, or the one that the caller provides. */
    #output(index, tensor) {
        const [name, type] = this.#plan.outputs[index];
        const record = new Int32Array(this.#wasm.memory.buffer, this.#wasm.output(index), 10);
        const dims = [...record.subarray(2, 2 + record[1])];
        const view = new TYPES[type](this.#wasm.memory.buffer, record[0] >>> 0, product(dims));
        if (!tensor)
            return new Tensor(type, view.slice(), dims);
        if (tensor.type !== type || tensor.data.length !== view.length)
            throw new RangeError(`the tensor for output '${name}' is ${tensor.type}[${tensor.dims}], expected ${type}[${dims}]`);
        tensor.data.set(view);
        return tensor;
    }

    /** Runs the model. fetches: names of outputs, or an object with a tensor or null for each; default all. */
    async run(feeds, fetches) {
        const tensors = this.#check(feeds);
        const named = Array.isArray(fetches) ? fetches : Object.keys(fetches ?? {}).filter((n) => this.outputNames.includes(n));
        const wanted = named.length > 0 ? named : this.outputNames;
        const wrong = wanted.find((name) => !this.outputNames.includes(name));
        if (wrong !== undefined)
            throw new RangeError(`output '${wrong}' does not exist; the model has ${quote(this.outputNames)}`);
        if (!this.#fits(tensors))
            this.#prepareFor(tensors);
        for (const [name, , , address] of this.#plan.inputs) {
            const {data} = tensors[this.inputNames.indexOf(name)];
            new Uint8Array(this.#wasm.memory.buffer, address, data.byteLength)
                .set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
        }
        this.#call('run');
        const index = (name) => this.#plan.outputs.findIndex((o) => o[0] === name);
        return Object.fromEntries(wanted.map((name) => [name, this.#output(index(name), fetches?.[name])]));
    }

    /** Sets the states of the model to their initial values. */
    reset() {
        if (this.#plan !== undefined)
            this.#wasm.reset();
    }
    async release() {
        this.#wasm = this.#plan = undefined;
    }
    startProfiling() {}
    endProfiling() {}
}

export default {InferenceSession, Tensor, env};
