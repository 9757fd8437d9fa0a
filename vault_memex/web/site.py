"""What every page shares: the vault, addresses, templates, and how moments and values are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from vault_memex import __version__
from vault_memex.core.text import stem_of
from vault_memex.memory.inferences import INFERENCES_FOLDER
from vault_memex.memory.proposal_file import render_value
from vault_memex.memory.signals_file import SIGNALS_PATH
from vault_memex.services.inbox import DETAIL, UNDONE
from vault_memex.store.journal import JournalEvent
from vault_memex.vault import Vault
from vault_memex.web.access import Keys
from vault_memex.web.gate import FORM
from vault_memex.web.looking import Looking

_INFERENCE = re.compile(rf"{re.escape(INFERENCES_FOLDER)}/([0-9]{{1,9}})-", re.ASCII)
DECISIONS = ("approved", "rejected", "acknowledged")


@dataclass(frozen=True, slots=True)
class Done:
    """What was decided just before, for the line that offers to take it back."""

    event: int
    text: str
    lost: tuple[str, ...] = ()  # words that do not fit the note any more


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of one vault in one run."""

    vault: Vault
    keys: Keys
    signals: Looking

    def url(self, place: str = "", **query: object) -> str:
        """Return the address of a page; what is empty or 0 is left out of its query."""
        sent = {name: str(value) for name, value in query.items() if value not in ("", None, 0)}
        return f"{self.keys.base}/{place}" + (f"?{urlencode(sent)}" if sent else "")

    def path_url(self, kind: str, path: str) -> str:
        """Return the address of a page about a path: kind is note, waiting or file."""
        return self.url(f"{kind}/{quote(path, safe='/')}")

    def note_url(self, path: str) -> str:
        """Return where a note is read."""
        return self.path_url("note", path)

    def event_url(self, path: str) -> str:
        """Return where what the journal speaks of is seen; empty when no page shows it."""
        if path == SIGNALS_PATH:
            return self.url("signals")
        inference = _INFERENCE.match(path)
        if inference:
            return self.url(f"inference/{int(inference[1])}")
        return "" if path.startswith(("_memex/", ".")) else self.note_url(path)

    def render(self, request: Request, template: str, code: int = 200, **values: Any) -> Response:
        """Return a page. `error` among the values is said at its top."""
        page = (
            _environment()
            .get_template(template)
            .render(
                site=self,
                version=__version__,
                vault=self.vault.root.name,
                inbox_count=self.count_waiting(),
                done=self._find_done(request),
                remark=self._find_remark(),
                **{"error": "", "query": "", **values},
            )
        )
        return HTMLResponse(page, code)

    def count_waiting(self) -> int:
        """Return how many proposals and new notes wait."""
        review = self.vault.review
        return len(review.inbox.find_paths()) + len(review.find_notes())

    def go(self, address: str) -> Response:
        """Return the answer to a form that was taken: the page to show now."""
        return RedirectResponse(address, 303)

    def find_event(self, number: int) -> JournalEvent | None:
        """Return an event of the journal."""
        return self.vault.transactor.stores.journal.find_event(number)

    def _find_remark(self) -> str:
        """Return what is to be said of the index: that notes are missing in it. A check at the start is not told."""
        background = self.vault.background
        if self.vault.catalogue.is_complete() and background.state().state != "stale":
            return ""
        return background.find_remark() or ""

    def _find_done(self, request: Request) -> Done | None:
        """Return what the address says was done, as the journal tells it."""
        said = request.query_params.get("done", "")
        event = self.find_event(int(said)) if said.isdecimal() and len(said) < 12 else None
        if event is not None and event.kind == UNDONE:
            return Done(event.id, event.title)
        if event is None or not is_decision(event):
            return None
        number = event.details.get(DETAIL)
        what = f"proposal {number}" if number is not None else "the new note"
        outcome = str(event.details["decision"]).replace("_", " ").capitalize()
        lost = event.details.get("not_applied", [])
        return Done(event.id, f"{outcome}: {what}, {stem_of(event.path)}", tuple(map(str, lost)))


def is_decision(event: JournalEvent) -> bool:
    """Whether an event is a verdict, which can be taken back."""
    return event.details.get("decision") in DECISIONS


def find_form(request: Request) -> Mapping[str, str]:
    """Return the fields that were sent."""
    form: Mapping[str, str] = request.scope[FORM]
    return form


def find_count(request: Request, name: str) -> int:
    """Return a number of the address; 0 where there is none that makes sense."""
    said = request.query_params.get(name, "")
    return int(said) if said.isdecimal() and len(said) < 9 else 0


def render_time(moment: str) -> str:
    """Return a moment, in this machine's time, or a day: `30 Nov 2026, 14:05`."""
    try:
        if len(moment) <= len("2026-11-30"):
            return _render_day(date.fromisoformat(moment))
        parsed = datetime.fromisoformat(moment)
    except ValueError:  # what a person wrote
        return moment
    local = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone()
    return f"{_render_day(local.date())}, {local:%H:%M}"


def find_day(moment: str) -> str:
    """Return the day of a moment, to put those of a day together."""
    return render_time(moment).partition(",")[0]


def _render_day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


def render_word(name: str) -> str:
    """Return the name of a kind as words."""
    return _WORDS.get(name, name.replace("_", " "))


def mark_words(text: str, query: str) -> Markup:
    """Return the text with the words of a query marked, also where they begin a longer word."""
    words = sorted({word for word in _WORD.findall(query) if len(word) > 1}, key=len, reverse=True)
    if not words:
        return escape(text)
    parts = re.split(rf"(?<!\w)({'|'.join(map(re.escape, words))})", text, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


_WORD = re.compile(r"\w+")
_WORDS = {
    "submitted": "proposed",
    "edited_outside": "edited outside",
    "operator_flag": "marked by you",
    "hidden_arc": "hidden thread",
    "tag_burst": "subject is back",
    "stale_state": "overtaken state",
    "dangling_link": "link to nowhere",
}


def compile_templates() -> None:
    """Make all templates ready, a tenth of a second's work that would else fall to the first pages."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("vault_memex.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        time=render_time, day=find_day, word=render_word, value=render_value, stem=stem_of, mark=mark_words
    )
    return environment
