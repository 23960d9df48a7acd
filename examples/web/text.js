/* Generates text with a language model of a GGUF file, in a worker (text_worker.js). */
const byId = (id) => document.getElementById(id);
const worker = new Worker(new URL('text_worker.js', import.meta.url), {type: 'module'});
const mebi = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
let opened, reply;

function note(text, isError = false) {
    byId('note').textContent = text;
    byId('note').className = isError ? 'error' : '';
}

/** ready: 'none' before there is a model, 'idle', 'busy' while it writes. */
function enable(ready) {
    byId('write').disabled = byId('clear').disabled = ready !== 'idle';
    byId('stop').disabled = ready !== 'busy';
    byId('file').disabled = ready === 'busy';
}

const number = (id) => Math.min(Math.max(Number(byId(id).value), Number(byId(id).min)), Number(byId(id).max));

function paragraph(text, kind) {
    const p = document.createElement('p');
    p.className = kind;
    p.textContent = text;
    byId('text').append(p);
    return p;
}

function open(file) {
    opened = undefined;
    enable('none');
    note(`loading ${file.name} …`);
    byId('text').replaceChildren();
    worker.postMessage({open: file, context: Math.floor(number('context'))});
}

function write() {
    const prompt = byId('prompt').value;
    enable('busy');
    if (opened.template === undefined && prompt !== '')
        reply = paragraph(prompt, 'continued');
    else {
        if (prompt !== '')
            paragraph(prompt, 'asked');
        reply = paragraph('', 'reply');
    }
    byId('first').textContent = byId('speed').textContent = '–';
    worker.postMessage({write: prompt, tokens: Math.floor(number('tokens')),
        sampling: {temperature: number('temperature'), topP: 0.95, seed: Math.floor(number('seed'))}});
}

const handlers = {
    opened(about) {
        opened = about;
        byId('cache').textContent = mebi(about.memory.cache);
        byId('memory').textContent = mebi(about.memory.instance);
        note(`${about.vocabulary} tokens, ${about.template === undefined ? 'continues the prompt' : `chat template ${about.template}`}`);
        enable('idle');
    },
    progress({done, all}) {
        if (done < all)
            note(`reading the prompt: ${done} of ${all} tokens`);
    },
    text(text) {
        reply.append(text);
    },
    done({first, rate, full, memory}) {
        byId('first').textContent = first === undefined ? '–' : `${first.toFixed(0)} ms`;
        byId('speed').textContent = rate === undefined ? '–' : `${rate.toFixed(1)} tokens/s`;
        byId('memory').textContent = mebi(memory.instance);
        note(full ? 'The context is full. Clear begins anew; a larger context needs the file again.' : 'done');
        enable('idle');
    },
    error(message) {
        note(message, true);
        enable(opened === undefined ? 'none' : 'idle');
    },
};

worker.onmessage = ({data}) => Object.entries(data).forEach(([kind, value]) => handlers[kind](value));
worker.onerror = (event) => handlers.error(event.message ?? 'the worker could not start');
byId('write').addEventListener('click', write);
byId('stop').addEventListener('click', () => worker.postMessage({stop: true}));
byId('clear').addEventListener('click', () => {
    worker.postMessage({clear: true});
    byId('text').replaceChildren();
});
byId('file').addEventListener('change', (event) => event.target.files[0] && open(event.target.files[0]));
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0] && !byId('file').disabled)
        open(event.dataTransfer.files[0]);
});
