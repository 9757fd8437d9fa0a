"""Signals and inferences: what the vault points out, and hypotheses that the person agreed to."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from vault_memex.errors import InvalidArgument
from vault_memex.memory.inferences import INFERENCE_STATUSES
from vault_memex.memory.signals import SIGNAL_KINDS
from vault_memex.memory.triage import STATUSES
from vault_memex.services.insights import InsightsRequest, find_insights
from vault_memex.web.site import Site, find_count, find_form

PAGE = 30
LOOK_SECONDS = 0.15


def show_signals(site: Site, request: Request) -> Response:
    """List signals as last found, after a moment in which new ones are looked for."""
    ask = request.query_params
    offset = find_count(request, "offset")
    looked = bool(offset) or site.signals.wait(LOOK_SECONDS)
    kind = ask.get("type", "") if ask.get("type", "") in SIGNAL_KINDS else ""
    status = ask.get("status", "new") if ask.get("status", "new") in STATUSES else "new"
    asked = InsightsRequest(type=kind, status=status, limit=PAGE, offset=offset, refresh=False)
    answer = find_insights(site.vault.signals, site.vault.inferences, asked)
    return site.render(
        request,
        "signals.html",
        answer=answer,
        looked=looked,
        looking=site.signals,
        kind=kind,
        kinds=SIGNAL_KINDS,
        status=status,
        statuses=STATUSES,
        offset=offset,
        size=PAGE,
    )


def decide_signal(site: Site, request: Request) -> Response:
    """Dismiss, snooze or reopen one."""
    form = find_form(request)
    whole = form.get("action") == "dismiss-note"
    action = "dismiss" if whole else form.get("action", "")
    site.vault.signals.decide(int(request.path_params["number"]), action, whole_note=whole)
    return site.go(site.url("signals", status=form.get("status", ""), type=form.get("type", "")))


def show_inferences(site: Site, request: Request) -> Response:
    """List inferences."""
    status = request.query_params.get("status", "")
    status = status if status in INFERENCE_STATUSES else ""
    offset = find_count(request, "offset")
    asked = InsightsRequest("inferences", status=status, limit=PAGE, offset=offset)
    answer = find_insights(site.vault.signals, site.vault.inferences, asked)
    return site.render(
        request,
        "inferences.html",
        answer=answer,
        status=status,
        statuses=INFERENCE_STATUSES,
        offset=offset,
        size=PAGE,
    )


def show_inference(site: Site, request: Request) -> Response:
    """Show one with its sources, as they were and as they are."""
    asked = InsightsRequest("inferences", number=int(request.path_params["number"]))
    answer = find_insights(site.vault.signals, site.vault.inferences, asked)
    return site.render(request, "inference.html", one=answer.inferences[0])


def decide_inference(site: Site, request: Request) -> Response:
    """Put one away."""
    if find_form(request).get("action") != "archive":
        raise InvalidArgument("action", "An inference can be archived.")
    number = int(request.path_params["number"])
    site.vault.inferences.archive(number)
    return site.go(site.url(f"inference/{number}"))
