"""Whatever an address, an argument, a form, a cookie or a header holds: the site refuses it and never fails."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.support.examples import is_thorough
from tests.web.access_rules import API
from tests.web.conftest import BOTH, Reader, World

# As they stand in an address or in an encoded form.
BROKEN = {
    "NUL": "%00",
    "NUL inside": "alpha%00beta",
    "an escape": "%1B%5B31m",
    "a line break": "a%0D%0ASet-Cookie:%20a=b",
    "delete": "%7F",
    "C1": "%C2%85",
}
ODD = {
    "half a pair": "%ED%A0%80",
    "no UTF-8": "%FF%FE",
    "10,000 characters": "x" * 10_000,
    "10,000 digits": "9" * 10_000,
    "beyond 32 bits": str(2**31),
    "beyond 64 bits": str(2**64),
    "negative": "-1",
    "other digits": quote("\u0663"),
    "a percent sign": "%25",
    "SQL": "%27%20OR%201=1%20--",
    "a path": "..%2F..%2Fetc%2Fpasswd",
    "the last code point": quote("\U0010ffff"),
    "nothing": "",
}
ALL = {**BROKEN, **ODD}
NUL = {"NUL inside": BROKEN["NUL inside"]}
FEW = {name: ODD[name] for name in ("half a pair", "beyond 64 bits")}
LONG = {"10,000 characters": ODD["10,000 characters"]}
# What PostgreSQL takes in no statement, or not as such a number, and SQLite does. Of the rest no engine knows: it is
# refused before, or is nothing special.
NOT_FOR_POSTGRESQL = ("NUL inside", "10,000 digits", "beyond 32 bits", "beyond 64 bits", "half a pair")
ON = {"sqlite": ALL, "postgresql": {name: ALL[name] for name in NOT_FOR_POSTGRESQL}}
# Half a pair is nothing special to SQLite, and it keeps a text of any length.
FEW_ON = {"sqlite": {"beyond 64 bits": ODD["beyond 64 bits"]}, "postgresql": FEW}
LONG_ON = {"sqlite": {}, "postgresql": LONG}
ARGUMENT = re.compile(r"<((?:[^:<>]+:)?(\w+))>")  # with its converter, and its name
SHARE = 1 if is_thorough() else 6  # one text in so many is put where others of its kind have been put already
GOOD = {
    "campaign": "harbour", "evaluation": "2025", "team": "alpha", "system": "searcher", "query": "q1", "name": "AP",
    "ending": "csv", "filename": "leaderboard.css",
}  # fmt: skip
ASKED = ("measure", "tag", "show", "sort", "condition", "page", "next", "v")
ENDING = ("/account", "/login", "/logout", "/password", "/register")  # forms that may end a session
FIELDS = (
    "name", "email", "password", "current", "description", "because", "next", "system", "new_system", "designation",
    "threshold", "label", "notes", "kept", "stand",
)  # fmt: skip


@pytest.fixture
def ada(app: Flask, participant: Reader) -> Reader:
    """A signed-in participant of a site that answers its own faults with a page, as it does outside of tests."""
    app.testing = False
    return participant


def addresses(app: Flask, method: str) -> Iterator[str]:
    """Every address that takes the method, as the site's own map has it: a new page is tried without being named."""
    for rule in app.url_map.iter_rules():
        if method in (rule.methods or ()) and rule.rule != "/readyz":  # which says 503: nobody made a store here
            yield rule.rule


def filled(rule: str, **given: str) -> str:
    """The address with its arguments filled in: those given, a good value for the others."""
    return ARGUMENT.sub(lambda found: given.get(found[2], GOOD.get(found[2], "1")), rule)


class Turns:
    """Deals out texts: all of them to the first place of a kind, and to each further one the next share of them."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = list(texts)
        self._share = min(SHARE, len(self._texts)) or 1
        self._places: Counter[str] = Counter()

    def next(self, kind: str) -> list[str]:
        place = self._places[kind]
        self._places[kind] += 1
        return self._texts[place % self._share :: self._share] if place else self._texts

    def pick(self, kind: str, texts: dict[str, str]) -> dict[str, str]:
        """The same by their names."""
        return {name: texts[name] for name in self.next(kind)}


def refusals(texts: dict[str, str], asked: Callable[[str], TestResponse]) -> list[str]:
    """What was not refused as it should be, of one place that the texts are put into."""
    wrong = []
    for name, text in texts.items():
        answer = asked(text)
        answer.close()
        refused = answer.status_code in (400, 401, 404, 405, 409, 413, 429)
        if not refused if name in BROKEN else answer.status_code >= 500:
            wrong.append(f"{name}: {answer.status}")
    return wrong


def post(by: Reader, path: str, form: str) -> TestResponse:
    return by.client.post(path, data=form, content_type="application/x-www-form-urlencoded")


@BOTH
def test_nothing_in_an_address_makes_the_site_fail(app: Flask, ada: Reader, engine_name: str) -> None:
    wrong, turns = [], Turns(ON[engine_name])
    for rule in addresses(app, "GET"):
        for kind, argument in ARGUMENT.findall(rule):

            def ask(text: str, rule: str = rule, argument: str = argument) -> TestResponse:
                return ada.client.get(filled(rule, **{argument: text}))

            wrong += [f"{rule} {argument} {one}" for one in refusals(turns.pick(kind, ALL), ask)]
    assert wrong == []


@BOTH
def test_nothing_that_a_page_is_asked_for_makes_it_fail(app: Flask, ada: Reader, engine_name: str) -> None:
    wrong = []
    # Refused before any statement and before the page is known: some at each page, and on one engine.
    refused = Turns([*(f"{name}={{0}}" for name in ASKED), "{0}=1"] if engine_name == "sqlite" else [])
    pages = [rule for rule in addresses(app, "GET") if "filename" not in rule]
    assert "/campaigns/<campaign>/<evaluation>" in pages
    every = "&".join(f"{name}={{0}}" for name in ASKED if name != "page")
    for rule in pages:
        for texts, asked in [
            *((NUL, one) for one in refused.next("a page")),
            (FEW_ON["sqlite"], "page={0}"),
            (FEW_ON[engine_name], every),
        ]:

            def ask(text: str, path: str = filled(rule), asked: str = asked) -> TestResponse:
                return ada.client.get(f"{path}?{asked.format(text)}")

            wrong += [f"{rule} ?{asked} {one}" for one in refusals(texts, ask)]
    assert wrong == []


@BOTH
def test_nothing_in_a_form_or_in_its_address_makes_the_site_fail(
    app: Flask, world: World, reader: Callable[[str], Reader], quick_hashes: None, engine_name: str
) -> None:
    app.testing = False
    wrong = []
    # Refused before any statement: some alone in each form.
    alone = Turns(FIELDS if engine_name == "sqlite" else FIELDS[:1])
    within = Turns([*NUL, *FEW])
    ada = reader("ada")
    for rule in addresses(app, "POST"):
        if rule.startswith(API) and engine_name == "postgresql":
            continue  # for want of a token it comes to no statement; with one: test_api_document.py
        token = f"csrf_token={quote(ada.token())}"
        every = "&".join([token, *(f"{name}={{0}}" for name in FIELDS)])
        names = alone.next("a form")
        one_by_one = [(NUL, every.format("a").replace(f"{name}=a", f"{name}={{0}}")) for name in names]
        for texts, form in [*one_by_one, (FEW_ON[engine_name], every), (LONG_ON[engine_name], every)]:

            def fill(text: str, path: str = filled(rule), form: str = form, by: Reader = ada) -> TestResponse:
                return post(by, path, form.format(text))

            wrong += [f"{rule} {form} {one}" for one in refusals(texts, fill)]
        for kind, argument in ARGUMENT.findall(rule):

            def go(
                text: str, rule: str = rule, argument: str = argument, form: str = token, by: Reader = ada
            ) -> TestResponse:
                return post(by, filled(rule, **{argument: text}), form)

            wrong += [f"{rule} {argument} {one}" for one in refusals(within.pick(kind, ALL), go)]
        if rule.startswith(ENDING):
            ada = reader("ada")
        assert ada.client.get("/account/tokens/new").status_code == 200, rule  # still signed in
    assert wrong == []


@pytest.mark.parametrize("path", ["/login", "/account/teams/new", "/campaigns/harbour/2025/submit"])
def test_nothing_in_a_form_of_parts_makes_the_site_fail(ada: Reader, path: str) -> None:
    for value in ("a\x00b", "\x1b[31m", "\x7f"):
        answer = ada.send(path, b"q1 Q0 d1 1 0.9 alpha\n", name=value, label=value, notes=value)
        assert answer.status_code == 400, value
        assert "be kept or shown" in answer.text
    for name in ("a\x00b", "\ud800"):
        answer = ada.client.post(
            path,
            data=f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n\xff\r\n--x--\r\n'.encode(
                "utf-8", "surrogatepass"
            ),
            content_type="multipart/form-data; boundary=x",
        )
        assert answer.status_code == 400
    answer = ada.client.post(path, data="x", content_type="text/plain")
    assert (answer.status_code, "<title>Error: " in answer.text) == (400, True)


@pytest.mark.parametrize("engine_name", ["postgresql"])  # the one that takes less; most comes to no statement
@pytest.mark.parametrize("path", ["/account/", "/campaigns/harbour/2025", "/static/leaderboard.css"])
def test_nothing_in_a_header_makes_the_site_fail(ada: Reader, path: str) -> None:
    values = ("\x00", "\xff\xfe", "\\000\\377", "x" * 10_000, str(2**64), "-1", '"', "=;=", "bytes=9-1,a-", "é")
    names = (
        "ACCEPT", "ACCEPT_LANGUAGE", "IF_NONE_MATCH", "IF_MODIFIED_SINCE", "RANGE", "REFERER", "USER_AGENT", "ORIGIN",
        "AUTHORIZATION", "X_FORWARDED_FOR", "X_FORWARDED_HOST", "X_FORWARDED_PREFIX", "X_HTTP_METHOD_OVERRIDE",
    )  # fmt: skip
    cookies = ("{}", "leaderboard={}", "leaderboard-browser={}")
    for value in values:
        for given in [
            {f"HTTP_{name}": value for name in names},
            *({"HTTP_COOKIE": one.format(value)} for one in cookies),
        ]:
            answer = ada.client.get(path, environ_overrides=given)
            answer.close()
            assert answer.status_code < 500, given


def test_a_body_that_is_no_form_is_refused(ada: Reader) -> None:
    bodies = (b'{"name": "\\ud800"}', b'{"name": "a\\u0000"}', b"\x00", b"[" * 10_000, b"")
    kinds = ("application/json", "text/plain", "multipart/form-data", "\xff", "multipart/form-data; boundary=\xff")
    for path in ("/login", "/campaigns/harbour/2025/submit"):
        for kind in kinds:
            for body in bodies:
                answer = ada.client.post(path, data=body, environ_overrides={"CONTENT_TYPE": kind})
                assert answer.status_code == 400, (path, kind, body)
