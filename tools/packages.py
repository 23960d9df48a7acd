#!/usr/bin/env python3
"""Writes the packages of nnrt for other build systems, from the table packaging/packages.toml.

usage: packages.py [--nnrt build/nnrt] [--only NAMES] FOLDER   writes the archives into FOLDER; build/single must have been built
       packages.py --list                                      prints name and archive of each package
       packages.py --release FOLDER RESULTS                    checks what a release requires: version, changelog, clean tree,
                                                               passed suites in the folder RESULTS, archives in FOLDER

An archive contains the files of packaging/NAME with @WORD@ replaced by the value of the table, LICENSE, and headers of the
amalgamation (tools/single.c), which need no stb_ds. The version is that of nnrt.h. The bytes of an archive depend on the
repository alone: names are sorted, all times are SOURCE_DATE_EPOCH or that of the last commit, owners are unnamed.
"""
import argparse
import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "packaging"
TABLE = tomllib.loads((FOLDER / "packages.toml").read_text(encoding="utf-8"))
BESIDE = {".wrap"}  # templates that lie beside the archive, not in it: they contain its checksum


class Failure(Exception):
    """A sentence for the user."""


def git(*words):
    """The output of git without the last line break; Failure if there is no repository."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure("git %s: %s" % (" ".join(words), done.stderr.strip()))
    return done.stdout.strip()


def version():
    """The version that nnrt.h states."""
    text = (ROOT / "nnrt.h").read_text(encoding="ascii")
    return ".".join(re.findall(r"^#define NNRT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.M))


def epoch():
    """The time of all files in archives, in seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))


def words():
    """{WORD: text} of the words that templates may contain as @WORD@."""
    moment = time.gmtime(epoch())
    found = {key.upper(): text for key, text in TABLE.items() if isinstance(text, str)}
    return {**found, "VERSION": version(), "DATE": time.strftime("%Y-%m-%d", moment),
            "RFC2822": time.strftime("%a, %d %b %Y %H:%M:%S +0000", moment)}


def fill(text, known, where):
    """The text with the words in it replaced."""
    unknown = set(re.findall(r"@([A-Z0-9]+)@", text)) - set(known)
    if unknown:
        raise Failure("%s: no value for @%s@" % (where, "@ @".join(sorted(unknown))))
    return re.sub(r"@([A-Z0-9]+)@", lambda hit: known[hit.group(1)], text)


def templates(name):
    """[(path in the archive, file)] of packaging/NAME."""
    top = FOLDER / name
    return sorted((path.relative_to(top).as_posix(), path) for path in top.rglob("*") if path.is_file())


def emitted(nnrt, arguments):
    """A model as constant C, by nnrt emit-c."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.h"
        subprocess.run([nnrt, "emit-c", *arguments.split(), "-o", path], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return path.read_bytes()


def amalgamation():
    """{name: bytes} of the headers that tools/single.c writes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/single", "--root", ROOT, folder], check=True, stdout=subprocess.DEVNULL)
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).glob("*.h")}


def contents(name, nnrt, headers, known):
    """{path in the archive: bytes} of a package, without its top folder."""
    package = TABLE["packages"][name]
    files = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    if package.get("sources"):
        files.update((path, (ROOT / path).read_bytes()) for path in git("ls-files").splitlines())
    if "headers" in package:
        role, folder = package["headers"]
        files.update(("%s/%s" % (folder, header), headers[header]) for header in TABLE["headers"][role])
    for path, source in package.get("add", {}).items():
        files[path] = (ROOT / source).read_bytes()
    for path, arguments in package.get("model", {}).items():
        files[path] = emitted(nnrt, arguments)
    for path, source in templates(name):
        if source.suffix not in BESIDE:
            files[path] = fill(source.read_text(encoding="utf-8"), known, source.relative_to(ROOT)).encode()
    return files


def executable(path):
    """Files that build systems start."""
    return path.endswith("debian/rules")


def as_zip(files, moment):
    """The bytes of a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, max(time.gmtime(moment)[:6], (1980, 1, 1, 0, 0, 0)))
            entry.create_system, entry.external_attr = 3, 0o100644 << 16  # Unix, whatever this system is
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[path])
    return out.getvalue()


def as_tar(files, moment):
    """The bytes of a tar archive, compressed by gzip."""
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, out, mtime=moment) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(files):
                entry = tarfile.TarInfo(path)
                entry.size, entry.mtime, entry.mode = len(files[path]), moment, 0o755 if executable(path) else 0o644
                archive.addfile(entry, io.BytesIO(files[path]))
    return out.getvalue()


def write(folder, names, nnrt):
    """Writes the archives of these packages into the folder."""
    headers, known = amalgamation(), words()
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        package = TABLE["packages"][name]
        top = fill(package["top"], known, name)
        files = {"%s/%s" % (top, path) if top else path: data for path, data in contents(name, nnrt, headers, known).items()}
        file = fill(package["file"], known, name)
        data = (as_tar if file.endswith((".tar.gz", ".crate")) else as_zip)(files, epoch())
        (folder / file).write_bytes(data)
        print("%s  %d files, %d bytes" % (folder / file, len(files), len(data)))
        own = {**known, "ARCHIVE": file, "SHA256": hashlib.sha256(data).hexdigest()}
        for path, source in templates(name):
            if source.suffix in BESIDE:
                (folder / path).write_text(fill(source.read_text(encoding="utf-8"), own, path), encoding="utf-8")


def suites_failed(results):
    """Suites without a passed result in the folder that make test leaves."""
    verdicts = {path.stem: path.read_text(encoding="ascii").split() for path in pathlib.Path(results).glob("*.txt")}
    return ["no results of make test in %s" % results] if not verdicts else \
        ["suite %s: %s passed, %s failed" % (name, *counts[:2]) for name, counts in sorted(verdicts.items())
         if counts[0] == "0" or counts[1] != "0"]


def release(folder, results):
    """The reasons why this tree is no release."""
    known = words()
    reasons = suites_failed(results)
    if not re.search(r"^## %s\b" % re.escape(known["VERSION"]), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M):
        reasons.append("CHANGELOG.md has no heading '## %s', the version of nnrt.h" % known["VERSION"])
    if "## Unreleased" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        reasons.append("CHANGELOG.md has a heading '## Unreleased': name the version, and raise it in nnrt.h")
    if git("status", "--porcelain"):
        reasons.append("the tree has changes that are not committed: git status")
    if "example.org" in known["HOMEPAGE"] + known["EMAIL"]:
        reasons.append("packaging/packages.toml: homepage and email are placeholders: %s" % known["HOMEPAGE"])
    missing = [fill(row["file"], known, name) for name, row in TABLE["packages"].items()
               if not (pathlib.Path(folder) / fill(row["file"], known, name)).is_file()]
    return reasons + ["no archive %s in %s: make packages" % (file, folder) for file in missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--nnrt", default=ROOT / "build/nnrt", type=pathlib.Path)
    parser.add_argument("--only", default="", help="names of packages, separated by spaces")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--release", action="store_true")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    options = parser.parse_args()
    names = options.only.split() or list(TABLE["packages"])
    try:
        if options.list:
            for name in names:
                print(name, fill(TABLE["packages"][name]["file"], words(), name))
        elif options.release:
            reasons = release(*options.folders)
            print("\n".join(reasons) if reasons else "nnrt %s can be released" % version())
            return 1 if reasons else 0
        else:
            write(pathlib.Path(options.folders[0]), names, options.nnrt.resolve())
    except (Failure, OSError, subprocess.CalledProcessError) as fault:
        print("packages.py: %s" % fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
