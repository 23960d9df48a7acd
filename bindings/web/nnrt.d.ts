/* Types of the package nnrt: the part of onnxruntime-web's that it has, and its own options. */
export type TensorType =
    | 'float32' | 'float64' | 'float16' | 'bool'
    | 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' | 'uint16' | 'uint32' | 'uint64';
export type TensorData =
    | Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array
    | Uint8Array | Uint8ClampedArray | Uint16Array | Uint32Array | BigUint64Array;

export declare class Tensor {
    constructor(type: TensorType, data: TensorData | readonly (number | bigint | boolean)[], dims?: readonly number[]);
    constructor(data: TensorData | readonly boolean[], dims?: readonly number[]);
    readonly type: TensorType;
    readonly data: TensorData;
    readonly dims: readonly number[];
    readonly size: number;
    readonly location: 'cpu';
    reshape(dims: readonly number[]): Tensor;
    getData(): Promise<TensorData>;
    dispose(): void;
}

export interface SessionOptions {
    /** Fixes the dynamic dimensions of these names. */
    freeDimensionOverrides?: Readonly<Record<string, number>>;
    /** Upper bounds of results with data-dependent shapes, by the name of the tensor. */
    bounds?: Readonly<Record<string, readonly number[]>>;
    /** 'cpu', or 'reference': slower, with the same bits on every machine. */
    device?: 'cpu' | 'reference';
    /** Options of onnxruntime-web have no effect. */
    [option: string]: unknown;
}

export interface TensorMetadata {
    readonly name: string;
    readonly isTensor: true;
    readonly type: TensorType;
    /** A dynamic dimension is its name, or ''. */
    readonly shape: readonly (number | string)[];
}

export interface SessionMemory {
    readonly total?: number;
    readonly tables?: number;
    readonly arena?: number;
    readonly constants?: number;
    readonly steps?: number;
    readonly instance: number;
}

export type Feeds = Readonly<Record<string, Tensor>>;
export type Fetches = readonly string[] | Readonly<Record<string, Tensor | null>>;

export declare class InferenceSession {
    static create(source: string | URL | ArrayBufferLike | Uint8Array, options?: SessionOptions): Promise<InferenceSession>;
    static create(buffer: ArrayBufferLike, byteOffset: number, byteLength?: number, options?: SessionOptions): Promise<InferenceSession>;
    private constructor();
    readonly inputNames: readonly string[];
    readonly outputNames: readonly string[];
    readonly inputMetadata: readonly TensorMetadata[];
    readonly outputMetadata: readonly TensorMetadata[];
    readonly memory: SessionMemory;
    readonly device: string | undefined;
    /** The instruction set of the device 'cpu'. */
    readonly simd: 'relaxed' | 'simd128' | undefined;
    run(feeds: Feeds, fetches?: Fetches): Promise<Record<string, Tensor>>;
    /** Sets the states of the model to their initial values. */
    reset(): void;
    release(): Promise<void>;
    startProfiling(): void;
    endProfiling(): void;
}

export declare const env: {
    wasm: {
        /** The folder of nnrt.wasm and nnrt-relaxed.wasm, with its '/', or the address of a file. */
        wasmPaths?: string | {wasm: string};
        /** The bytes of one of them, or the compiled module. */
        wasmBinary?: BufferSource | WebAssembly.Module;
        /** 'relaxed' selects nnrt-relaxed.wasm, 'fixed' nnrt.wasm; otherwise the features of the engine do. */
        simd?: 'relaxed' | 'fixed';
        numThreads: number;
    };
    readonly versions: {readonly nnrt: string};
};

declare const nnrt: {
    InferenceSession: typeof InferenceSession;
    Tensor: typeof Tensor;
    env: typeof env;
};
export default nnrt;
