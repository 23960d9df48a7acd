/* pages.mjs - a server of folders, and browsers: Debian's Chromium and Firefox, driven by playwright-core. */
import {createReadStream, existsSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import path from 'node:path';

export const root = new URL('../../../', import.meta.url).pathname;
const playwright = createRequire(`${root}build/web/modules/`)('playwright-core');
const KINDS = {'.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
    '.png': 'image/png', '.svg': 'image/svg+xml'};
const CHROMIUM = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];

/** Serves the files of folders, the first that has a file. Returns the address; the server ends with the process. */
export async function serve(...folders) {
    const server = createServer((request, response) => {
        const name = path.normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
        const file = folders.map((f) => path.join(f, name)).find(existsSync);
        if (file === undefined || name.endsWith('/')) {
            response.writeHead(404).end();
            return;
        }
        response.writeHead(200, {'Content-Type': KINDS[path.extname(name)] ?? 'application/octet-stream'});
        createReadStream(file).pipe(response);
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    server.unref();
    return `http://127.0.0.1:${server.address().port}/`;
}

/* Firefox has its colors from a setting: 0 dark, 1 light. */
export function launch(name, dark = false) {
    const settings = {'layout.css.prefers-color-scheme.content-override': dark ? 0 : 1};
    return name === 'firefox'
        ? playwright.firefox.launch({executablePath: '/usr/bin/firefox-esr', channel: 'moz-firefox', firefoxUserPrefs: settings})
        : playwright.chromium.launch({executablePath: '/usr/bin/chromium', args: CHROMIUM});
}
