"""Whether an object is a Flash movie, and which file it plays.

The rules are Ruffle's, the player that still runs such movies: class identifier, then type, then the
path's extension.  An embed inside an object, or an object inside one, is the same movie told for
another browser; what stands inside audio or video is a fallback that no browser shows any more.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborNode

from spider.model import Confidence, MediaKind, Source
from spider.page.charset import clean
from spider.page.gather import Attributes, Claim, Gathering, Handler, Reference, ancestors
from spider.page.kinds import MIME_TYPES, by_mime, extension

__all__ = ["CLASS_IDS", "OBJECT_TAGS", "is_flash"]

FLASH_CLASS: Final = "d27cdb6e-ae6d-11cf-96b8-444553540000"

# The other players that wrote class identifiers, and what they play when neither type nor name tells.
CLASS_IDS: Final = MappingProxyType(
    {
        FLASH_CLASS: MediaKind.FLASH,
        "22d6f312-b0f6-11d0-94ab-0080c74c7e95": MediaKind.VIDEO,  # Windows Media Player 6.4
        "6bf52a52-394a-11d3-b153-00c04f79faa6": MediaKind.VIDEO,  # Windows Media Player 7 and later
        "05589fa1-c356-11ce-bf01-00aa0055595a": MediaKind.VIDEO,  # ActiveMovie
        "02bf25d5-8c17-4b23-bc80-d3488abddc6b": MediaKind.VIDEO,  # QuickTime
        "cfcdaa03-8be4-11cf-b84b-0020afbbccfa": MediaKind.VIDEO,  # RealPlayer
        "9be31822-fdad-461b-ad51-be1d1c159921": MediaKind.VIDEO,  # VLC
        "67dabfbf-d0ab-41fa-9c46-cc0f21721616": MediaKind.VIDEO,  # DivX
    }
)

# The parameters that name the file, in the order they are believed.
_FILE_PARAMS = ("movie", "src", "url", "filename", "file", "source")
_VARIABLES = "flashvars"
_OCTETS = frozenset({"application/octet-stream", "binary/octet-stream"})
_FLASH_EXTENSIONS = frozenset({"swf", "spl"})
_HTML = frozenset({"text/html", "text/x-scriptlet", "application/xhtml+xml"})
_HTML_EXTENSIONS = frozenset({"html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cfm"})
_OBJECT_DATA, _EMBED_SRC = Source("object", "data"), Source("embed", "src")


def is_flash(url: str, *, mime: str | None = None, class_id: str | None = None) -> bool:
    """Say whether an object or embed plays Flash, as Ruffle would: class, then type, then extension."""
    if class_id is not None:
        return class_id == FLASH_CLASS
    name = (mime or "").strip().lower()
    if name and name not in _OCTETS:
        return MIME_TYPES.get(name, (None,))[0] is MediaKind.FLASH
    return extension(url.strip()) in _FLASH_EXTENSIONS


def _class_id(attributes: Attributes) -> str | None:
    value = (attributes.get("classid") or "").strip().lower()
    return value.removeprefix("clsid:").strip("{} ") if value else None


def _params(node: LexborNode) -> dict[str, str]:
    found: dict[str, str] = {}
    for child in node.iter():
        if child.tag == "param":
            attributes = child.attributes
            name, value = attributes.get("name"), attributes.get("value")
            if name and value:
                found.setdefault(name.strip().lower(), value)
    return found


def _enclosing(found: Gathering, node: LexborNode) -> tuple[bool, Claim | None]:
    """Say whether a player's fallback holds `node`, and which claimed object does."""
    claim = None
    for above in ancestors(node):
        if above.tag in {"video", "audio"}:
            return True, claim
        if claim is None and above.tag == "object":
            claim = found.objects.get(above.mem_id)
    return False, claim


def _object(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    fallback, outer = _enclosing(found, node)
    params = _params(node)
    class_id, mime = _class_id(attributes), attributes.get("type")
    url, source = attributes.get("data") or "", _OBJECT_DATA
    if not url.strip():
        name = next((name for name in _FILE_PARAMS if params.get(name, "").strip()), None)
        url, source = (params[name], Source("param", name)) if name else ("", source)
    if not url.strip():
        return
    kind = _object_kind(url, mime, class_id)
    if kind is MediaKind.FLASH and fallback:
        return
    if kind is MediaKind.FLASH and class_id is not None and not (mime or "").strip():
        url = _better(node) or url
    claim = _claim(url, source, kind, attributes)
    _variables(found, params.get(_VARIABLES), Source("param", _VARIABLES))
    if outer is not None and outer.kind is claim.kind:
        outer.also.append(source)
        found.objects[node.mem_id] = outer
    elif class_id is None or class_id in CLASS_IDS:
        _take(found, claim, mime)
        if kind is not None:
            found.objects[node.mem_id] = claim


def _better(node: LexborNode) -> str | None:
    """Return the movie of the first embed inside an object that only its class identifier makes Flash.

    Ruffle plays that one: the class is for Internet Explorer, the embed for all others.
    """
    inner = node.css_first("embed")
    if inner is None:
        return None
    attributes = inner.attributes
    src = attributes.get("src") or ""
    return src if src.strip() and is_flash(src, mime=attributes.get("type")) else None


def _object_kind(url: str, mime: str | None, class_id: str | None) -> MediaKind | None:
    if is_flash(url, mime=mime, class_id=class_id):
        return MediaKind.FLASH
    if class_id is not None:
        # a class that is no player's says that this is none
        return CLASS_IDS.get(class_id)
    told = by_mime(mime, url)
    return told[0] if told else None


def _embed(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    url, mime = attributes.get("src") or "", attributes.get("type")
    if not url.strip():
        return
    fallback, outer = _enclosing(found, node)
    told = by_mime(mime, url)
    kind = MediaKind.FLASH if is_flash(url, mime=mime) else told[0] if told else None
    _variables(found, attributes.get(_VARIABLES), Source("embed", _VARIABLES))
    if outer is not None and (kind is None or outer.kind is kind):
        outer.also.append(_EMBED_SRC)
    elif not (kind is MediaKind.FLASH and fallback):
        _take(found, _claim(url, _EMBED_SRC, kind, attributes), mime)


def _claim(url: str, source: Source, kind: MediaKind | None, attributes: Attributes) -> Claim:
    mime = (attributes.get("type") or "").strip().lower() or None
    text = clean(attributes.get("title")) or clean(attributes.get("aria-label")) or clean(attributes.get("alt"))
    title = clean(attributes.get("title"))
    return Claim(url, source, Confidence.ELEMENT, kind, mime, text=text, title=title, frame=kind is None)


def _take(found: Gathering, claim: Claim, mime: str | None) -> None:
    """Put a claim on the heap; what may be a document instead is a reference too."""
    found.claims.append(claim)
    name = (mime or "").partition(";")[0].strip().lower()
    document = name in _HTML or (not name and claim.kind is None and extension(claim.raw.strip()) in _HTML_EXTENSIONS)
    if document and claim.source in {_OBJECT_DATA, _EMBED_SRC}:
        found.references.append(Reference(claim.raw, claim.source, claim.text, claim.title))


def _variables(found: Gathering, value: str | None, source: Source) -> None:
    """Keep a player's variables for the reader of attributes: a file may be named in them."""
    if value:
        found.variables.append((value, source))


OBJECT_TAGS: Final[MappingProxyType[str, Handler]] = MappingProxyType({"object": _object, "embed": _embed})
