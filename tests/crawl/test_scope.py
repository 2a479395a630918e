"""Which links are worth visiting: each rule, by examples with the reason beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.crawl.scope import Judge, SeedScope, registrable
from spider.model import Accepted, Rejected, Scope
from spider.patterns import Pattern

ROOT = "http://a.example.org/films/index.html"
PAGE = "http://a.example.org/films/old/list.html"

CASES = [
    # scope, link, the rule that refuses it or None
    (Scope.TREE, "http://a.example.org/films/", None),
    (Scope.TREE, "http://a.example.org/films/new/x.html", None),
    (Scope.TREE, "https://a.example.org/films/x", None),  # http and https of one host are one site
    (Scope.TREE, "http://a.example.org/films", "tree"),  # a file beside the directory
    (Scope.TREE, "http://a.example.org/films2/x", "tree"),
    (Scope.TREE, "http://a.example.org/", "tree"),
    (Scope.TREE, "http://b.example.org/films/x", "tree"),
    (Scope.TREE, "http://a.example.org:8080/films/x", "tree"),  # another port is another site
    (Scope.TREE, "http://a.example.org.evil.test/films/x", "tree"),
    (Scope.TREE, "http://evil.test/?http://a.example.org/films/", "tree"),
    (Scope.TREE, "http://user@a.example.org/films/x", "tree"),  # an address with credentials is not ours to use
    (Scope.KIN, "http://a.example.org/films/old/other.html", None),  # sibling: same directory
    (Scope.KIN, "http://a.example.org/films/old/1931/x.html", None),  # child: below it
    (Scope.KIN, "http://a.example.org/films/list.html", "kin"),  # above it
    (Scope.KIN, "http://a.example.org/films/older/x.html", "kin"),
    (Scope.KIN, "http://b.example.org/films/old/other.html", "kin"),
    (Scope.HOST, "http://a.example.org/elsewhere", None),
    (Scope.HOST, "https://a.example.org/", None),
    (Scope.HOST, "http://b.example.org/films/", "host"),
    (Scope.HOST, "http://a.example.org:81/", "host"),
    (Scope.DOMAIN, "http://b.example.org/", None),
    (Scope.DOMAIN, "https://example.org:444/", None),
    (Scope.DOMAIN, "http://example.com/", "domain"),
    (Scope.DOMAIN, "http://badexample.org/", "domain"),
    (Scope.ANY, "http://example.com/", None),
]


def judge(scope: Scope, **options: object) -> Judge:
    """Make a judge of one seed."""
    return Judge([SeedScope(seed_id=1, root=ROOT, scope=scope, depth=3, **options)])  # type: ignore[arg-type]  # tests' own


@pytest.mark.parametrize(("scope", "link", "rule"), CASES, ids=[f"{scope}-{link}" for scope, link, _ in CASES])
def test_each_scope_takes_what_it_says(scope: Scope, link: str, rule: str | None) -> None:
    """A link within the scope is accepted for its seed; one outside is refused by the scope's own name."""
    expected = Accepted(1) if rule is None else Rejected(rule)
    assert judge(scope).judge(link, PAGE, seed_id=1, depth=1) == expected


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("someone.github.io", "someone.github.io"),
        ("xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
    ],
)
def test_the_registrable_domain_is_the_public_suffix_lists(host: str, domain: str) -> None:
    """The registrable domain is one label more than the public suffix; an address or a bare name is its own."""
    assert registrable(host) == domain


def test_rules_are_asked_in_order() -> None:
    """Forgotten stands above the scope, the scope above exclude, exclude above include, include above depth."""
    scope = SeedScope(1, ROOT, Scope.TREE, 3, (Pattern.of("[/-]x"),), (Pattern.of("no"),))
    asked = Judge([scope], forgotten=frozenset({"gone.test"}))
    base = "http://a.example.org/films/"
    verdicts = [
        asked.judge(link, PAGE, seed_id=1, depth=depth)
        for link, depth in [
            ("http://gone.test/no", 9),
            ("http://other.test/no", 9),
            (f"{base}no-x", 9),
            (f"{base}y", 9),
            (f"{base}x", 4),
            (f"{base}x", 3),
        ]
    ]
    rules = ["forgotten", "tree", "exclude", "include", "depth"]
    assert verdicts == [*(Rejected(rule) for rule in rules), Accepted(1)]


def test_a_link_into_another_seeds_tree_joins_it() -> None:
    """A page's own seed is asked first; a link that it refuses may join another seed's tree."""
    both = Judge(
        [
            SeedScope(1, "http://h.test/a/", Scope.TREE, 3),
            SeedScope(2, "http://h.test/b/", Scope.TREE, 3),
            SeedScope(3, "http://h.test/", Scope.HOST, 1),
        ]
    )
    assert both.judge("http://h.test/a/x", "http://h.test/a/", seed_id=1, depth=1) == Accepted(1)
    assert both.judge("http://h.test/b/x", "http://h.test/a/", seed_id=1, depth=1) == Accepted(2)
    assert both.judge("http://h.test/c", "http://h.test/a/", seed_id=1, depth=1) == Accepted(3)
    assert both.judge("http://h.test/c", "http://h.test/a/", seed_id=1, depth=2) == Rejected("tree")
    assert both.judge("http://i.test/", "http://h.test/a/", seed_id=1, depth=1) == Rejected("tree")


@given(st.text(alphabet="abc/.?#", max_size=12), st.sampled_from(list(Scope)))
def test_every_link_gets_a_verdict(path: str, scope: Scope) -> None:
    """Whatever a page links to is accepted or refused by a named rule."""
    verdict = judge(scope).judge(f"http://a.example.org/{path}", PAGE, seed_id=1, depth=1)
    assert verdict == Accepted(1) or (isinstance(verdict, Rejected) and verdict.rule == scope.value)
