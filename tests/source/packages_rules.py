#!/usr/bin/env python3
"""Rules for the manifests in the archives of tools/packages.py. For ecosystems whose tools Debian does not have this is the only
test; docs/packages.md lists them. The rules of PlatformIO, Zephyr and vcpkg follow the schemas named here; the other rules follow
the documentation of the formats, and were not compared with a schema:
  arduino  library specification of arduino-cli; library.json: schema of platformio-core
  esp-idf  reference of the idf-component-manager, "Manifest File"
  zephyr   schema in scripts/zephyr_module.py
  cmsis    PACK.xsd of Open-CMSIS-Pack-Spec 1.7
  vcpkg    vcpkg.schema.json of vcpkg-tool; conan: reference of conanfile.py; bazel: reference of MODULE.bazel
  rust     reference of Cargo.toml and limits of crates.io; swift: reference of Package.swift and of module maps

usage: packages_rules.py FOLDER     prints "ok NAME" or "FAIL NAME: why" for each check; the folder contains the archives
Each rule is also applied to a manifest with an error, which it must find.
"""
import ast
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tomllib
import xml.etree.ElementTree
import zipfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = r"\d+\.\d+\.\d+"
PERSON = r"[^<>]+ <[^<> ]+@[^<> ]+>"


def unpacked(path):
    """{path without the top folder: bytes} of an archive."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    else:
        with tarfile.open(path) as archive:
            files = {entry.name: archive.extractfile(entry).read() for entry in archive.getmembers()}
    tops = {name.split("/")[0] for name in files}
    return {name.split("/", 1)[1]: data for name, data in files.items()} if len(tops) == 1 else files


def need(condition, why):
    """Raises ValueError with this sentence unless the condition holds."""
    if not condition:
        raise ValueError(why)


def fields(found, rules, further=()):
    """A mapping has each field of rules, {name: pattern of its text}, and no others but `further`."""
    for name, pattern in rules.items():
        need(name in found, "no field '%s'" % name)
        need(re.fullmatch(pattern, str(found[name])), "%s: '%s', expected %s" % (name, found[name], pattern))
    unknown = set(found) - set(rules) - set(further)
    need(not unknown, "unknown field %s" % ", ".join(sorted(unknown)))


def present(files, names):
    """The archive contains these files."""
    for name in names:
        need(name in files, "there is no file %s" % name)


def arduino(files):
    found = dict(line.split("=", 1) for line in files["library.properties"].decode().splitlines())
    categories = "Display|Communication|Signal Input/Output|Sensors|Device Control|Timing|Data Storage|Data Processing|Other"
    fields(found, {"name": r"(?!Arduino)[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", "version": VERSION, "author": ".+", "maintainer": ".+",
                   "sentence": ".+", "paragraph": ".+", "category": categories, "url": "https?://.+",
                   "architectures": r"\*|[a-z0-9_]+(,[a-z0-9_]+)*"}, ("includes", "depends", "license"))
    present(files, ["src/" + name for name in found["includes"].split(",")])
    need(not any(name.startswith("utility/") for name in files), "src and utility exclude each other")
    for name in files:
        part = name.split("/")
        need(part[0] != "examples" or "/".join([*part[:2], part[1] + ".ino"]) in files, "%s has no sketch of its name" % part[:2])


def platformio(files):
    found = json.loads(files["library.json"])
    fields(found, {"name": r"(?=.{1,50}$)[a-z0-9]+(-[a-z0-9]+)*", "version": r"(?=.{1,20}$)" + VERSION, "description": ".{1,255}",
                   "keywords": "[a-z0-9, -]{1,255}", "homepage": "https?://.{1,240}", "license": "[A-Za-z0-9.-]+"},
           ("authors", "frameworks", "platforms", "headers", "examples", "repository", "dependencies", "export", "build"))
    present(files, ["src/" + name for name in found["headers"]])
    present(files, ["%s/%s" % (one["base"], name) for one in found["examples"] for name in one["files"]])
    need(all(one["name"] for one in found["authors"]), "an author has no name")


def esp_idf(files):
    found = yaml.safe_load(files["idf_component.yml"])
    fields(found, {"version": VERSION, "description": ".+", "url": "https?://.+", "license": "[A-Za-z0-9.-]+"},
           ("maintainers", "tags", "dependencies", "targets", "repository", "documentation", "issues", "files", "examples"))
    need(all(re.fullmatch(PERSON, one) for one in found["maintainers"]), "a maintainer is not 'Name <address>'")
    need(all(re.fullmatch("[A-Za-z0-9_-]{3,32}", one) for one in found["tags"]), "a tag is not 3 to 32 letters, digits, - and _")
    need(all(re.fullmatch(r"[<>=~^!*]*[0-9.*]+", str(one)) for one in found["dependencies"].values()), "a dependency has no version")
    folders = re.findall(r'INCLUDE_DIRS "(.*?)"', files["CMakeLists.txt"].decode())
    need(folders and all(any(name.startswith(one + "/") for name in files) for one in folders), "no folder of INCLUDE_DIRS")


def zephyr(files):
    found = yaml.safe_load(files["zephyr/module.yml"])
    fields(found, {"name": "[A-Za-z0-9_-]+"}, ("build", "tests", "samples", "boards", "blobs"))
    fields(found["build"], {"cmake": ".+", "kconfig": ".+"}, ("depends", "settings", "cmake-ext", "kconfig-ext"))
    present(files, [found["build"]["cmake"] + "/CMakeLists.txt", found["build"]["kconfig"]])
    used = set(re.findall(r"CONFIG_(\w+)", files["zephyr/CMakeLists.txt"].decode()))
    defined = set(re.findall(r"^config (\w+)", files["zephyr/Kconfig"].decode(), re.M))
    need(used == defined, "CMakeLists.txt uses %s, Kconfig defines %s" % (sorted(used), sorted(defined)))


def cmsis(files):
    top = xml.etree.ElementTree.fromstring(files["nnrt.nnrt.pdsc"])
    need(top.tag == "package" and re.fullmatch(r"1\.7\.\d+", top.get("schemaVersion", "")), "no package of schema 1.7")
    texts = {child.tag: (child.text or "").strip() for child in top}
    fields(texts, {"vendor": "nnrt", "name": "nnrt", "description": ".+", "url": "https?://.+/", "license": ".+", "releases": ""},
           ("keywords", "taxonomy", "components", "conditions", "examples", "apis", "boards", "devices", "repository"))
    present(files, [texts["license"]])
    newest = top.find("releases/release")
    fields(newest.attrib, {"version": VERSION, "date": r"\d{4}-\d\d-\d\d"}, ("tag", "url"))
    for component in top.iter("component"):
        fields(component.attrib, {"Cclass": ".{1,64}", "Cgroup": ".{1,64}", "Cversion": re.escape(newest.get("version"))},
               ("Csub", "Cvendor", "Cvariant", "Cbundle", "condition"))
        for file in component.iter("file"):
            fields(file.attrib, {"category": "doc|header|include|source|sourceC|library|other", "name": ".+"}, ("attr", "version"))
            name = file.get("name")
            need(name in files or name.endswith("/") and any(one.startswith(name) for one in files), "no file %s" % name)


def vcpkg(files):
    found = json.loads(files["vcpkg.json"])
    fields(found, {"name": "[a-z0-9]+(-[a-z0-9]+)*", "version": VERSION, "description": ".+", "homepage": "https?://.+",
                   "license": "[A-Za-z0-9.-]+"}, ("$schema", "maintainers", "supports", "dependencies", "port-version"))
    present(files, re.findall(r'CMAKE_CURRENT_LIST_DIR\}/([\w.-]+)"', files["portfile.cmake"].decode()))


def conan(files):
    text = files["conanfile.py"].decode()
    recipe = next(one for one in ast.parse(text).body if isinstance(one, ast.ClassDef))
    need([base.id for base in recipe.bases] == ["ConanFile"], "the class is no ConanFile")
    values = {target.id: ast.literal_eval(one.value) for one in recipe.body if isinstance(one, ast.Assign) for target in one.targets}
    fields(values, {"name": "[a-z0-9_+.-]{2,101}", "version": VERSION, "license": "[A-Za-z0-9.-]+", "url": "https?://.+",
                    "description": ".+", "package_type": "header-library|static-library|shared-library|library|application"},
           ("homepage", "topics", "settings", "no_copy_source", "exports_sources", "author"))
    methods = {one.name for one in recipe.body if isinstance(one, ast.FunctionDef)}
    need({"package", "package_info", "package_id"} <= methods, "methods: %s" % sorted(methods))


def bazel(files):
    text = files["MODULE.bazel"].decode()
    # this file of Starlark is also one of Python
    call = next(one.value for one in ast.parse(text).body if getattr(getattr(one, "value", None), "func", None))
    fields({one.arg: one.value.value for one in call.keywords}, {"name": r"[a-z]([a-z0-9._-]*[a-z0-9])?", "version": VERSION},
           ("compatibility_level", "bazel_compatibility"))
    present(files, re.findall(r'srcs = \["(.*?)"\]', files["BUILD.bazel"].decode()))


def rust(files):
    found = tomllib.loads(files["Cargo.toml"].decode())["package"]
    fields(found, {"name": "[a-z][a-z0-9_-]{0,63}", "version": VERSION, "edition": "2015|2018|2021", "description": ".{1,1000}",
                   "license": "[A-Za-z0-9. -]+", "homepage": "https?://.+", "links": "nnrt", "build": r"build\.rs"},
           ("rust-version", "authors", "categories", "keywords", "repository", "readme"))
    need(len(found["keywords"]) <= 5 and all(re.fullmatch("[a-z][a-z0-9_-]{0,19}", one) for one in found["keywords"]), "keywords")
    slugs = {"external-ffi-bindings", "science", "no-std", "embedded", "algorithms", "mathematics"}
    need(len(found["categories"]) <= 5 and set(found["categories"]) <= slugs, "categories: %s" % found["categories"])


def swift(files):
    text = files["Package.swift"].decode()
    need(re.match(r"// swift-tools-version:\s*5\.\d+\n", text), "the first line is not the version of the tools")
    for target in re.findall(r'\.target\(name: "(\w+)"', text):
        headers = "Sources/%s/include/" % target
        present(files, [headers + "module.modulemap"])
        module = files[headers + "module.modulemap"].decode()
        need("module %s {" % target in module, "the module map defines no %s" % target)
        present(files, [headers + name for name in re.findall(r'header "(.*?)"', module)])


# package, rules, and an error that they find: file, text, its replacement
RULES = [
    ("arduino", arduino, "library.properties", "category=Data Processing", "category=Networks"),
    ("arduino", platformio, "library.json", '"digits.ino"', '"other.ino"'),
    ("esp-idf", esp_idf, "idf_component.yml", "  - inference", "  - a b"),
    ("zephyr", zephyr, "zephyr/module.yml", "kconfig: zephyr/Kconfig", "kconfig: Kconfig"),
    ("cmsis", cmsis, "nnrt.nnrt.pdsc", 'name="include/nnrt_mcu.h"', 'name="nnrt_mcu.h"'),
    ("vcpkg", vcpkg, "vcpkg.json", '"license"', '"licence"'),
    ("conan", conan, "conanfile.py", "header-library", "headers"),
    ("bazel", bazel, "MODULE.bazel", '"nnrt"', '"Nnrt"'),
    ("rust", rust, "Cargo.toml", '"science"', '"neural"'),
    ("swift", swift, "Sources/CNnrt/include/module.modulemap", "nnrt_onnx.h", "onnx.h"),
]


def apply(rule, files):
    """Why the files break the rule; '' if they keep it."""
    try:
        rule(files)
    except (ValueError, KeyError, SyntaxError, StopIteration) as fault:
        return str(fault) or type(fault).__name__
    return ""


def templates(known):
    """Why files of packaging/ break the rules of this repository; names of files without an error: ''."""
    for path in sorted((ROOT / "packaging").rglob("*")):
        if path.is_file() and path.name != "nnrt.1":  # the manual page is generated
            text = path.read_text(encoding="utf-8")
            lines = text.count("\n")
            yield path.relative_to(ROOT), ("%d lines, at most 40" % lines if lines > 40 else
                                           "it contains the version %s" % known if known in text else "")


def main():
    folder = pathlib.Path(sys.argv[1])
    listed = subprocess.run([sys.executable, "-B", ROOT / "tools/packages.py", "--list"], check=True, capture_output=True, text=True)
    archives = dict(line.split() for line in listed.stdout.splitlines())
    known = re.search(VERSION, archives["meson"])[0]
    verdicts = list(templates(known))
    for name, rule, file, right, wrong in RULES:
        files = unpacked(folder / archives[name])
        verdicts.append(("%s: %s" % (name, rule.__name__), apply(rule, files)))
        changed = files[file].decode().replace(right, wrong)
        missed = changed == files[file].decode() or not apply(rule, {**files, file: changed.encode()})
        verdicts.append(("%s: '%s' instead of '%s'" % (name, wrong, right), "is not found" if missed else ""))
    digest = hashlib.sha256((folder / archives["meson"]).read_bytes()).hexdigest()
    verdicts.append(("nnrt.wrap", "" if "source_hash = %s\n" % digest in (folder / "nnrt.wrap").read_text() else "not the checksum"))
    for name, why in verdicts:
        print("FAIL %s: %s" % (name, why) if why else "ok %s" % name)
    return any(why for _, why in verdicts)


if __name__ == "__main__":
    sys.exit(main())
