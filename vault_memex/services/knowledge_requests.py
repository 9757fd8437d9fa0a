"""What changes of the knowledge graph are asked for, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memex.errors import InvalidArgument
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity, Relation, Triple

MOST_CHARS = 100_000  # of one text; a note holds at most 1 MiB


@dataclass(frozen=True, slots=True)
class Observed:
    """Texts about one entity."""

    name: str
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class GraphEdit:
    """Changes made together, in this order: all or none."""

    entities: tuple[Entity, ...] = ()
    observations: tuple[Observed, ...] = ()
    relations: tuple[Relation, ...] = ()
    delete_observations: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (name, texts)
    delete_relations: tuple[Triple, ...] = ()
    delete_entities: tuple[str, ...] = ()
    allow_dangling: bool = False  # relations of names that are no entities
    keep_repeats: bool = False  # equal texts within one list are all written
    imported: bool = False  # they come from a file; the journal says so


@dataclass(frozen=True, slots=True)
class GraphEdited:
    """What was done. Names and texts are in the order asked for."""

    created: tuple[Entity, ...] = ()  # with their paths
    skipped_notes: tuple[str, ...] = ()  # notes that have the name of a wanted entity and are none
    added: tuple[Observed, ...] = ()  # one for each request, with the new texts only
    related: tuple[Relation, ...] = ()
    deleted_observations: tuple[tuple[str, tuple[str, ...]], ...] = ()
    deleted_relations: tuple[Triple, ...] = ()
    deleted_entities: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()  # what was to be deleted and is not there
    trashed: tuple[str, ...] = ()  # paths of notes now in the trash
    kept_notes: tuple[str, ...] = ()  # are no entities any more, but stay for the text they hold
    kept_relations: tuple[str, ...] = ()  # notes whose relations to a deleted entity may not be changed
    commit: str = ""  # queued, done, off; "" when there was nothing to write
    commit_error: str = ""
    notes: tuple[str, ...] = ()


def check_text(argument: str, text: str) -> None:
    """Refuse halves of characters, which no file holds, and texts that are no single thing any more."""
    if len(text) > MOST_CHARS:
        raise InvalidArgument(argument, f"{argument} has {len(text)} characters; at most {MOST_CHARS}. Split it.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            argument, f"{argument} holds half of a character at {error.start}, which no text file can."
        ) from None


def check_edit_texts(edit: GraphEdit) -> None:
    """Refuse a request with texts that cannot be written."""
    for entity in edit.entities:
        check_text("name", entity.name)
        check_text("entity_type", entity.type)
        for observation in entity.observations:
            check_text("observations", observation.text)
    for observed in edit.observations:
        for observation in observed.observations:
            check_text("observations", observation.text)
    for relation in edit.relations:
        for part in relation.triple:
            check_text("relations", part)
