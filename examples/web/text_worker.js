/* The worker of text.html: one model, which writes while the page stays responsive.
   Messages to it: {open, context}, {write, tokens, sampling}, {stop: true}, {clear: true}. From it: {opened}, {progress}, {text}, {done}, {error}. */
import {TextModel} from './nnrt/text.js';

let model, writing;

async function open(file, context) {
    await model?.release();
    model = undefined;
    model = await TextModel.create(file, {context});
    postMessage({opened: {vocabulary: model.vocabulary, template: model.template, memory: model.memory}});
}

async function write(prompt, tokens, sampling) {
    const begin = performance.now(), before = model.position, options = {tokens, signal: writing.signal};
    let first;
    options.onProgress = (done, all) => postMessage({progress: {done, all}});
    model.sampling(sampling);
    for await (const text of model.template === undefined ? model.generate(prompt, options) : model.chat(prompt, options)) {
        first ??= {time: performance.now(), position: model.position};
        postMessage({text});
    }
    const end = performance.now(), count = model.position - (first?.position ?? before);
    postMessage({done: {first: first && first.time - begin, rate: count > 0 ? 1000 * count / (end - first.time) : undefined,
        full: model.position === model.context, memory: model.memory}});
}

onmessage = async ({data}) => {
    try {
        if (data.stop) {
            writing?.abort();
        } else if (data.clear) {
            model.rewind();
        } else if (data.open) {
            await open(data.open, data.context);
        } else {
            writing = new AbortController();
            await write(data.write, data.tokens, data.sampling);
        }
    } catch (error) {
        postMessage({error: error.message});
    }
};
