"""What waits: the list, one proposal, one new note, and the person's decisions on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from vault_memex.core.markdown import parse_note
from vault_memex.core.text import LINE_END, base_of, shorten
from vault_memex.errors import FrontmatterInvalid, InvalidArgument, MemexError, NotFound
from vault_memex.memory.proposal_file import find_texts, render_difference
from vault_memex.memory.proposals import Proposal, find_number
from vault_memex.memory.side_by_side import build_side_by_side
from vault_memex.services.amending import amend
from vault_memex.services.history import ChangesRequest
from vault_memex.services.inbox import DETAIL
from vault_memex.services.inbox_view import find_page
from vault_memex.services.review import Decided, Verdict
from vault_memex.web.note_page import render_body, render_properties
from vault_memex.web.site import Site, find_count, find_form, is_decision

PAGE = 50
LATELY = 6  # changes shown where nothing waits
SHOWN = 90  # code points on each side of a change in the list


@dataclass(frozen=True, slots=True)
class Preview:
    """The first change of a proposal, on one line."""

    before: str
    old: str
    new: str
    after: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What waits before and after something, as addresses, and its place."""

    place: int
    total: int
    previous: str
    following: str


def show_inbox(site: Site, request: Request) -> Response:
    """List what waits."""
    offset = find_count(request, "offset")
    page = find_page(site.vault.review, offset, PAGE)
    lately = () if page.total else site.vault.history.find_changes(ChangesRequest(limit=LATELY)).rows
    return site.render(
        request,
        "inbox.html",
        page=page,
        lately=lately,
        unreadable=[(find_number(base_of(said.partition(": ")[0])), said) for said in page.unreadable],
        previews={one.number: _preview(one) for one in page.proposals},
        offset=offset,
        size=PAGE,
    )


def tell_count(site: Site, request: Request) -> Response:  # noqa: ARG001 -- as all pages
    """Return how much waits, for the page that is open and asks now and then."""
    return JSONResponse({"waiting": site.count_waiting()})


def _preview(one: Proposal) -> Preview | None:
    if one.body is not None and one.body.hunks:
        hunk = one.body.hunks[0]
        before, after = LINE_END.split(hunk.before)[-1], LINE_END.split(hunk.after)[0]
        start = f"…{before[-SHOWN:]}" if len(before) > SHOWN else before
        return Preview(start, _cut(hunk.old), _cut(hunk.new), shorten(after, SHOWN))
    if one.body is not None and one.body.whole is not None:
        return Preview("", "", _cut(one.body.whole), "")
    for field in one.fields:
        old, new = (_cut("" if value is None else str(value)) for value in (field.old, field.new))
        return Preview(f"{field.name}: ", old, new, "")
    return None


def _cut(text: str) -> str:
    return shorten(LINE_END.sub(" ⏎ ", text), 2 * SHOWN)


def show_proposal(site: Site, request: Request, error: str = "") -> Response:
    """Show a proposal with what approving it would do now."""
    number = int(request.path_params["number"])
    try:
        view = site.vault.review.view(number)
    except FrontmatterInvalid as problem:
        return _show_unreadable(site, request, number, problem.message)
    one = view.proposal
    source = "" if one.kind == "edit" else _read_note(site, one)
    return site.render(
        request,
        "proposal.html",
        409 if error else 200,
        error=error,
        one=one,
        view=view,
        comparison=build_side_by_side(view.before, view.after),
        difference=render_difference(one),
        texts=[(n, name, old, new) for n, (name, old, new) in enumerate(find_texts(one), 1) if new is not None],
        note=render_body(site, one.path, source, one.title) if source else None,
        neighbours=_find_neighbours(site, site.url(f"proposal/{number}")),
        moved=[field for field in one.fields if not field.is_property and view.before],
    )


def _show_unreadable(site: Site, request: Request, number: int, problem: str) -> Response:
    """Show the file of a proposal that makes no sense, so that the person can mend or delete it."""
    path = next(path for path in site.vault.review.inbox.find_paths() if find_number(base_of(path)) == number)
    text = site.vault.files.read(path, "internal").text
    return site.render(request, "unreadable.html", 409, error=problem, path=path, text=text)


def _read_note(site: Site, one: Proposal) -> str:
    try:
        return site.vault.files.read(one.path).text
    except MemexError:  # gone, or moved: the page says where it was
        return ""


def decide_proposal(site: Site, request: Request) -> Response:
    """Approve, reject or amend."""
    number, form = int(request.path_params["number"]), find_form(request)
    review = site.vault.review
    try:
        if form.get("action") == "amend":
            texts = {int(n[4:]): text for n, text in form.items() if n.startswith("new-") and n[4:].isdecimal()}
            amend(review.inbox, site.vault.editing, number, texts, form.get("seen", ""))
            return site.go(site.url(f"proposal/{number}"))
        verdict = Verdict(form.get("comment", "").strip(), "precedent" in form, _find_seen(form.get("seen", "")))
        decide = review.approve if _find_approval(form) else review.reject
        following = _find_neighbours(site, site.url(f"proposal/{number}")).following
        done = decide(number, verdict)
    except NotFound:
        raise
    except MemexError as error:
        return show_proposal(site, request, error.message)
    return _go_on(site, done, following)


def _find_approval(form: Mapping[str, str]) -> bool:
    action = form.get("action", "")
    if action not in ("approve", "reject"):
        raise InvalidArgument("action", "The form names neither approve nor reject.")
    return action == "approve"


def _find_seen(seen: str) -> str:
    if not seen:
        raise InvalidArgument("seen", "The form does not say which version was shown. Reload the page.")
    return seen


def _go_on(site: Site, done: Decided, following: str) -> Response:
    return site.go(f"{following or site.url()}?done={done.event}")


def show_waiting(site: Site, request: Request, error: str = "") -> Response:
    """Show a new note that waits."""
    path = request.path_params["path"]
    record, file, _ = site.vault.reading.find_note(path)
    if not record.pending:
        return site.go(site.note_url(record.path))
    return site.render(
        request,
        "waiting.html",
        409 if error else 200,
        error=error,
        record=record,
        seen=file.revision,
        source=file.text,
        note=render_body(site, record.path, file.text, record.title),
        properties=render_properties(site, record.path, parse_note(file.text).properties),
        neighbours=_find_neighbours(site, site.path_url("waiting", record.path)),
    )


def decide_waiting(site: Site, request: Request) -> Response:
    """Approve or reject a new note."""
    path, form = request.path_params["path"], find_form(request)
    try:
        approve = _find_approval(form)
        following = _find_neighbours(site, site.path_url("waiting", path)).following
        done = site.vault.review.decide_note(
            path, approve=approve, comment=form.get("comment", "").strip(), seen=_find_seen(form.get("seen", ""))
        )
    except NotFound:
        raise
    except MemexError as error:
        return show_waiting(site, request, error.message)
    return _go_on(site, done, following)


def _find_neighbours(site: Site, here: str) -> Neighbours:
    review = site.vault.review
    places = [site.path_url("waiting", note.path) for note in review.find_notes()]
    places += [site.url(f"proposal/{number}") for number in review.inbox.find_numbers()]
    if here not in places:
        return Neighbours(0, len(places), "", places[0] if places else "")
    at = places.index(here)
    following = places[at + 1] if at + 1 < len(places) else (places[0] if at else "")
    return Neighbours(at + 1, len(places), places[at - 1] if at else "", following)


def undo(site: Site, request: Request) -> Response:
    """Take a change back. A proposal or a new note that was decided on waits again, and is shown."""
    said = find_form(request).get("event", "")
    event = site.find_event(int(said)) if said.isdecimal() and len(said) < 12 else None
    if event is None:
        raise NotFound("The journal has no such change.")
    undone = site.vault.undoing.undo(event.id)
    number = event.details.get(DETAIL)
    if is_decision(event) and number is not None:
        return site.go(site.url(f"proposal/{number}"))
    if is_decision(event):
        return site.go(site.path_url("waiting", event.from_path or event.path))
    return site.go(site.url("journal", done=undone.event))
