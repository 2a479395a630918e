"""Write spider/ajax/fingerprints.json: what tells each Ajax library, taken from its own files.

The table says which files of which npm packages to read.  From these come, for each library, the names of its
files, words that stand in every file of it and in no file of another (its signature), and the hash of each file
without white space.  A library that npm does not have comes from Debian's package (a range apt:NAME).  Needs npm,
apt-get and the registries; the tests do not.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from spider.ajax.fingerprint import bare, digest  # noqa: E402  # it is found from the root

TARGET = ROOT / "spider" / "ajax" / "fingerprints.json"
WORDS = 8  # of a signature
MIN_SIZE = 900  # bytes; a smaller file is a stub


@dataclass(frozen=True, slots=True)
class Library:
    """One library: its name, its npm package, ranges of versions, the files to read, names its files go by."""

    name: str
    package: str
    ranges: tuple[str, ...]
    files: tuple[str, ...]
    names: str
    texts: dict[str, list[str]] = field(default_factory=dict, hash=False, compare=False)


TAILS = (
    "ajax all base browser cdn compressed core csp debug dev development es2017 es5 esm full global latest legacy min "
    "module nc nocompat pack packed prod production runtime slim umd"
).replace(" ", "|")
"""What the names of files have behind the library's own."""


def _names(*words: str) -> str:
    """Return the expression for file names that begin with one of these words."""
    return rf"^(?:{'|'.join(words)})(?:[.\-_@](?:v?\d[\w.\-]*|{TAILS}))*\.m?js$"


LIBRARIES = (
    Library(
        "jQuery",
        "jquery",
        ("1.7", "1", "2", "3"),
        ("dist/jquery.js", "dist/jquery.min.js", "tmp/jquery.js"),
        _names("jquery"),
    ),
    Library("jQuery Migrate", "jquery-migrate", ("1", "3"), ("dist/jquery-migrate*.js",), _names("jquery-migrate")),
    Library("jQuery UI", "jquery-ui", ("1.13", "1.14"), ("dist/jquery-ui*.js",), _names("jquery-ui")),
    Library("Zepto", "zepto", ("1.1", "1"), ("dist/zepto*.js",), _names("zepto")),
    Library(
        "Prototype",
        "prototype",
        ("apt:libjs-prototype",),
        ("usr/share/javascript/*/prototype-1.*.js",),
        _names("prototype"),
    ),
    Library(
        "script.aculo.us",
        "scriptaculous",
        ("apt:libjs-scriptaculous",),
        tuple(f"usr/share/javascript/*/{name}.js" for name in ("scriptaculous", "effects", "controls", "dragdrop")),
        _names("scriptaculous", "effects", "controls", "dragdrop"),
    ),
    Library(
        "MooTools",
        "mootools",
        ("1.5", "1", "apt:libjs-mootools"),
        ("dist/*.js", "**/mootools*.js"),
        _names("mootools", "mootools-core", "mootools-more"),
    ),
    Library("Dojo", "dojo", ("1.10", "1"), ("dojo.js", "_base/xhr.js"), _names("dojo")),
    Library(
        "YUI",
        "yui",
        ("3.10", "3"),
        ("build/yui/yui.js", "build/yui/yui-min.js", "yui/yui*.js"),
        _names("yui", "yahoo", "yahoo-dom-event"),
    ),
    Library(
        "ExtJS",
        "extjs-gpl",
        ("4", "6", "*"),
        ("build/ext*.js", "ext-all*.js", "ext.js", "**/ext-all*.js"),
        _names("ext", "ext-all", "ext-base", "ext-modern-all"),
    ),
    Library("AngularJS", "angular", ("1.2", "1.5", "1"), ("angular.js", "angular.min.js"), _names("angular")),
    Library(
        "Angular",
        "@angular/core",
        ("8", "10", "12"),
        ("bundles/core.umd*.js",),
        _names("core", "angular2", "angular-core"),
    ),
    Library(
        "Zone.js",
        "zone.js",
        ("0.8", "0.11"),
        ("dist/zone.js", "dist/zone.min.js", "bundles/zone.umd*.js"),
        _names("zone"),
    ),
    Library(
        "React",
        "react",
        ("15", "16", "17", "18"),
        ("umd/react.*.js", "dist/react.js", "dist/react.min.js"),
        _names("react"),
    ),
    Library(
        "React DOM",
        "react-dom",
        ("15", "16", "17", "18"),
        ("umd/react-dom.development.js", "umd/react-dom.production.min.js", "dist/react-dom*.js"),
        _names("react-dom"),
    ),
    Library("Preact", "preact", ("8", "10"), ("dist/preact*.js", "dist/preact*.mjs"), _names("preact")),
    Library("Inferno", "inferno", ("5", "7"), ("dist/inferno*.js",), _names("inferno")),
    Library("Vue 2", "vue", ("2.5", "2"), ("dist/vue.js", "dist/vue.min.js", "dist/vue.runtime*.js"), _names("vue")),
    Library(
        "Vue",
        "vue",
        ("3.0", "3"),
        ("dist/vue.global*.js", "dist/vue.runtime.global*.js", "dist/vue.esm-browser*.js"),
        _names("vue"),
    ),
    Library("Svelte", "svelte", ("3", "4"), ("internal/index.mjs", "src/runtime/internal/*.js"), _names("svelte")),
    Library(
        "Ember", "ember-source", ("3.12", "3", "4"), ("dist/ember.debug.js", "dist/ember.prod.js"), _names("ember")
    ),
    Library("Backbone", "backbone", ("1.1", "1"), ("backbone.js", "backbone-min.js"), _names("backbone")),
    Library(
        "Marionette",
        "backbone.marionette",
        ("2", "4"),
        ("lib/backbone.marionette*.js",),
        _names(r"backbone\.marionette"),
    ),
    Library("Knockout", "knockout", ("3.4", "3"), ("build/output/knockout-latest*.js",), _names("knockout", "ko")),
    Library("Alpine", "alpinejs", ("2", "3"), ("dist/alpine.js", "dist/cdn*.js"), _names("alpine", "alpinejs", "cdn")),
    Library("htmx", "htmx.org", ("0.4", "1", "2"), ("dist/htmx.js", "dist/htmx.min.js"), _names("htmx")),
    Library("intercooler", "intercooler", ("1",), ("dist/intercooler*.js",), _names("intercooler")),
    Library("jQuery PJAX", "jquery-pjax", ("1", "2"), ("jquery.pjax.js",), _names(r"jquery\.pjax")),
    Library("petite-vue", "petite-vue", ("0.4",), ("dist/petite-vue*.js",), _names("petite-vue")),
    Library("cash", "cash-dom", ("1", "8"), ("dist/cash*.js",), _names("cash", "cash-dom")),
    Library("reqwest", "reqwest", ("1", "2"), ("reqwest*.js",), _names("reqwest")),
    Library("Solid", "solid-js", ("1",), ("dist/solid.js", "web/dist/web.js"), _names("solid")),
    Library("Unpoly", "unpoly", ("1", "2", "3"), ("unpoly.js", "unpoly.min.js", "dist/unpoly*.js"), _names("unpoly")),
    Library("axios", "axios", ("0.21", "0", "1"), ("dist/axios.js", "dist/axios.min.js"), _names("axios")),
    Library("SuperAgent", "superagent", ("5", "8"), ("dist/superagent*.js",), _names("superagent")),
    Library("Turbo", "@hotwired/turbo", ("7", "8"), ("dist/turbo*.js",), _names("turbo")),
    Library("Turbolinks", "turbolinks", ("5.0", "5"), ("dist/turbolinks.js",), _names("turbolinks")),
    Library("Stimulus", "@hotwired/stimulus", ("3.0", "3"), ("dist/stimulus*.js",), _names("stimulus")),
    Library("Handlebars", "handlebars", ("1", "3", "4"), ("dist/handlebars*.js",), _names("handlebars")),
    Library("Mustache", "mustache", ("2", "4"), ("mustache*.js",), _names("mustache")),
    Library("Lit", "lit-html", ("1", "2", "3"), ("lit-html.js",), _names("lit", "lit-html", "lit-core", "lit-all")),
    Library(
        "Polymer",
        "@polymer/polymer",
        ("3.0", "3"),
        ("lib/mixins/element-mixin.js", "lib/mixins/property-effects.js"),
        _names("polymer", "polymer-element"),
    ),
    Library("Mithril", "mithril", ("0.2", "1", "2"), ("mithril*.js",), _names("mithril")),
    Library("Riot", "riot", ("3", "4"), ("riot*.js",), _names("riot", r"riot\+compiler")),
    Library(
        "Socket.IO",
        "socket.io-client",
        ("2", "4"),
        ("dist/socket.io.js", "dist/socket.io.min.js"),
        _names(r"socket\.io"),
    ),
)


def _npm(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)  # noqa: S603  # of the table


def _home(library: Library, place: int) -> str:
    """Return the name of the folder for one version of a library."""
    return f"{re.sub(r'[^A-Za-z0-9]', '_', library.name)}-{place}"


def install(folder: Path) -> None:
    """Install every version of every package of the table under a name of its own."""
    wanted = {
        _home(library, place): span if span.startswith("apt:") else f"npm:{library.package}@{span}"
        for library in LIBRARIES
        for place, span in enumerate(library.ranges)
    }
    for name, spec in wanted.items():
        home = folder / name
        home.mkdir()
        if spec.startswith("apt:"):
            _debian(spec.removeprefix("apt:"), home)
            continue
        (home / "package.json").write_text('{"private": true}')
        command = ["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"]
        done = _npm([*command, f"it@{spec}"], home)
        if done.returncode:
            print(f"{spec} is not to be had: {done.stderr.strip().splitlines()[-1:]}")


def _debian(package: str, home: Path) -> None:
    """Unpack Debian's package of a library where npm's would stand."""
    target = home / "node_modules" / "it"
    target.mkdir(parents=True)
    _npm(["apt-get", "download", package], home)
    for archive in home.glob("*.deb"):
        _npm(["dpkg", "-x", str(archive), str(target)], home)
        version = archive.name.split("_")[1].partition("-")[0].partition("~")[0]
        (target / "package.json").write_text(json.dumps({"version": version}))


def read(folder: Path) -> None:
    """Read the files of every installed version into the table."""
    for library in LIBRARIES:
        for place in range(len(library.ranges)):
            home = folder / _home(library, place) / "node_modules" / "it"
            if not (home / "package.json").is_file():
                continue
            version = json.loads((home / "package.json").read_text())["version"]
            for pattern in library.files:
                for path in sorted(home.glob(pattern)):
                    if "node_modules" in path.relative_to(home).parts or path.stat().st_size < MIN_SIZE:
                        continue
                    texts = library.texts.setdefault(version, [])
                    text = path.read_text(encoding="utf-8", errors="replace")
                    if text not in texts:
                        texts.append(text)


def words(text: str) -> set[str]:
    """Return what could be part of a signature: names that minifying leaves, and short strings."""
    text = bare(text)
    names = set(re.findall(r"\.([A-Za-z_$][\w$]{5,30})\b", text)) | set(re.findall(r"\b([A-Za-z_$][\w$]{5,30}):", text))
    strings = set(re.findall(r"[\"']([\w$ .:@/,\[\]-]{6,40})[\"']", text))
    return names | {word for word in strings if word == word.strip(" ./,:")}


def signatures() -> dict[str, list[str]]:
    """Return for each library the words that most of its files have and nothing of another has, the longest first."""
    found = {library.name: [words(text) for texts in library.texts.values() for text in texts] for library in LIBRARIES}
    whole = {
        library.name: "\n".join(text for texts in library.texts.values() for text in texts) for library in LIBRARIES
    }
    signed: dict[str, list[str]] = {}
    for library in LIBRARIES:
        counts = Counter(word for one in found[library.name] for word in one)
        least = max(1, round(len(found[library.name]) * 0.6))
        others = [text for name, text in whole.items() if name != library.name]
        ranked = sorted(
            (word for word, count in counts.items() if count >= least),
            key=lambda word: (-counts[word], -len(word), word),
        )
        chosen: list[str] = []
        for word in ranked[:400]:
            if len(chosen) < WORDS and not any(word in other for other in others):
                chosen.append(word)
        signed[library.name] = chosen
    return signed


def main() -> int:
    """Build the file; say what is in it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name)
        if not any(folder.iterdir()):
            install(folder)
        read(folder)
    signed = signatures()
    rows: list[dict[str, Any]] = [
        {
            "name": library.name,
            "package": library.package,
            "versions": sorted(library.texts),
            "names": library.names,
            "signature": signed[library.name],
            "hashes": {digest(text): version for version, texts in sorted(library.texts.items()) for text in texts},
        }
        for library in LIBRARIES
        if library.texts
    ]
    TARGET.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for row in rows:
        print(f"{row['name']}: {', '.join(row['versions'])}; {len(row['hashes'])} files; {row['signature'][:3]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
