/* The demos, the search, the menu of narrow windows, buttons that copy code, and the filter of the operators. */
const byId = (id) => document.getElementById(id);
const root = document.documentElement.dataset.root;
const field = byId('search'), list = byId('results'), menu = byId('menu');
let entries;

/* From a folder (file://), where browsers load no modules, a script that contains all files of the demo. */
for (const demo of document.querySelectorAll('[data-demo]')) {
    const script = document.createElement('script'), inFolder = location.protocol === 'file:';
    script.type = inFolder ? 'text/javascript' : 'module';
    script.src = `${root}demo/${demo.dataset.demo}${inFolder ? '.file' : ''}.js`;
    document.body.append(script);
}

/* Entries are [address, page, heading, names, text]. A script, because pages of a folder (file://) may not fetch. */
function load() {
    entries ??= new Promise((done) => {
        const script = document.createElement('script');
        script.src = `${root}assets/search.js`;
        script.onload = () => done(window.searchEntries.map((e) => ({entry: e, lower: e.map((part) => part.toLowerCase())})));
        document.head.append(script);
    });
    return entries;
}

/* How well an entry answers a word: a heading or a name that is the word, that begins with its stem, that has it; the text has it. */
function score([, page, heading, names, text], word) {
    const words = (part) => part.split(/[^\p{L}\p{N}_.]+/u);
    const stem = word.replace(/(?<=.{4})(ation|ing|ed|es|e|s)$/, '');
    if (heading === word)
        return 100;
    if (names.split(' ').includes(word))
        return 80;
    if (words(heading).includes(word))
        return 60;
    if (words(page).includes(word))
        return 30;
    if (words(heading).some((w) => w.startsWith(stem)) || names.split(' ').some((w) => w.startsWith(stem)))
        return 25;
    if (heading.includes(word) || names.includes(word))
        return 15;
    const count = text.split(stem).length - 1;
    return count === 0 ? 0 : 2 + Math.min(count, 8);
}

function find(all, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return all.map(({entry, lower}) => {
        const scores = words.map((word) => score(lower, word));
        return {entry, score: scores.includes(0) ? 0 : scores.reduce((a, b) => a + b, 0) +
            (Math.min(...scores) >= 15 && (entry[1] === entry[2] || entry[1] === 'Operator') ? 40 : 0)};
    }).filter((hit) => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 20);
}

/* The text around the first word that is found, with all words marked. */
function excerpt(text, words) {
    const at = Math.max(0, Math.min(...words.map((w) => text.toLowerCase().indexOf(w)).filter((i) => i >= 0).concat(text.length)));
    const begin = at === text.length ? 0 : Math.max(0, at - 40), part = document.createElement('small');
    const shown = (begin > 0 ? '… ' : '') + text.slice(begin, begin + 130);
    const pattern = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'i');
    part.append(...shown.split(pattern).map((piece, i) => {
        const node = document.createElement(i % 2 ? 'mark' : 'span');
        node.textContent = piece;
        return node;
    }));
    return part;
}

function close() {
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
}

async function search() {
    const query = field.value.trim();
    if (query === '')
        return close();
    const hits = find(await load(), query), words = query.toLowerCase().split(/\s+/);
    if (query !== field.value.trim())
        return undefined;
    list.replaceChildren(...hits.map(({entry: [address, page, heading, names, text]}, i) => {
        const row = document.createElement('li'), link = document.createElement('a'), title = document.createElement('b');
        row.id = `result-${i}`;
        row.role = 'option';
        title.textContent = page === heading ? page : `${heading} · ${page}`;
        link.href = root + address;
        link.tabIndex = -1;
        link.append(title, excerpt(names ? `${names} · ${text}` : text, words));
        row.append(link);
        return row;
    }));
    if (hits.length === 0)
        list.innerHTML = '<li class="none">Nothing found</li>';
    list.hidden = false;
    field.setAttribute('aria-expanded', 'true');
    select(0);
    return undefined;
}

function select(at) {
    const rows = [...list.querySelectorAll('[role=option]')];
    rows.forEach((row, i) => row.setAttribute('aria-selected', String(i === at)));
    if (rows[at]) {
        field.setAttribute('aria-activedescendant', rows[at].id);
        rows[at].scrollIntoView({block: 'nearest'});
    }
}

field.addEventListener('focus', load);
field.addEventListener('input', search);
field.addEventListener('keydown', (event) => {
    const rows = [...list.querySelectorAll('[role=option]')], at = rows.findIndex((row) => row.ariaSelected === 'true');
    if (event.key === 'Escape')
        close();
    else if (event.key === 'Enter' && !list.hidden && rows[at])
        rows[at].firstChild.click();
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
        select((at + (event.key === 'ArrowDown' ? 1 : rows.length - 1)) % rows.length);
    else
        return;
    event.preventDefault();
});
list.addEventListener('click', close);
document.addEventListener('pointerdown', (event) => event.target.closest('.search') || close());
document.addEventListener('focusin', (event) => event.target.closest('.search') || close());
document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.target.closest('input, [contenteditable]')) {
        event.preventDefault();
        field.focus();
    }
});

function show(open) {
    byId('pages').classList.toggle('open', open);
    menu.setAttribute('aria-expanded', String(open));
}
menu.addEventListener('click', () => show(menu.getAttribute('aria-expanded') === 'false'));
document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && byId('pages').classList.contains('open')) {
        show(false);
        menu.focus();
    }
});

for (const block of document.querySelectorAll('pre:not(.source)')) {
    const frame = document.createElement('div'), button = document.createElement('button');
    frame.className = 'code';
    button.className = 'copy-code';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(block.textContent);
        button.textContent = 'Copied';
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    block.replaceWith(frame);
    frame.append(block, ...(navigator.clipboard ? [button] : []));
}

byId('filter')?.addEventListener('input', (event) => {
    const word = event.target.value.trim().toLowerCase();
    let count = 0;
    for (const card of document.querySelectorAll('.operator')) {
        card.hidden = !card.dataset.names.includes(word);
        count += !card.hidden;
    }
    byId('shown').textContent = `${count} operators`;
});
