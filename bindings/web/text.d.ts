/* Types of nnrt/text: language models of GGUF files. */
import {env} from './nnrt.js';

export interface TextModelOptions {
    /** Tokens of a conversation, of which the model keeps keys and values; default 1024. */
    context?: number;
    /** Tokens of a prompt in a run; default 64. */
    batch?: number;
    /** The module nnrt-text.wasm, or its bytes. */
    wasm?: BufferSource | WebAssembly.Module;
}

export interface Sampling {
    /** 0: the most likely token. */
    temperature?: number;
    topK?: number;
    topP?: number;
    minP?: number;
    repeatPenalty?: number;
    presencePenalty?: number;
    /** 0 to 4294967295; the same seed chooses the same tokens. */
    seed?: number;
}

export interface GenerateOptions {
    /** At most so many tokens; default 256. */
    tokens?: number;
    /** Ends the iteration; the text so far stays in the conversation. */
    signal?: AbortSignal;
    /** Tokens of the conversation that the model has processed, and all of them, before the first text. */
    onProgress?: (done: number, all: number) => void;
}

export declare class TextModel {
    static create(source: string | URL | Blob | ArrayBuffer | Uint8Array, options?: TextModelOptions): Promise<TextModel>;
    private constructor();
    readonly vocabulary: number;
    readonly context: number;
    readonly position: number;
    readonly template: string | undefined;
    readonly tokens: Uint32Array;
    readonly memory: {readonly total: number; readonly cache: number; readonly instance: number};
    tokenize(text: string, options?: {affixes?: boolean}): Uint32Array;
    sampling(how?: Sampling): void;
    rewind(position?: number): void;
    generate(prompt: string, options?: GenerateOptions): AsyncGenerator<string, void, undefined>;
    chat(message: string, options?: GenerateOptions & {system?: string}): AsyncGenerator<string, void, undefined>;
    release(): Promise<void>;
}

export {env};
declare const text: {TextModel: typeof TextModel; env: typeof env};
export default text;
