#!/usr/bin/env python3
"""Writes the site: README.md, the guides of docs, the demo pages, an operator reference and charts, as static pages with a search.

usage: site.py OUT DEMO NNRT    OUT: the folder to write, replaced; DEMO: the folder of the demo pages (build/web/site); NNRT: the
                                command line, which prints the kernels (nnrt ops --show)

A page keeps its path: docs/web.md becomes docs/web.html, and a source file that a page links, nnrt.h, becomes nnrt.h.html, so
that relative links need another suffix only. Each operator has a page, docs/operators/NAME.html. docs/site/nav.txt has the navigation; docs/site/page.html is around every page. The pages
request nothing from elsewhere, and work from a folder (file://) and below any address. Equal sources give equal bytes.
"""
import base64
import json
import os
import pathlib
import posixpath
import re
import shutil
import sys
import urllib.parse

import markdown_it
import pygments
import pygments.formatters
import pygments.lexers

import pictures
import site_parts
from site_parts import ROOT, escape

HIGHLIGHTED = 100_000  # bytes of a source file that is shown in colors
DEMOS = {"index": ("digits", "digits.onnx"), "faces": ("faces", "face_detection_short_range.tflite")}  # page: (script, network)
# Tables of names: the column of the name. Each row has an anchor and is found by the search.
NAMED = {"docs/ONNX.md": 0, "docs/TFLITE.md": 1}
# Operators that an importer adds for types, layouts and fused activations: of `ADD_FUSION` `CAST`, the first is meant.
ADDED = {"ACTIVATION", "CAST", "CLIP", "QUANT_DTYPE_CAST", "QUANT_DTYPE_CAST_V2", "RESHAPE", "TRANSPOSE"}
CONTENTS = '<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>%s</ul></nav>'
REGION = '<div class="scroll" tabindex="0" role="region" aria-label="%s">'


class Page:
    """A page of the site: its file in the repository, title, headings [(level, anchor, text)] and HTML."""

    def __init__(self, path, title="", body="", kind="guide"):
        self.path, self.title, self.body, self.kind, self.headings = path, title, body, kind, []
        self.out = re.sub(r"\.md$", ".html", path) if path.endswith((".md", ".html")) else path + ".html"


def highlight(text, language):
    """Code in colors, if the language is known."""
    try:
        lexer = pygments.lexers.get_lexer_by_name({"sh": "bash"}.get(language, language), stripnl=False)
    except pygments.util.ClassNotFound:
        return escape(text)
    return pygments.highlight(text, lexer, pygments.formatters.HtmlFormatter(nowrap=True)) if language else escape(text)


def slug(text, seen):
    """The anchor of a heading, as git hosts write it."""
    name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    seen[name] = seen.get(name, -1) + 1
    return name + ("-%d" % seen[name] if seen[name] else "")


class Site:
    """Everything that is written: pages by their path in the repository, files {path: bytes}, entries of the search."""

    def __init__(self, demo, nnrt):
        self.nnrt = nnrt
        self.demo, self.pages, self.files, self.entries = demo, {}, {}, []
        self.markdown = markdown_it.MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        self.markdown.add_render_rule("fence", lambda _, tokens, i, *__: '<pre tabindex="0"><code>%s</code></pre>\n' % highlight(
            tokens[i].content, (tokens[i].info.split() or [""])[0]))
        self.markdown.add_render_rule("table_open", lambda *_: REGION % "Table" + "<table>")
        self.markdown.add_render_rule("table_close", lambda *_: "</table></div>")
        self.groups = self.read_nav()
        self.figures = pictures.read_figures()

    @staticmethod
    def read_nav():
        """[(group, [(path, title or "")])] of docs/site/nav.txt."""
        groups = []
        for line in (ROOT / "docs/site/nav.txt").read_text(encoding="utf-8").splitlines():
            path, _, title = (part.strip() for part in line.partition("|"))
            if line.startswith(" "):
                groups[-1][1].append((path, title))
            elif not line.startswith("#"):
                groups.append((line, []))
        listed = {path for _, pages in groups for path, _ in pages}
        for path in sorted((ROOT / "docs").glob("*.md")):
            if "docs/" + path.name not in listed:
                raise SystemExit("site.py: docs/%s is in no group of docs/site/nav.txt: add a line there" % path.name)
        return groups

    # ---- Markdown ----

    def link(self, page, target):
        """The address of a link, whose file must exist. A source file becomes a page; pictures and binary files are copied."""
        path, _, fragment = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return target
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), urllib.parse.unquote(path)))
        if (ROOT / name).is_dir():
            name = posixpath.join(name, "README.md")
        if not (ROOT / name).is_file() or name.startswith(".."):
            raise SystemExit("site.py: %s links to %s, which does not exist" % (page.path, target))
        content = (ROOT / name).read_bytes()
        if name.endswith(".svg") or b"\0" in content:
            self.files[name] = content
            return target
        if name not in self.pages:
            if name.endswith(".md"):
                raise SystemExit("site.py: %s links to %s, which is in no group of docs/site/nav.txt" % (page.path, name))
            self.pages[name] = self.source(name)
        return posixpath.relpath(self.pages[name].out, posixpath.dirname(page.out) or ".") + ("#" + fragment if fragment else "")

    @staticmethod
    def source(name):
        """The page of a source file."""
        text = (ROOT / name).read_text(encoding="utf-8")
        kind = {"h": "c"}.get(name.rsplit(".", 1)[-1], name.rsplit(".", 1)[-1])
        body = highlight(text, kind if len(text) <= HIGHLIGHTED else "")
        return Page(name, name, '<h1>%s</h1>\n<pre class="source" tabindex="0"><code>%s</code></pre>' % (name, body), "source")

    def tokens(self, page, text):
        """Parsed Markdown, with anchors and addresses of this site. Adds headings and entries of the search to the page."""
        tokens, seen, entry = self.markdown.parse(text), {}, None
        for at, token in enumerate(tokens):
            words = token.content + " "
            if token.type == "inline":
                words = " ".join(c.content for c in token.children if c.type in ("text", "code_inline")) + " "
                for child in token.children:
                    for name in {"link_open": ["href"], "image": ["src"]}.get(child.type, []):
                        child.attrs[name] = self.link(page, child.attrs[name])
            if token.type == "td_open" and page.path in NAMED and tokens[at - 1 - 3 * NAMED[page.path]].type == "tr_open":
                self.name_row(page, tokens[at - 1 - 3 * NAMED[page.path]:], seen)
            if token.type == "heading_open":
                title = "".join(c.content for c in tokens[at + 1].children)
                token.attrs["id"] = slug(title, seen)
                page.headings.append((int(token.tag[1]), token.attrs["id"], title))
                entry = [page.out + ("#" + token.attrs["id"] if token.tag != "h1" else ""), page.title, title, "", ""]
                self.entries.append(entry)
            elif entry and token.type in ("inline", "fence", "code_block"):
                entry[4] += re.sub(r"\s+", " ", words)
        return tokens

    def name_row(self, page, tokens, seen):
        """Gives the row that begins at tokens[0] an anchor and an entry of the search."""
        end = next(i for i, token in enumerate(tokens) if token.type == "tr_close")
        cells = [token.content for token in tokens[:end] if token.type == "inline"]
        name = cells.pop(NAMED[page.path])
        tokens[0].attrs["id"] = slug("op " + name, seen)
        text = " · ".join(filter(None, cells)).replace("`", "")
        self.entries.append(["%s#%s" % (page.out, tokens[0].attrs["id"]), page.title, name, "", text])

    def html(self, page, text):
        return self.markdown.renderer.render(self.tokens(page, text), self.markdown.options, {})

    def table(self, path, first):
        """Rows of the table of a page whose first heading is `first`: [[text of a cell]]."""
        rows, seen = [], False
        for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            if seen and not cells:
                return rows
            seen = seen or cells[:len(first)] == first
            if seen and not set(line) <= set("|- ") and cells[:len(first)] != first:
                rows.append(cells)
        return rows

    def guide(self, page):
        """A page of a Markdown file. The large table of operators becomes cards."""
        text = (ROOT / page.path).read_text(encoding="utf-8")
        if page.path != "docs/OPERATORS.md":
            page.body = self.html(page, text)
            return
        lite = {}
        for _, name, _, _, becomes in self.table("docs/TFLITE.md", ["Number", "TensorFlow Lite"]):
            operators = re.findall(r"`(\w+)`", becomes)
            if operators and not set(operators[1:]) - ADDED:
                lite.setdefault(operators[0], []).append(name)
        rows = self.table(page.path, ["Number", "Operator"])
        kernels = site_parts.operator_kernels(self.nnrt, [row[1].strip("`") for row in rows])
        cards, entries, pages = site_parts.operator_cards(rows, lite, kernels)
        for name, body in pages.items():
            self.operator(name, body, kernels.get(name))
        page.kind = "operators"
        about, columns = text[:text.index("| Number | Operator")].split("| System", 1)
        page.body = "%s<details><summary>Columns, operands and types</summary>%s</details>%s" % (
            self.html(page, about), self.html(page, "| System" + columns), cards)
        self.entries += [["%s#%s" % (page.out, name), "Operator", name, names, words] for name, names, words in entries]

    def operator(self, name, body, kernel):
        """The page of an operator: facts and attributes, and its kernel, if it has one."""
        page = self.pages["docs/operators/%s.html" % name] = Page("docs/operators/%s.html" % name, name, kind="operators")
        page.body = '<h1>%s</h1>\n<section class="operator">%s</section>\n' % (name, body)
        if kernel:
            page.body += (
                '<h2>Kernel</h2>\n<p>Attributes and float32 kernel (if there is one) of the reference device, as '
                '<code>nnrt ops --show %s</code> prints them; <code>nnrt ops --copy %s</code> prints C that compiles by itself.</p>\n'
                '<pre class="kernel" tabindex="0"><code>%s</code></pre>\n' % (name, name, highlight(kernel, "c")))
        page.body += '<p><a href="../OPERATORS.html#%s">All operators</a></p>' % name

    # ---- pages of the site itself ----

    def charts(self):
        """{name: chart}, of docs/figures.tsv and the tables of docs/web.md."""
        ratio = {n: site_parts.ratio_chart(self.figures, "speed-" + n, title) for n, title in (
            ("float32-1t", "float32, one thread"), ("float32-2t", "float32, two threads"),
            ("int8-1t", "8 bits, one thread"), ("int8-2t", "8 bits, two threads"))}
        paragraph = re.search(r"## Speed\n\n(.*?)\n\n", (ROOT / "docs/web.md").read_text(encoding="utf-8"), re.S)[1]
        size, speed = self.table("docs/web.md", ["", "bytes"]), self.table("docs/web.md", ["Network", "nnrt"])
        web = site_parts.web_charts(size, speed, paragraph)
        return {**ratio, "mcu": site_parts.mcu_chart(self.figures), "web-speed": web[0], "web-size": web[1],
                **dict(zip(("kernels", "program"), site_parts.code_charts(self.figures)))}

    def demo_page(self, name):
        """A demo: the main part of its page and the note below. site.js loads its script."""
        text = (self.demo / (name + ".html")).read_text(encoding="utf-8")
        parts = [re.search(r"<%s>\n(.*?)</%s>" % (tag, tag), text, re.S)[1] for tag in ("main", "footer")]
        return '<div data-demo="%s">%s</div>' % (DEMOS[name][0], "".join(parts))

    def demo_files(self):
        """The files of the demos. SCRIPT.file.js contains all that a demo needs: from a folder (file://) browsers load no modules."""
        names = ["demo.css", "digits.js", "faces.js", "picture.png", *[network for _, network in DEMOS.values()], "nnrt/nnrt.js",
                 "nnrt/nnrt.wasm"]
        inside = {name: (self.demo / name).read_bytes() for name in names}
        relaxed = "nnrt/nnrt-relaxed.wasm"
        self.files.update({"demo/" + name: content for name, content in {**inside, relaxed: (self.demo / relaxed).read_bytes()}.items()})

        def embed(script):
            for name, content in sorted(inside.items()):
                data = "data:application/octet-stream;base64," + base64.b64encode(content).decode()
                script = script.replace("new URL('%s', import.meta.url)" % posixpath.basename(name), "'%s'" % data)
            return json.dumps(script).replace("</", "<\\/")

        library = embed(inside["nnrt/nnrt.js"].decode().replace("simd: undefined", "simd: 'fixed'"))  # the module that is inside
        for script, _ in DEMOS.values():
            self.files["demo/%s.file.js" % script] = (
                "{\nconst module = (text) => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));\n"
                "const library = module(%s);\nimport(module(%s.replace('./nnrt/nnrt.js', library)));\n}\n" % (
                    library, embed(inside[script + ".js"].decode()))).encode()

    def front(self, charts):
        """The front page: README.md in parts."""
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        first = re.search(r"\n\n(.*?): (.*?)\n\n", readme, re.S)
        points = re.search(r"\n## (\w+ points .*?)\n\n(.*?)\n## ", readme, re.S)

        def fence(path, language, comment=r"\1  \2"):
            text = re.search(r"```%s\b.*?\n(.*?)```" % language, (ROOT / path).read_text(encoding="utf-8"), re.S)[1]
            text = re.sub(r"(?m)^(.*\S) +(# .*)$", comment, text)
            return '<pre tabindex="0"><code>%s</code></pre>' % highlight(text, language)

        guides = "".join("<section><h3>%s</h3><ul>%s</ul></section>" % (
            group, "".join(self.item(path, "") for path, _ in pages)) for group, pages in self.groups)
        parts = {"title": escape(first[1]), "lead": escape(first[2][0].upper() + re.sub(r"\s+", " ", first[2][1:])),
                 "demo": self.demo_page("index"), "try": fence("README.md", "sh", r"\2\n\1"), "c": fence("README.md", "c"),
                 "python": fence("docs/python.md", "python"), "js": fence("docs/web.md", "js"), "why": escape(points[1]),
                 "points": self.html(Page("README.md"), points[2]),
                 "speed": charts["float32-1t"], "size": charts["web-size"] + charts["kernels"], "guides": guides}
        return re.sub(r"\{(\w+)\}", lambda m: parts[m[1]], (ROOT / "docs/site/front.html").read_text(encoding="utf-8"))

    # ---- output ----

    def build(self):
        """Makes all pages."""
        for _, pages in self.groups:
            for path, title in pages:
                is_guide = path.endswith(".md")
                heading = title or (ROOT / path).read_text(encoding="utf-8").split("\n", 1)[0][2:]
                self.pages[path] = Page(path, heading, kind="guide" if is_guide else "wide")
        for path in [p for p in self.pages if p.endswith(".md")]:
            self.guide(self.pages[path])
        charts, page = self.charts(), self.pages["charts.html"]
        page.body = re.sub(r"\{([\w-]+)\}", lambda m: charts[m[1]], (ROOT / "docs/site/charts.html").read_text(encoding="utf-8"))
        self.entries.append([page.out, page.title, page.title, "charts benchmark", "time and code size beside other runtimes"])
        for name in DEMOS:
            page = self.pages["demo/%s.html" % name]
            page.body = "<h1>%s</h1>\n%s" % (page.title.split(": ")[1].capitalize(), self.demo_page(name))
        self.pages["index.html"] = Page("index.html", "nnrt", self.front(charts), "front")
        self.demo_files()
        for name in ("site.css", "site.js"):
            self.files["assets/" + name] = (ROOT / "docs/site" / name).read_bytes()
        self.files["assets/search.js"] = ("window.searchEntries = %s;\n" % json.dumps(
            [[part.strip() for part in e] for e in self.entries], ensure_ascii=False, separators=(",", ":"))).encode()

    def item(self, path, root, current=None):
        """An entry of a list of pages."""
        page = self.pages[path]
        here = ' aria-current="page"' if page is current else ""
        return '<li><a href="%s%s"%s>%s</a></li>' % (root, page.out, here, escape(page.title))

    def sidebar(self, page, root):
        """The navigation, with the group of this page open."""
        return "".join('<details%s><summary>%s</summary><ul>%s</ul></details>' % (
            " open" if page.path in [path for path, _ in pages] else "", group,
            "".join(self.item(path, root, page) for path, _ in pages)) for group, pages in self.groups)

    def write(self, out):
        """Replaces the folder `out`."""
        shutil.rmtree(out, ignore_errors=True)
        template = (ROOT / "docs/site/page.html").read_text(encoding="utf-8")
        for page in list(self.pages.values()):
            root = "../" * page.out.count("/")
            contents = "".join('<li class="h%d"><a href="#%s">%s</a></li>' % (level, anchor, escape(text))
                               for level, anchor, text in page.headings if level in (2, 3) and page.kind == "guide")
            parts = {"title": escape(page.title), "root": root, "kind": page.kind, "side": self.sidebar(page, root),
                     "body": page.body, "contents": contents and CONTENTS % contents}
            self.files[page.out] = re.sub(r"\{(\w+)\}", lambda m: parts[m[1]], template).encode()
        for name, content in self.files.items():
            path = pathlib.Path(out, name)
            os.makedirs(path.parent, exist_ok=True)
            path.write_bytes(content)


def main(arguments):
    """Writes the site; the exit status."""
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    made = Site(pathlib.Path(arguments[1]), pathlib.Path(arguments[2]).resolve())
    made.build()
    made.write(arguments[0])
    print("%s: %d pages, %d files, %d entries of the search" % (arguments[0], len(made.pages), len(made.files), len(made.entries)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
