"""Applications for the crawl's tests, and the processes of the browsers that explore them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.replies import Answer, Reply

APP = """<!doctype html><html><head><title>Films</title><script src="app.js" defer></script></head>
<body><div id="app"></div></body></html>"""
START = """
const app = document.getElementById("app");
const ask = path => fetch(path).then(answer => answer.ok ? answer.json() : [], () => []);
const button = (text, act) => {
  const one = document.createElement("button");
  one.textContent = text;
  one.id = text.toLowerCase();
  one.addEventListener("click", act);
  app.append(one);
};
const show = (...urls) => urls.forEach(url => {
  const video = document.createElement("video");
  video.setAttribute("src", url);
  app.append(video);
});
"""
SIMPLE = (
    START
    + """
ask("/api/films").then(films => {
  films.forEach((film, number) => button(film.name, () => {
    document.querySelectorAll("video, a.more").forEach(old => old.remove());
    show(film.url);
    const link = document.createElement("a");
    link.className = "more";
    link.href = "/film/" + number;
    link.textContent = film.name;
    app.append(link);
  }));
});
"""
)
SCRIPT = (
    SIMPLE
    + """
button("Secrets", () => ask("/private/list").then(list => show(...list)));
button("Sockets", () => {
  try { new WebSocket("ws://" + location.host + "/private/socket"); } catch (e) { }
  try { new SharedWorker("/private/worker.js"); } catch (e) { }
});
button("Save", () => fetch("/api/save", {method: "POST", body: "name=x"}));
"""
)
TEXT = "A page that says enough by itself. " * 20
JSON = "application/json"
FILMS = json.dumps([{"name": "One", "url": "/media/one.mp4"}, {"name": "Two", "url": "/media/two.webm"}])
STATIC: dict[str, Answer] = {
    "/": f'<title>All</title><p>{TEXT}<a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>',
    "/a": f'<title>A</title><p>{TEXT}<video src="/a.mp4"></video><script>fetch("/x")</script>',
    "/b": "<title>B</title><p>Little.",
    "/c": '<title>C</title><p>Little.<script>document.title = "c"</script>',
}


def script(text: str) -> Reply:
    """Return a script."""
    return Reply(text, type="text/javascript")


SITE: dict[str, Answer] = {
    "/robots.txt": Reply("User-agent: *\nDisallow: /private/", type="text/plain"),
    "/": APP,
    "/app.js": script(SCRIPT),
    "/api/films": Reply(FILMS, type=JSON),
    "/film/0": f'<title>One</title><p>{TEXT}<a href="/">all</a>',
    "/film/1": f'<title>Two</title><p>{TEXT}<a href="/">all</a>',
}


SMALL = {**SITE, "/app.js": script(SIMPLE)}
"""The same with nothing but the films."""


def processes(parent: int) -> list[int]:
    """Return the processes that descend from one."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in {"Z", "X"}:
            children.setdefault(int(fields[1]), []).append(int(place.parent.name))
    found, todo = [], [parent]
    while todo:
        todo += (more := children.get(todo.pop(), []))
        found += more
    return found


def browsers(parent: int) -> list[int]:
    """Return those of them that are browsers."""
    return [one for one in processes(parent) if b"--headless" in command(one) and b"--type=" not in command(one)]


def command(pid: int) -> bytes:
    """Return the command line of a process, nothing where there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
