"""Laws of what is only named: it is told with its place, by whatever hid it, and nobody asks for it."""

from __future__ import annotations

from spider.ajax import Limits
from tests.ajax.conftest import Explore
from tests.replies import Asked, Reply

PAGE = """<!doctype html><!-- http://example.com/comment --><link rel=stylesheet href=/style.css>
<script src=/code.js></script>
<body><a href="/app#!/route">r</a><a ping=/ping href=#x>p</a><p id=p></p><button id=b>b</button>
<script>var a = ["/vari", "able"].join(""); b.onclick = () => { new Image().src = ["/pic", "ture"].join("");
p.style.backgroundImage = "url(" + ["/back", "ground"].join("") + ")";
history.pushState(1, "", "#!/state"); }</script>"""
ANSWERS = {
    "/": Reply(PAGE, headers=(("Link", "</header>; rel=preload"),)),
    "/style.css": Reply("@font-face { src: url(/font) } @import '/import.css';", type="text/css"),
    "/code.js": Reply(
        "// see http://example.com/note\nfunction never() { location = '/never'; }", type="text/javascript"
    ),
}


def test_everything_named_is_told(explore: Explore) -> None:
    """Headers, comments, styles, scripts, variables, pictures, pings and routes name addresses; none is asked for."""

    def content(asked: Asked) -> Reply | None:
        return ANSWERS.get(asked.path)

    found = explore(content, limits=Limits(depth=2, seconds=60))
    told = {found.path(url): str(link.source) for url, link in found.application.mentions().items()}
    expected = {
        "http://example.com/comment": "comment@text", "http://example.com/note": "script@text",
        "/style.css": "link@href", "/code.js": "script@src", "/import.css": "style@text", "/font": "style@text",
        "/header": "header@link", "/ping": "a@ping", "/never": "script@text", "/variable": "script@variable",
        "/picture": "request@image", "/background": "request@image", "/app#!/route": "a@href",
        "/#!/state": "request@route",
    }  # fmt: skip
    assert {url: told.get(url) for url in expected} == expected
    assert set(found.server.asked()) <= {"/", "/style.css", "/code.js", "/import.css"}
