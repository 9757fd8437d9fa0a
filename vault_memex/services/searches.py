"""What searches are asked for, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vault_memex.core.expression import Query
from vault_memex.core.filters import Filters
from vault_memex.core.ranking import Ranked
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import shorten
from vault_memex.errors import InvalidArgument
from vault_memex.index.meaning import PATIENCE_SECONDS
from vault_memex.memory.flashbacks import Flashback
from vault_memex.services.rows import SearchRow
from vault_memex.services.standing import Standings

WaitFlashbacks = Callable[[], tuple[Flashback, ...]]
Mode = Literal["hybrid", "exact", "strict"]

LONGEST_QUERY = 2_048
LONGEST_SAID = 2_048  # code points of what was asked for, where an answer repeats it
MOST_ROWS: Mapping[Mode, int] = {"hybrid": 25, "exact": 25, "strict": 50}
ORDERS = ("relevance", "updated_desc", "updated_asc", "created_desc", "created_asc")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for."""

    query: str = ""
    mode: Mode = "hybrid"
    filters: Filters = field(default_factory=Filters)
    limit: int = 10
    offset: int = 0
    order: str = ""
    prefer_working: bool = False
    explain: bool = False
    flashbacks: bool = False  # of the first row
    patience: float = PATIENCE_SECONDS  # seconds to wait for a model that is being loaded
    words_only: str = ""  # why meaning is not asked for, when it is not
    strengths: bool = False  # also find out which matches are strong; strict does by itself


@dataclass(frozen=True, slots=True)
class Candidates:
    """Notes that may answer, and what was known when they were found."""

    query: Query
    ranked: Sequence[Ranked]  # in the order asked for; of a strict search only the strong ones
    weak: int  # how many are not strong, where strength was asked for
    strong: Mapping[str, str] | None  # path to why it is strong; None where it was not asked
    records: Mapping[str, NoteRecord]  # that the filters let through
    notes: int  # in the vault
    standings: Standings
    missing_words: tuple[str, ...]
    unknown_tags: tuple[str, ...]
    unknown_folder: str | None
    unavailable: str | None  # why meaning was not asked
    indexing: str | None
    recalled: tuple[str, WaitFlashbacks] | None = None  # flashbacks of the likely best match, asked for early
    is_cut: bool = False  # whether more notes match than are ranked


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A page of rows, and what to know about them."""

    total: int
    returned: int
    offset: int
    rows: tuple[SearchRow, ...]
    exact_match: bool = False  # words as written; meaning was not asked
    outcome: str = "ok"  # no_match: strict found nothing strong
    weak_candidates: int | None = None  # strict only: how many weak ones there are, never their text
    unknown_tags: tuple[str, ...] = ()
    unknown_folder: str | None = None
    missing_words: tuple[str, ...] = ()  # occur nowhere in the vault
    semantic_search_unavailable: str | None = None
    indexing: str | None = None
    searched: str = ""  # how many notes, when none was found
    flashbacks: tuple[Flashback, ...] = ()  # of the first row
    total_is_least: bool = False  # more match than are ranked and counted
    notes: tuple[str, ...] = ()

    def remarks(self) -> list[str]:
        """Return what to know about the answer, as sentences."""
        said = []
        if self.outcome == "no_match":
            how = "by words" if self.semantic_search_unavailable or self.exact_match else "by words and meaning"
            said.append(
                f"no_match: searched {self.searched} {how}; nothing matches strongly. Weak candidates, not shown: "
                f"{self.weak_candidates}. This does not prove absence. Narrow or rephrase, or call `recall` and say "
                "that the answer is unverified."
            )
        if self.missing_words:
            said.append(f"Nowhere in the vault: {shorten(', '.join(self.missing_words), LONGEST_SAID)}.")
        if self.unknown_tags:
            said.append(
                f"No note has the tag {shorten(', '.join(self.unknown_tags), LONGEST_SAID)}; see vocabulary."
            )
        if self.unknown_folder:
            said.append(f"There is no folder {shorten(self.unknown_folder, LONGEST_SAID)!r}; see vocabulary.")
        if self.semantic_search_unavailable:
            said.append(f"Words only: {self.semantic_search_unavailable}")
        if self.indexing:
            said.append(self.indexing)
        if self.searched and self.outcome == "ok":
            said.append(f"Searched {self.searched}. Try other words or fewer filters.")
        return [*said, *self.notes]


def render_searched(looked_at: int, notes: int) -> str:
    """Return how many notes were searched, as words."""
    return f"{looked_at} of {notes} notes" if looked_at else f"none of {notes} notes (the filters leave none)"


def check_request(request: SearchRequest, query: Query) -> None:
    """Raise InvalidArgument for what cannot be searched for; it names the argument."""
    if len(request.query) > LONGEST_QUERY:
        raise InvalidArgument("query", f"query has {len(request.query)} characters; at most {LONGEST_QUERY}.")
    if request.mode not in MOST_ROWS:
        raise InvalidArgument("mode", f"mode = {request.mode!r}: write hybrid, exact or strict.")
    if request.order and request.order not in ORDERS:
        raise InvalidArgument("order", f"order = {request.order!r}: write one of {', '.join(ORDERS)}.")
    if request.offset < 0:
        raise InvalidArgument("offset", "offset counts from 0.")
    if request.mode == "strict" and not query.words:
        raise InvalidArgument(
            "query", "query needs at least one word to find: mode strict lists and excludes nothing."
        )


def find_advice(request: SearchRequest, limit: int, total: int, *, is_cut: bool = False) -> Iterator[str]:
    """Yield what to know about the page: a limit that was changed, and what is left."""
    if limit != request.limit:
        yield f"limit set to {limit} (1-{MOST_ROWS[request.mode]})."
    shown = request.offset + limit
    if 0 < total <= request.offset:
        yield f"offset = {request.offset} is behind the last of {total}."
    if total > shown:
        narrow = " or add folder, tags, dates or properties" if request.filters.is_empty else ""
        least = "at least " if is_cut else ""
        yield f"{least}{total - shown} more: offset={shown}{narrow}."
