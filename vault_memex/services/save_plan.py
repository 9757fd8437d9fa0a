"""Where a new note goes, and how it names others. Nothing here writes."""

from __future__ import annotations

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key, stem_of, without_md
from vault_memex.errors import AlreadyExists, PathOutsideVault, ReservedFolder
from vault_memex.store.files import VaultFiles
from vault_memex.store.names import file_name_for_title, numbered_name


def check_folder(files: VaultFiles, folder: str) -> str:
    """Return the folder as it is written in paths. Raises ReservedFolder where notes may not be.

    `/Projects` is the vault's own folder; a path of the whole machine is refused rather than built inside the vault.
    """
    parts = [part.strip() for part in folder.replace("\\", "/").split("/") if part.strip()]
    if ".." in parts:
        raise PathOutsideVault(f"folder = {folder!r}: write it from the vault's top, without `..`.")
    if any(part.startswith(".") for part in parts) or parts[:1] == ["_memex"]:
        raise ReservedFolder(f"folder = {folder!r}: hidden folders and _memex are not for notes. Name another.")
    if len(parts) > 1 and folder.lstrip().startswith(("/", "\\")) and not (files.root / parts[0]).exists():
        raise PathOutsideVault(
            f"folder = {folder!r} is not in the vault. Write it from the vault's top, without `/`."
        )
    return "/".join(parts)


def find_free_path(files: VaultFiles, snapshot: Snapshot, folder: str, title: str, *, allow_namesake: bool) -> str:
    """Return a path for a new note: the name of its title, with a number where that is taken.

    Raises AlreadyExists when what is there has the very title and no namesake is wanted.
    """
    name = file_name_for_title(title)
    for number in range(1, 1000):
        candidate = name if number == 1 else numbered_name(name, number)
        path = f"{folder}/{candidate}" if folder else candidate
        place = files.find_place(path, "note")
        if not place.exists:
            return place.path  # folders as they are spelled on disk
        known = snapshot.notes.get(place.path)
        names = {name_key(stem_of(place.path))}
        if known is not None:
            names |= {name_key(known.title), *(name_key(alias) for alias in known.aliases)}
        if name_key(title) in names and not allow_namesake:
            raise AlreadyExists(
                f"{place.path} has that title. Change it with `edit`, or choose another title or folder.",
                path=place.path,
            )
    raise AlreadyExists(f"There are too many notes named {title!r} in {folder or '/'}. Choose another title.")


def render_link(snapshot: Snapshot, note: NoteRecord) -> str:
    """Return a wikilink to a note: by its name, or by its path where another file has that name."""
    name = stem_of(note.path)
    namesakes = snapshot.by_title_key.get(name_key(name), ())
    unique = sum(name_key(stem_of(other.path)) == name_key(name) for other in namesakes) == 1
    return f"[[{name if unique else without_md(note.path)}]]"
