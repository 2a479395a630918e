"""Tables of words: what logs a user out, what a field of a form wants, which keys handlers wait for."""

from __future__ import annotations

import re

__all__ = ["KEYS", "MODIFIERS", "VALUES", "is_logout", "value_for"]

_LOGOUT = re.compile(
    r"\b(?:log[\s_-]?(?:out|off)|sign[\s_-]?(?:out|off)|abmelden|ausloggen|uitloggen|afmelden|logga\s?ut|log\s?ud|logg\s?ut"
    r"|d[ée]connexion|se\s+d[ée]connecter|cerrar\s+sesi[óo]n|desconectar(?:se)?|terminar\s+sess[ãa]o|encerrar\s+sess[ãa]o"
    r"|disconnetti(?:ti)?|esci\s+dall|kirjaudu\s+ulos|wyloguj|odhl[áa]sit|odjava|kijelentkez[ée]s|deconectare"
    r"|oturumu\s+kapat|[çc]\w{1,2}k\w{1,2}[şs]\s+yap|keluar\s+akun|đăng\s+xuất|αποσύνδεση)"
    r"|выйти|выход\b|вийти|退出登录|退出登錄|登出|注销|註銷|ログアウト|サインアウト|로그아웃|تسجيل\s+الخروج|התנתק|ออกจากระบบ",
    re.IGNORECASE,
)

VALUES = (
    ("email", "", "spider@example.com"),
    ("url", "", "https://example.com/"),
    ("tel", "", "+15555550100"),
    ("number", "year", "2000"),
    ("number", "", "1"),
    ("range", "", "1"),
    ("date", "", "2000-01-01"),
    ("datetime-local", "", "2000-01-01T00:00"),
    ("month", "", "2000-01"),
    ("week", "", "2000-W01"),
    ("time", "", "00:00"),
    ("color", "", "#000000"),
    ("password", "", "Spider-1-Spider"),
    ("", "mail", "spider@example.com"),
    ("", "phone", "+15555550100"),
    ("", "url", "https://example.com/"),
    ("", "website", "https://example.com/"),
    ("", "zip", "10000"),
    ("", "postal", "10000"),
    ("", "year", "2000"),
    ("", "date", "2000-01-01"),
    ("", "age", "30"),
    ("", "amount", "1"),
    ("", "quantity", "1"),
    ("", "name", "Spider"),
    ("", "city", "Berlin"),
    ("", "country", "Germany"),
    ("", "", "test"),
)
"""What a field gets: (its type, a word of its name or label, the text); the first row that fits."""

KEYS = ("Enter", "Escape", " ", "Tab", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Backspace", "Delete")
MODIFIERS = ("ctrl", "meta", "alt", "shift")
"""Keys that are held while another is pressed, as a handler asks for them."""


def is_logout(text: str) -> bool:
    """Say whether an element's words would end the session of whoever uses it."""
    return _LOGOUT.search(text[:2000]) is not None


def value_for(kind: str, hint: str) -> str:
    """Return a text for a field by its type and the words around it."""
    kind, hint = kind.lower(), hint.lower()
    return next(text for wanted, word, text in VALUES if wanted in {"", kind} and word in hint)
