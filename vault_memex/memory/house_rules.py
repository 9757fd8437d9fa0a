"""House rules: what the person wants of every assistant, as one text for the start of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice

from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import name_key, render_line
from vault_memex.memory.amendments import Amendments, check_validity

INJECT = "MEMEX_INJECT_RULES"
BUDGET = "MEMEX_RULES_MAX_CHARS"
DEFAULT_BUDGET = 8000  # characters of the whole section
STATUS = "rule_status"
CANONICAL, PROVISIONAL = "canonical", "provisional"

_OFF = frozenset(("0", "false", "off", "no"))
_HEAD = "## House Rules\n\nThe person wrote these rules. Where they differ from other conventions, they win."
_BREAK = "\n\n---\n\n"
_CUT = "[truncated]"
_NAMED = 5  # of the rules that are left out
MOST_RULES = 200  # looked at; more cannot be followed, and reading them all would cost every start


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """What the person chose."""

    inject: bool = True
    budget: int = DEFAULT_BUDGET


@dataclass(frozen=True, slots=True)
class Rule:
    """One approved rule."""

    path: str
    note_id: int | None
    title: str
    body: str  # without frontmatter
    scope: str = ""  # path pattern or words; empty: everywhere


@dataclass(frozen=True, slots=True)
class HouseRules:
    """The section, and what is not in it."""

    text: str  # empty when there are no rules
    included: tuple[str, ...] = ()  # paths, as they stand in the text
    omitted: tuple[str, ...] = ()
    truncated: bool = False
    warnings: tuple[str, ...] = ()


def parse_rule_settings(environment: Mapping[str, str]) -> tuple[RuleSettings, tuple[str, ...]]:
    """Return the settings and warnings. A value that cannot be used leaves the default."""
    inject = environment.get(INJECT, "").strip().casefold() not in _OFF
    text = environment.get(BUDGET, "").strip()
    if not text:
        return RuleSettings(inject), ()
    if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0:
        return RuleSettings(inject, int(text)), ()
    warning = f"{BUDGET}={text!r} is no whole number above 0; {DEFAULT_BUDGET} is used."
    return RuleSettings(inject), (warning,)


def find_rules(notes: Iterable[NoteRecord]) -> tuple[NoteRecord, ...]:
    """Return the rule notes, in force or not, in the order of their numbers."""
    rules = (note for note in notes if note.layer == "rule")
    return tuple(sorted(rules, key=lambda n: (n.note_id is None, n.note_id or 0, n.path)))


def check_rule(note: NoteRecord, amendments: Amendments, today: date) -> str:
    """Return why a rule note is not in force; empty when it is.

    In force is what the person wrote or approved, is not waiting for review, and holds today. What an assistant
    wrote bears its name (`added_by`), and needs `rule_status: canonical`, which only the person can set.
    """
    status = note.properties.get(STATUS)
    if note.pending:
        return "it waits for your review (`review: pending`)"
    if status is None and note.properties.get("added_by"):
        return "an assistant wrote it and you have not approved it"
    if status == PROVISIONAL:
        return "it is provisional: you have not approved it"
    if status not in (None, CANONICAL):
        return f"rule_status is {str(status)[:40]!r}, not {CANONICAL}"
    validity = check_validity(note, amendments, today)
    return "" if validity.holds else f"it is {validity.status.replace('_', ' ')}"


def build_rule(note: NoteRecord, body: str) -> Rule:
    """Return the rule of a note, given its text after the frontmatter; a heading that repeats the title goes."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").strip()
    first, _, rest = text.partition("\n")
    if first.startswith("# ") and name_key(first[2:]) == name_key(note.title):
        text = rest.strip()
    return Rule(note.path, note.note_id, note.title, text, _find_scope(note))


def _find_scope(note: NoteRecord) -> str:
    scope = note.properties.get("rule_scope")
    return scope.strip() if isinstance(scope, str) else ""


def find_considered(notes: Sequence[NoteRecord]) -> tuple[NoteRecord, ...]:
    """Return the rules in force that are looked at, in the order given: those everywhere first, then narrow ones."""
    ranked = sorted(range(len(notes)), key=lambda i: (bool(_find_scope(notes[i])), i))
    return tuple(notes[i] for i in sorted(ranked[:MOST_RULES]))


def build_house_rules(rules: Sequence[Rule], settings: RuleSettings, beyond: Sequence[str] = ()) -> HouseRules:
    """Return the section for the end of the server instructions: whole rules within the budget.

    Rules that apply everywhere go before narrow ones, then the lower number; what does not fit is counted in the
    text, with those `beyond` (paths) that were not looked at. Only when the first of them alone is too long is it
    cut. Shown are they in the order given.
    """
    if not settings.inject or not rules:
        return HouseRules("")
    ranked = sorted(range(len(rules)), key=lambda i: (bool(rules[i].scope), i))
    chosen: list[int] = []
    for place in ranked:
        if len(_render(rules, [*chosen, place], beyond)) <= settings.budget:
            chosen.append(place)
        elif not chosen and place == ranked[0]:
            return _build_cut(rules, place, settings, beyond)
    shown = sorted(chosen)
    omitted = (*(rules[i].path for i in range(len(rules)) if i not in chosen), *beyond)
    warnings = (f"{_count(len(omitted))} left out: {BUDGET} is {settings.budget}.",) if omitted else ()
    return HouseRules(
        _render(rules, shown, beyond), tuple(rules[i].path for i in shown), omitted, warnings=warnings
    )


def _build_cut(rules: Sequence[Rule], place: int, settings: RuleSettings, beyond: Sequence[str]) -> HouseRules:
    """Return the first rule as far as it goes, and no other."""
    rule = rules[place]
    omitted = (*(other.path for other in rules if other is not rule), *beyond)
    named = omitted[:_NAMED]
    spare = settings.budget - len(_join([_render_rule(rule, "")], named, len(omitted))) - len(_CUT) - 1
    text = _join([_render_rule(rule, f"{rule.body[: max(0, spare)].rstrip()} {_CUT}")], named, len(omitted))
    warning = f"The rule {rule.title!r} is cut: {BUDGET} is {settings.budget}."
    more = (f"{_count(len(omitted))} left out.",) if omitted else ()
    return HouseRules(text[: settings.budget], (rule.path,), omitted, truncated=True, warnings=(warning, *more))


def _render(rules: Sequence[Rule], chosen: Sequence[int], beyond: Sequence[str]) -> str:
    parts = [_render_rule(rules[i], rules[i].body) for i in sorted(chosen)]
    shown = {*chosen}
    left = (rule.path for i, rule in enumerate(rules) if i not in shown)
    return _join(parts, tuple(islice(chain(left, beyond), _NAMED)), len(rules) - len(shown) + len(beyond))


def _render_rule(rule: Rule, body: str) -> str:
    scope = f"Applies to: {rule.scope}\n\n" if rule.scope else ""
    return f"### {rule.title}\n\n{scope}{body}".rstrip()


def _join(parts: Sequence[str], named: Sequence[str], omitted: int) -> str:
    text = f"{_HEAD}\n\n{_BREAK.join(parts)}"
    if omitted:
        names = ", ".join(map(render_line, named))
        more = ", …" if omitted > len(named) else ""
        text += f"{_BREAK}{_count(omitted)} did not fit here. Read in the vault: {names}{more}"
    return text


def _count(number: int) -> str:
    return f"{number} {'rule' if number == 1 else 'rules'}"
