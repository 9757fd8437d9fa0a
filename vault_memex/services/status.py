"""What this vault is, as whom it is served, and how far index and meaning are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vault_memex.config import Config
from vault_memex.core.snapshot import Snapshot
from vault_memex.index.background import Background, IndexState
from vault_memex.index.meaning import Meaning
from vault_memex.services.actor import find_actor
from vault_memex.services.inbox_view import InboxAnswer
from vault_memex.services.rules import Rules
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.git import Git

MOST_RULES = 10  # named


@dataclass(frozen=True, slots=True)
class MeaningStatus:
    """How far the vectors are."""

    state: str  # off, idle, starting, ready, embedding, unavailable
    model: str
    passages: int
    embedded: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """The state of memory."""

    vault: str  # the folder's name only
    version: str
    connection: str
    role: str
    policy: str
    notes: int
    attachments: int
    unresolved_links: int
    without_tags_or_summary: int
    pending: int
    revision: int  # of the index: it grows with every change
    git: str
    index: IndexState
    meaning: MeaningStatus
    proposals: int = 0  # in _memex/inbox
    inbox: InboxAnswer | None = None  # when asked for
    new_signals: int = 0
    stale_inferences: int = 0
    rules: int = 0  # house rules in force
    rules_not_in_force: tuple[str, ...] = ()  # rule notes that assistants are not given, at most ten
    rules_changed_since_start: bool = False  # what the assistant was told at the start is out of date


class Status:
    """Looks at every part without starting any."""

    def __init__(
        self,
        *,
        name: str,
        version: str,
        config: Config,
        catalogue: Catalogue,
        meaning: Meaning,
        background: Background,
        git: Git,
        snapshot: Callable[[], Snapshot],
        rules: Rules,
        count_proposals: Callable[[], int],
        count_insights: Callable[[], tuple[int, int]],
    ) -> None:
        self._count_insights = count_insights  # new signals and stale inferences, as last looked at
        self._count_proposals = count_proposals  # about notes that the connection sees
        self._rules = rules
        self._name = name
        self._version = version
        self._config = config
        self._catalogue = catalogue
        self._meaning = meaning
        self._background = background
        self.git = git
        self._snapshot = snapshot

    def check(self) -> StatusAnswer:
        """Return the state now."""
        index = self._background.state()  # before the notes: an index that was ready has them all
        snapshot = self._snapshot()
        notes = snapshot.notes.values()
        rules = self._rules.find()
        new_signals, stale_inferences = self._count_insights()
        return StatusAnswer(
            vault=self._name,
            version=self._version,
            connection=find_actor(self._config),
            role=self._config.role,
            policy=self._config.policy,
            notes=len(notes),
            attachments=len(snapshot.attachments),
            unresolved_links=len(self._catalogue.find_unresolved()),
            without_tags_or_summary=sum(1 for n in notes if not n.tags or not n.summary),
            pending=sum(1 for n in notes if n.pending),
            proposals=self._count_proposals(),
            revision=snapshot.revision,
            git=describe_git(self.git, self._config),
            index=index,
            meaning=self.check_meaning(),
            new_signals=new_signals,
            stale_inferences=stale_inferences,
            rules=sum(rule.in_force for rule in rules.rules),
            rules_not_in_force=tuple(rule.path for rule in rules.rules if not rule.in_force)[:MOST_RULES],
            rules_changed_since_start=self._rules.differ(rules),
        )

    def check_meaning(self) -> MeaningStatus:
        """Return how far the vectors are."""
        state = self._meaning.state()
        done, total = self._meaning.count_embedded(self._catalogue)
        return MeaningStatus(state.state, state.model, total, done, state.reason)


def describe_git(git: Git, config: Config) -> str:
    """Return in words whether writes are committed."""
    if config.commit == "off":
        return "not committing (commit = off)"
    if git.mode() == "off":
        return f"not committing: {git.reason}" if git.reason else "not committing: the vault is no git work tree"
    return "one commit per write" if config.commit != "batch" else "writes are committed together"
