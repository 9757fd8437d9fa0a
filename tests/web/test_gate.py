"""Nobody but the person who started the page comes in, whatever else runs in the browser or on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.conftest import OpenPages
from tests.web.pages import ORIGIN, PORT, Pages

PLAN = "# Plan\n\nWe meet on Monday.\n"


@pytest.fixture
def pages(folder: Path, open_pages: OpenPages) -> Pages:
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    found = open_pages(folder)
    found.client.cookies.clear()
    return found


def test_the_address_gives_a_strict_cookie_for_its_own_path_and_leads_on_without_the_token(pages: Pages) -> None:
    answer = pages.client.get(f"{pages.keys.base}/?token={pages.keys.token}")

    cookie = answer.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", f"Path={pages.keys.base}/"))
    assert pages.keys.token not in answer.text + cookie
    assert f"url={pages.keys.base}/" in answer.text
    assert "Inbox" in pages.get()


def test_a_ticket_lets_in_once(pages: Pages) -> None:
    ticket = pages.tickets.issue()
    address = f"{pages.keys.base}/?token={ticket}"

    assert [200, 403] == [pages.client.get(address).status_code for _ in range(2)]


@pytest.mark.parametrize(
    "place", ["", "note/Plan.md", "journal", "search?q=Monday", "graph/picture", "static/app.js"]
)
def test_without_the_cookie_no_page_says_anything(pages: Pages, place: str) -> None:
    for cookie in ("", "wrong", pages.keys.token):
        pages.client.cookies.set("vault_memex", cookie)

        answer = pages.client.get(f"{pages.keys.base}/{place}")

        assert (403, False) == (answer.status_code, "Monday" in answer.text)


def test_the_path_without_its_last_slash_leads_to_the_page(pages: Pages) -> None:
    pages.enter()
    answer = pages.client.get(pages.keys.base)

    assert (307, f"{pages.keys.base}/") == (answer.status_code, answer.headers.get("location"))


@pytest.mark.parametrize("path", ["/", "/note/Plan.md", "/static/app.css", "/k3j9xq2f/"])
def test_outside_of_its_path_there_is_nothing(pages: Pages, path: str) -> None:
    pages.enter()

    assert 404 == pages.client.get(path).status_code


HOSTS = [
    "evil.example",
    f"evil.example:{PORT}",
    "127.0.0.1:1",
    f"127.0.0.1.evil.example:{PORT}",
    "",
    f"[::1]:{PORT}",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_was_bent_to_this_machine_is_refused_even_with_the_cookie(pages: Pages, host: str) -> None:
    pages.enter()

    assert 421 == pages.client.get(f"{pages.keys.base}/", headers={"host": host}).status_code


STRANGERS = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": f"http://127.0.0.1:{PORT + 1}"},
    {"origin": f"http://localhost:{PORT}"},  # of another name than the one asked
    {},
    {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
    {"origin": ORIGIN, "sec-fetch-site": "same-site", "sec-fetch-dest": "document"},
]


@pytest.mark.parametrize("headers", STRANGERS)
def test_a_form_of_another_page_does_nothing_though_it_has_cookie_and_key(
    pages: Pages, folder: Path, headers: dict[str, str]
) -> None:
    pages.enter()

    answer = pages.client.post(
        f"{pages.keys.base}/undo", data={"form_key": pages.keys.form, "event": "1"}, headers=headers
    )

    assert 403 == answer.status_code


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_form_without_its_key_is_refused(pages: Pages, key: str) -> None:
    pages.enter()
    sent = pages.client.post(
        f"{pages.keys.base}/undo", data={"form_key": key, "event": "1"}, headers={"origin": ORIGIN}
    )

    assert (403, "another start") == (sent.status_code, "another start" in sent.text and "another start")


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"a=b", "text/plain", 415),
        (b"a=%ff", "application/x-www-form-urlencoded", 400),
        (b"x" * (4 * 1024 * 1024 + 1), "application/x-www-form-urlencoded", 413),
        (b"&".join([b"a=b"] * 1001), "application/x-www-form-urlencoded", 400),
    ],
)
def test_only_forms_of_a_bounded_size_are_read(pages: Pages, content: bytes, kind: str, status: int) -> None:
    pages.enter()
    headers = {"origin": ORIGIN, "content-type": kind}

    assert status == pages.client.post(f"{pages.keys.base}/undo", content=content, headers=headers).status_code


def test_other_sites_can_neither_embed_nor_fetch_but_a_link_to_a_page_opens_it(pages: Pages) -> None:
    pages.enter()
    embedded = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"}
    fetched = {"sec-fetch-site": "same-site", "sec-fetch-dest": "empty"}
    clicked = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}

    statuses = [
        pages.client.get(f"{pages.keys.base}/", headers=one).status_code for one in (embedded, fetched, clicked)
    ]

    assert [403, 403, 200] == statuses


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(pages: Pages, method: str) -> None:
    pages.enter()

    assert 405 == pages.client.request(method, f"{pages.keys.base}/").status_code


@pytest.mark.parametrize(
    "place", ["", "note/Plan.md", "note/Nothing.md", "static/app.js", "graph/picture", "nowhere"]
)
def test_every_answer_allows_no_foreign_script_and_no_request_to_anywhere(pages: Pages, place: str) -> None:
    pages.enter()
    headers = pages.client.get(f"{pages.keys.base}/{place}").headers

    policy = headers["content-security-policy"]
    assert policy.startswith(
        "default-src 'none'; script-src 'self'"
        if place != "graph/picture"
        else "default-src 'none'; script-src 'sha256-"
    )
    assert "'unsafe-eval'" not in policy
    assert "http" not in policy
    assert "'unsafe-inline'" not in policy.partition("style-src")[0]
    assert ("nosniff", "same-origin", "same-origin") == (
        headers["x-content-type-options"],
        headers["referrer-policy"],
        headers["cross-origin-resource-policy"],
    )
    if not place.startswith("static"):
        assert "no-store" == headers["cache-control"]
