"""Laws of events: who carries one, which are alike, what is left alone."""

from __future__ import annotations

import pytest

from spider.ajax.delegation import TargetHints, delegates
from spider.ajax.events import Event, Listener, Sources, events
from spider.ajax.samples import Samples
from spider.ajax.wording import is_logout, value_for
from tests.ajax.trees import tree


def fired(html: str, *listeners: Listener, **sources: object) -> list[tuple[str, str]]:
    """Return type and path of the events of a page."""
    return [(one.type, one.path) for one in events(tree(html), Sources(listeners, **sources))]  # type: ignore[arg-type]


def test_inline_handlers_and_javascript_links() -> None:
    """Attributes on* and javascript: addresses carry events; other links none."""
    html = '<body><p id=p onmouseover="x()"></p><a id=a href="javascript:go()">a</a><a id=b href="/b">b</a></body>'
    assert fired(html) == [("mouseover", "#p"), ("click", "#a")]


def test_link_with_handler_keeps_both() -> None:
    """An anchor with onmousedown and href has its event, whatever becomes of its address."""
    assert fired('<body><a id=a href="/x" onmousedown="m()">a</a></body>') == [("mousedown", "#a")]


def test_different_handlers_are_different_events() -> None:
    """Several anchors to # with different handlers are of different groups."""
    found = events(tree('<body><a href="#" onclick="one()"></a><a href="#" onclick="two()"></a></body>'), Sources())
    assert len({one.group for one in found}) == 2


def test_delegation_reaches_targets() -> None:
    """A listener above that asks for its target is fired on the elements it names, others on their own."""
    html = "<body node=1><ul node=2 id=l><li node=3 id=i>1</li></ul><div node=4 id=d><p node=5 id=p></p></div></body>"
    asks = Listener(2, "click", "1:0", "e => { if (e.target.tagName === 'LI') go(); }")
    plain = Listener(4, "click", "2:0", "() => go()")
    assert fired(html, asks, plain) == [("click", "#l"), ("click", "#i"), ("click", "#d")]


def test_document_delegation() -> None:
    """A listener on the document is fired on what its source names."""
    html = "<body node=1><div node=2 id=d><a node=3 id=a class=go></a><b node=4 id=b></b></div></body>"
    source = "function(e){ if (e.target.classList.contains('go')) x(); }"
    assert fired(html, Listener(0, "click", "1:0", source)) == [("click", "#a")]


def test_frameworks_rows_replace_their_roots() -> None:
    """What a framework keeps is fired on its elements; its listeners above are not."""
    html = "<html node=9><body node=1><div node=2 id=root><button node=3 id=b>x</button></div></body></html>"
    root = Listener(2, "click", "1:0", "function () { [native code] }")
    rows = [(3, "click", "react", "() => x()")]
    assert fired(html, root, rows=rows, known=frozenset({(2, "*")})) == [("click", "#b")]


def test_logout_is_left_alone() -> None:
    """Elements whose words end a session carry no event here."""
    html = '<body><button id=a onclick="x()">Log out</button><a id=b href="javascript:logout()">x</a></body>'
    assert fired(html) == []


@pytest.mark.parametrize(
    "text", ["Logout", "sign out", "/user/logoff", "Abmelden", "Se déconnecter", "退出登录", "Выйти"]
)
def test_logout_in_many_languages(text: str) -> None:
    """Words of many languages are known."""
    assert is_logout(text)


@pytest.mark.parametrize("text", ["Login", "Signature outline", "catalog output", "Blog", "existing"])
def test_what_is_no_logout(text: str) -> None:
    """Words that only look like it are not."""
    assert not is_logout(text)


def test_disabled_elements_carry_nothing() -> None:
    """A disabled button cannot be pressed."""
    assert fired('<body><button disabled onclick="x()">x</button></body>') == []


def test_options_are_events_each() -> None:
    """A select with a change handler has one event an option."""
    html = '<body><select onchange="x()"><option>1</option><option>2</option></select></body>'
    assert [one.value for one in events(tree(html), Sources())] == ["0", "1"]


def test_keys_are_those_asked_for() -> None:
    """A key handler gets the keys that its source names, Enter where it names none."""
    html = "<body node=1><input node=2></body>"
    named = Listener(0, "keydown", "1:0", "e => { if (e.key === 'Escape' || e.key === 'k') x(); }")
    plain = Listener(2, "keyup", "1:0", "() => x()")
    found = events(tree(html), Sources([named, plain]))
    assert {(one.type, one.value) for one in found} == {("keydown", "Escape"), ("keydown", "k"), ("keyup", "Enter")}


def test_routes_need_a_listener() -> None:
    """Links to fragments are events where the window listens for them."""
    html = '<body><a id=a href="#/x">x</a></body>'
    assert fired(html) == []
    assert fired(html, Listener(-1, "hashchange", "1:0", "() => x()")) == [("click", "#a")]


def test_defaults() -> None:
    """Summaries, popovers, forms and high pages do something by themselves."""
    html = "<html><body><details><summary id=s></summary></details><form id=f></form></body></html>"
    assert set(fired(html, height=2000.0)) == {("click", "#s"), ("submit", "#f"), ("scroll", "html")}


def _event(number: int, signature: str) -> Event:
    return Event(number, "click", "handler", signature, f"p{number}")


def test_alike_events_are_sampled() -> None:
    """Of two hundred rows that nothing tells apart three are fired while these do the same."""
    samples = Samples([_event(number, "") for number in range(200)])
    assert samples.first == [0, 1, 199]
    assert samples.fired(0, (1,)) == samples.fired(1, (1,)) == samples.fired(199, (1,)) == []


def test_samples_that_differ_call_for_all() -> None:
    """Where samples do different things all members are fired, once."""
    samples = Samples([_event(number, "") for number in range(6)])
    samples.fired(0, (1,))
    assert samples.fired(1, (2,)) == [2, 3, 4]
    assert samples.fired(5, (3,)) == []


def test_differing_data_calls_for_all() -> None:
    """Members that carry different data are all fired."""
    assert Samples([_event(number, f"data-id={number}") for number in range(9)]).first == list(range(9))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", True),
        ("() => go()", False),
        ("function () { go(); }", False),
        ("function (e) { e.preventDefault(); go(); }", False),
        ("function (e) { route(e); }", True),
        ("e => e.target.id", True),
        ("async e => { await go(e) }", True),
        ("function () { return fn.apply(this, arguments) }", True),
        ("function () { [native code] }", True),
    ],
)
def test_delegation_is_read(source: str, *, expected: bool) -> None:
    """A handler without use for its event does not delegate."""
    assert delegates(source) == expected


def test_hints() -> None:
    """Quoted words and data sets name the elements that a handler waits for."""
    hints = TargetHints("e => { if (e.target.closest('.row')) x(e.target.dataset.userId) }")
    found = [hints.fit(one) for one in tree("<p class='big row'></p><p data-user-id=1></p><p class=col></p>")]
    assert found == [True, True, False]


def test_values_by_type_and_label() -> None:
    """Fields get what their type or their label asks for."""
    assert value_for("email", "") == value_for("text", "Your e-mail") == "spider@example.com"
    assert value_for("number", "") == "1"
    assert value_for("search", "") == "test"
