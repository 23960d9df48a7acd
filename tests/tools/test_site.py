#!/usr/bin/env python3
"""Tests the files of the site (make site-test): links and their anchors, addresses, ids, HTML by tidy, the operators.

usage: test_site.py SITE AGAIN NNRT    AGAIN: the same site, built a second time; NNRT: the command line, whose kernels the pages of
                                       operators must show; ends with "N passed, N failed"
"""
import html
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
# tidy 5.6 does not know that <div> may be in <dl>, and that an element without text may have a meaning.
UNKNOWN_TO_TIDY = re.compile("(missing </dl> before </div>|missing </div> before <dt>|inserting implicit <dl>|missing <dd>"
                             "|trimming empty <i>|proprietary attribute \"aria-current\")")
# Attributes that a browser loads by itself; a link (a href) may lead anywhere.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Reader(html.parser.HTMLParser):
    """Links, loaded addresses, ids and other elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.ids, self.count, self.no_alt = [], [], [], {}, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        attributes = dict(attrs)
        self.no_alt += tag == "img" and not attributes.get("alt")
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif (tag, name) in LOADED:
                self.loaded.append(value)
            elif name in ("href", "src", "action", "poster", "srcset"):
                self.links.append(value)


def faults_of_page(name, page, pages, files):
    """The faults of a page."""
    text = files[name].decode()
    faults = ["%s loads %s" % (name, a) for a in page.loaded if re.match(r"[a-z]+:|/", a) and not a.startswith("data:,")]
    faults += ["the id %s exists twice" % i for i in {i for i in page.ids if page.ids.count(i) > 1}]
    faults += ["%d <h1>, expected one" % page.count.get("h1", 0)] if page.count.get("h1") != 1 else []
    faults += ["%d <main>, expected one" % page.count.get("main", 0)] if page.count.get("main") != 1 else []
    faults += ["an image without alternative text"] if page.no_alt else []
    faults += ["a path of this machine: %s" % ROOT] if str(ROOT) in text else []
    for link in page.links + page.loaded:
        if re.match(r"https?:|mailto:|data:,", link):
            continue
        path, _, fragment = link.partition("#")
        target = str(pathlib.PurePosixPath(name).parent / urllib.parse.unquote(path)) if path else name
        parts = []
        for part in target.split("/"):
            parts = parts[:-1] if part == ".." and parts else parts + ([part] if part != "." else [])
        target = "/".join(parts)
        if re.match(r"[a-z]+:|/", link) or target not in files:
            faults.append("the link %s leads nowhere" % link)
        elif fragment and urllib.parse.unquote(fragment) not in pages[target].ids:
            faults.append("the link %s: %s has no such anchor" % (link, target))
    return faults


def faults_of_operator(nnrt, name, page, text):
    """The faults of the page of an operator, whose HTML is text: it has a row for each attribute of nnrt_ops.h, and the text that
    nnrt ops --show prints below the operands and types."""
    shown = subprocess.run([nnrt, "ops", "--show", name], env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True,
                           check=False).stdout.partition("\n\n")[2]
    kernel = re.search(r'<pre class="kernel"[^>]*><code>(.*?)</code></pre>', text, re.S)
    kernel = html.unescape(re.sub("<[^>]*>", "", kernel[1])) if kernel else ""
    source = (ROOT / "nnrt_ops.h").read_text(encoding="utf-8")
    struct = re.search(r"^    X\(%s, +\d+, (\w+)," % name, source, re.M)[1]
    rows = re.search(r"#define NNRT_ATTR_%s\(M, S\) ?((?:.*\\\n)*.*)" % struct, source)
    members = [m for m in re.findall(r"M\(S, \w+, +\w+, +(\w+),", rows[1] if rows else "") if m != "reserved"]
    faults = ["its kernel is not that of nnrt ops --show"] if kernel.strip() != shown.strip() else []
    faults += ["it has no kernel"] if not shown and name not in ("IF", "LOOP") else []
    faults += ["it lacks the attribute %s" % m for m in members if "<td><code>%s</code></td>" % m not in text]
    return faults + (["it has no operands"] if "<dt>Operands</dt>" not in text or page.count.get("h1") != 1 else [])


def main(arguments):
    """Prints faults; the exit status."""
    site, again, nnrt = (pathlib.Path(a).resolve() for a in arguments)

    def read(folder):
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}

    files, twice = read(site), read(again)
    pages = {name: Reader(content.decode()) for name, content in files.items() if name.endswith(".html")}
    results = {"two builds give the same bytes": sorted(n for n in files | twice if files.get(n) != twice.get(n))}
    for name, page in pages.items():
        results[name] = faults_of_page(name, page, pages, files)
    for name in pages:
        checked = subprocess.run(["tidy", "-qe", "-utf8", str(site / name)], capture_output=True, text=True, check=False)
        results["tidy " + name] = [line for line in checked.stderr.splitlines() if line and not UNKNOWN_TO_TIDY.search(line)]
    for name, content in files.items():
        if name.endswith(".css"):
            results[name] = re.findall(r"@import.*|url\((?!\"?data:).*", content.decode())
    operators = re.findall(r"^    X\((\w+), +\d+,", (ROOT / "nnrt_ops.h").read_text(encoding="utf-8"), re.M)
    reference, search = pages["docs/OPERATORS.html"], files["assets/search.js"].decode()
    results["operators"] = ["%s is not in the reference" % o for o in operators if o not in reference.ids] + [
        "%s is not in the search" % o for o in operators if '"docs/OPERATORS.html#%s"' % o not in search] + [
        "%d operators" % len(operators)] * (len(operators) < 189)
    for name in operators:
        path = "docs/operators/%s.html" % name
        results["operator " + name] = ["it has no page"] if path not in pages else faults_of_operator(
            nnrt, name, pages[path], files[path].decode())
    guides = {str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")} | {"README.md"}
    results["guides"] = sorted(g for g in guides if g.replace(".md", ".html") not in pages)
    for name, faults in results.items():
        for fault in faults[:10]:
            print("FAIL %s: %s" % (name, fault))
    failed = sum(bool(faults) for faults in results.values())
    print("%d passed, %d failed" % (len(results) - failed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
