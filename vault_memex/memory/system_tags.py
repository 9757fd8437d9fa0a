"""The three tags that mean something to the program, and what an assistant is told with a note that has one.

The sentences are the program's own. Nothing of them is read from the note.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from vault_memex.core.text import name_key

SKILL, LIVE_STATE, PROFILE = "skill", "live-state", "user-profile"

SYSTEM_TAGS: Mapping[str, str] = {
    LIVE_STATE: "says how something is now; whoever changes the thing updates the note",
    SKILL: "a way of working that assistants load and follow, once the person has approved it",
    PROFILE: "who the person is and how they want to be helped; changes wait for their consent",
}
"""What each does, as `vocabulary` tells it."""

LIVE_STATE_NOTICE = (
    "This note says how something is now. When you change that thing, or learn that it has changed, update this note "
    "in the same session. Reading the note is no reason to write it."
)
PROFILE_NOTICE = (
    "This is the person's profile. Let it shape how you help; do not recite it. What they tell you of themselves and "
    "it lacks, propose as an edit: it waits for their consent."
)
PENDING_PROFILE_NOTICE = "This would be the person's profile, but they have not approved it. Do not follow it yet."


def has_tag(tags: Collection[str], system_tag: str) -> bool:
    """Return whether one of the tags is this one, compared as tags are."""
    return any(name_key(tag) == system_tag for tag in tags)


def find_profile_notice(tags: Collection[str], *, pending: bool) -> str:
    """Return what is said with a note that is a profile; nothing with others."""
    if not has_tag(tags, PROFILE):
        return ""
    return PENDING_PROFILE_NOTICE if pending else PROFILE_NOTICE


def find_live_state_notice(tags: Collection[str]) -> str:
    """Return what is said with a note about how something is now. With a profile its own notice is all there is."""
    return LIVE_STATE_NOTICE if has_tag(tags, LIVE_STATE) and not has_tag(tags, PROFILE) else ""
