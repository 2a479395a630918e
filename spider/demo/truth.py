"""What a right crawl of the sample site finds, page by page, as a table.

Addresses are written as the site's own files see them: a path from the site's root, or a whole address
where it is another site's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spider.model import MediaKind

__all__ = ["TRUTH", "Medium", "Sight", "Truth"]

_AUDIO, _FLASH, _VIDEO = MediaKind.AUDIO, MediaKind.FLASH, MediaKind.VIDEO


@dataclass(frozen=True, slots=True)
class Medium:
    """One medium of a page: its address, its kind, and the anchor text where it is a link ("" where it is played).

    `visited` is for a medium whose address does not tell that it is one: only asking for it does.
    """

    url: str
    kind: MediaKind
    text: str = ""
    visited: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """One page: how many links it is away from the home page, its title, its media in the order they stand."""

    depth: int
    title: str
    media: tuple[Medium, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """The whole site.

    `pages` are visited, each once; `redirects` say where an address leads, in one case to itself; `dead` are
    links that fail, with their status; `closed` are links that robots.txt closes; `external` are links that
    leave the site and are no media; `unlinked` are pages that no link leads to (behind a POST form, or behind a
    closed door); `missing` are media that the site links to and does not have; `listed` are the pages that the
    sitemap names, which a crawl that follows it meets one step away from the home page.
    """

    pages: Mapping[str, Sight] = field(default_factory=dict)
    redirects: Mapping[str, str] = field(default_factory=dict)
    dead: Mapping[str, int] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    external: frozenset[str] = frozenset()
    unlinked: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()


_PAGES = {
    "/": Sight(
        0,
        "Pictures that move, sounds that stay · The Lantern House",
        (Medium("http://radio.example/live.mp3", _AUDIO, "Harbour radio, live"),),
    ),
    "/about/": Sight(1, "About the house · The Lantern House"),
    "/archive/": Sight(1, "Archive · The Lantern House"),
    "/catalogue/": Sight(1, "Catalogue · The Lantern House"),
    "/diary/today.html": Sight(1, "Diary: today · The Lantern House"),
    "/films/": Sight(1, "Films · The Lantern House"),
    "/flash/": Sight(1, "Flash · The Lantern House"),
    "/floorplan.html": Sight(
        1, "Floor plan · The Lantern House", (Medium("/media/music-box.m4a", _AUDIO, "The music box: listen"),)
    ),
    "/sounds/": Sight(1, "Sounds · The Lantern House"),
    "/theatre/": Sight(1, "The shadow theatre · The Lantern House"),
    "/visit.html": Sight(1, "Opening hours · The Lantern House"),
    "/zh/": Sight(1, "灯笼之家"),
    "/about/colophon.html": Sight(2, "Colophon · The Lantern House"),
    "/archive/reels/": Sight(
        2, "The reel store · The Lantern House", (Medium("/media/garden.mp4", _VIDEO, "Garden, a spare print"),)
    ),
    "/catalogue/find.html": Sight(2, "Found · The Lantern House"),
    "/catalogue/shelf.html?kind=glass&floor=2": Sight(2, "A shelf of glass · The Lantern House"),
    "/diary/tomorrow.html": Sight(2, "Diary: tomorrow · The Lantern House", (Medium("/media/bell.mp3", _AUDIO),)),
    "/films/dances/": Sight(2, "Dances · The Lantern House"),
    "/films/garden.html": Sight(
        2,
        "A garden of cells · The Lantern House",
        (
            Medium("/media/garden.mp4", _VIDEO),
            Medium("http://films.example/garden-long.mp4", _VIDEO, "longer cut"),
        ),
    ),
    "/films/lights.html": Sight(
        2,
        "Lights on a wall · The Lantern House",
        (Medium("/media/lights.webm", _VIDEO), Medium("/media/lights.mp4", _VIDEO)),
    ),
    "/films/shell.html": Sight(
        2,
        "Journey into a shell · The Lantern House",
        (
            Medium("/media/shell.ogv", _VIDEO, "Take the film home"),
            Medium("/media/shell-uncut.avi", _VIDEO, "the uncut film"),
        ),
    ),
    "/films/stream.html": Sight(2, "The river, live · The Lantern House", (Medium("/media/waves.m3u8", _VIDEO),)),
    "/flash/clock.html": Sight(2, "The clock · The Lantern House", (Medium("/media/clock.swf", _FLASH),)),
    "/flash/curtain.html": Sight(2, "The curtain · The Lantern House", (Medium("/media/curtain.swf", _FLASH),)),
    "/flash/puppet.html": Sight(2, "The puppet · The Lantern House", (Medium("/media/puppet.swf", _FLASH),)),
    "/flash/zoetrope.html": Sight(
        2, "The zoetrope · The Lantern House", (Medium("/media/zoetrope.swf?speed=2", _FLASH, "Spin the drum"),)
    ),
    "/rooms/lantern.html": Sight(2, "The lantern room · The Lantern House"),
    "/rooms/puppets.html": Sight(2, "The puppet room · The Lantern House"),
    "/sounds/bell.html": Sight(
        2,
        "The bell of the ferry · The Lantern House",
        (
            Medium("/media/bell.mp3", _AUDIO, "The bell, once"),
            Medium("/listen/bell", _AUDIO, "the bell, as the machine in the hall plays it", visited=True),
        ),
    ),
    "/sounds/listening-room.html": Sight(2, "The listening room · The Lantern House"),
    "/sounds/organ.html": Sight(
        2, "The organ on the stairs · The Lantern House", (Medium("/media/organ.wav", _AUDIO),)
    ),
    "/sounds/rain.html": Sight(
        2,
        "Two kinds of rain · The Lantern House",
        (Medium("/media/rain.ogg", _AUDIO), Medium("/media/rain.mp3", _AUDIO)),
    ),
    "/theatre/menu.html": Sight(2, "Doors · The Lantern House"),
    "/theatre/stage.html": Sight(2, "The stage · The Lantern House"),
    "/zh/films.html": Sight(2, "电影", (Medium("/media/lights.mp4", _VIDEO, "墙上的光"),)),
    "/zh/find.html?q=%B5%C6%D3%B0": Sight(2, "灯影", (Medium("/media/rain.ogg", _AUDIO, "雨声"),)),
    "/films/dances/ribbon.html": Sight(3, "Ribbon · The Lantern House", (Medium("/media/ribbon.mp4", _VIDEO),)),
    "/rooms/phonograph.html": Sight(
        3,
        "The phonograph room · The Lantern House",
        (Medium("/media/organ.wav", _AUDIO, "Hear the horn play the organ"),),
    ),
    "/sounds/booth.html": Sight(3, "The booth", (Medium("/media/music-box.m4a", _AUDIO),)),
    "/theatre/programme.html": Sight(
        3,
        "Programme · The Lantern House",
        (
            Medium("/media/music-box.m4a", _AUDIO, "one music box"),
            Medium("/media/rain.mp3", _AUDIO, "rain"),
        ),
    ),
}

TRUTH = Truth(
    pages=_PAGES,
    redirects={
        "/films/dances": "/films/dances/",
        "/go/partner": "http://partner.example/",
        "/lost/a.html": "/lost/b.html",
        "/lost/b.html": "/lost/a.html",
        "/lost/self.html": "/lost/self.html",
        "/tonight": "/theatre/",
        "/welcome.html": "/visit.html",
    },
    dead={"/about/cellar.html": 404, "/attic/": 404, "/films/lost-reel.html": 404, "/sounds/gone.html": 410},
    closed=frozenset({"/workshop/"}),
    external=frozenset({"http://partner.example/", "https://friends.example/lanterns/"}),
    unlinked=frozenset({"/catalogue/thanks.html", "/workshop/bench.html"}),
    missing=frozenset({"/media/shell-uncut.avi"}),
    listed=frozenset(
        {
            "/",
            "/about/",
            "/films/",
            "/films/lights.html",
            "/flash/",
            "/flash/puppet.html",
            "/sounds/",
            "/sounds/organ.html",
        }
    ),
)
