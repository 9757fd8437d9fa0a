"""The vault's git repository: commits that hold one operation's files and nothing else.

A commit is made from bytes in hand with `git fast-import`, so it is exactly what the operation wrote even if the
file has moved on; the owner's index is told about these paths only, their other staged work is untouched. No hook
runs, nothing is signed, nothing is pushed.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from vault_memex.errors import VaultError

GitMode = Literal["each", "off"]
_TIMEOUT = 60  # seconds for one git process
_LOCK_PATIENCE = 3.0  # seconds to wait for the owner's own git command
_ORDINARY_CONFIG = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false")
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
_CONVERSIONS = re.compile(r"\b(text|eol|filter|ident|crlf|working-tree-encoding)\b")


@dataclass(frozen=True, slots=True)
class CommitFile:
    """A file as it is to be in the commit; `data` None takes it out."""

    path: str
    data: bytes | None
    executable: bool = False


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """One operation's commit. `actor` is the connection; "owner" commits as the person."""

    files: tuple[CommitFile, ...]
    subject: str
    actor: str
    at: str  # UTC, as the journal writes it
    trailers: tuple[tuple[str, str], ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The commit's hash; or None and why there is none. `error` is empty when all files are ignored by git."""

    commit: str | None
    error: str = ""


class GitFailed(VaultError):
    """A git command failed. The message is git's own first line."""


class Git:
    """The repository whose work tree is the vault itself. Commit from one thread; reading is free to all."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.reason = ""  # why there is no repository to use
        self._environment = _clean_environment()
        self._git_dir = self._find_git_dir()
        self._born = False
        self._identity = ""
        self._config: tuple[int, dict[str, str]] | None = None
        self._tracked: set[str] = set()  # paths we committed: git does not ignore them

    def mode(self) -> GitMode:
        """Return "each" when the vault is the top of a git work tree, else "off"; `reason` says why."""
        return "off" if self._git_dir is None else "each"

    def commit(self, request: CommitRequest) -> CommitResult:
        """Make one commit; never raises. On a failure the files stay as they are and the result says why."""
        if self._git_dir is None:
            return CommitResult(None, self.reason)
        try:
            files = self._without_ignored(request.files)
            if not files:
                return CommitResult(None)
            branch = self._current_branch()
            self._update_index(files)
            commit = self._import(request, files, branch)
        except (GitFailed, OSError, subprocess.TimeoutExpired) as error:
            return CommitResult(None, f"The write is done, but git could not commit it: {error}")
        self._tracked.update(f.path for f in files)
        return CommitResult(commit)

    def run(
        self, *arguments: str, data: bytes | None = None, check: bool = True, index: Path | None = None
    ) -> bytes:
        """Run git in the vault, on an index of its own if one is named, and return its output.

        Raises GitFailed with git's message.
        """
        settings = [part for setting in _ORDINARY_CONFIG for part in ("-c", setting)]
        done = subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.root,
            input=b"" if data is None else data,
            capture_output=True,
            env=self._environment if index is None else {**self._environment, "GIT_INDEX_FILE": str(index)},
            timeout=_TIMEOUT,
            check=False,
        )
        if check and done.returncode:
            message = done.stderr.decode("utf-8", errors="replace").strip() or f"git {arguments[0]} failed"
            raise GitFailed(message.splitlines()[0].replace(str(self.root), "the vault"))
        return done.stdout

    def hide_temporary_files(self) -> None:
        """Keep the hidden files of a write out of `git status`, by this clone's own exclude file."""
        if self._git_dir is None:
            return
        common = self.run("rev-parse", "--git-path", "info/exclude").decode("utf-8").rstrip("\n")
        exclude = self.root / common
        text = exclude.read_text(encoding="utf-8") if exclude.exists() else ""
        if ".vmx-*.tmp" not in text.splitlines():
            exclude.parent.mkdir(parents=True, exist_ok=True)
            exclude.write_text(
                f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}.vmx-*.tmp\n", "utf-8"
            )

    def has_committed(self, event_id: int, limit: int = 200) -> bool:
        """Whether one of the last commits carries this event's number."""
        return f"{event_id}" in self._recent_events(limit)

    def _recent_events(self, limit: int) -> set[str]:
        form = "--format=%(trailers:key=Memex-Event,valueonly)"
        return set(self.run("log", f"-{limit}", form, check=False).decode("utf-8", errors="replace").split())

    def _find_git_dir(self) -> Path | None:
        if not (self.root / ".git").exists():
            inside = any((folder / ".git").exists() for folder in self.root.parents)
            self.reason = "The vault is a folder inside a larger repository." if inside else "No git repository."
            return None
        try:
            out = self.run("rev-parse", "--show-toplevel", "--absolute-git-dir").decode("utf-8").splitlines()
        except FileNotFoundError:
            self.reason = "git is not installed."
            return None
        except (GitFailed, OSError, subprocess.TimeoutExpired) as error:
            self.reason = f"git cannot use the repository: {error}"
            return None
        if len(out) != 2 or Path(os.path.realpath(out[0])) != self.root:
            self.reason = "The vault is not the top of its git work tree."
            return None
        return Path(out[1])

    def _current_branch(self) -> str:
        assert self._git_dir is not None
        for name, what in _UNDER_WAY.items():
            if (self._git_dir / name).exists():
                raise GitFailed(f"{what} is under way; finish it first")
        head = (self._git_dir / "HEAD").read_text(encoding="utf-8").strip()
        if head == "ref: refs/heads/.invalid":  # the reftable format keeps the real one elsewhere
            head = "ref: " + self.run("symbolic-ref", "-q", "HEAD").decode("utf-8").strip()
        if not head.startswith("ref: refs/"):
            raise GitFailed("HEAD is detached; check out a branch first")
        return head.removeprefix("ref: ")

    def _without_ignored(self, files: Sequence[CommitFile]) -> tuple[CommitFile, ...]:
        """Drop files that the owner's ignore rules keep out of the repository, unless they are tracked already."""
        asked = [f.path for f in files if f.path not in self._tracked]
        if not asked:
            return tuple(files)
        data = b"".join(path.encode("utf-8") + b"\0" for path in asked)
        out = self.run("check-ignore", "-z", "--stdin", data=data, check=False)
        ignored = set(out.decode("utf-8").split("\0"))
        return tuple(f for f in files if f.path not in ignored)

    def _update_index(self, files: Sequence[CommitFile]) -> None:
        """Tell the index about these paths, before the commit: staged too early is harmless, too late is not."""
        data = b"".join(f.path.encode("utf-8") + b"\0" for f in files)
        until = time.monotonic() + _LOCK_PATIENCE
        while True:
            try:
                self.run("update-index", "--add", "--remove", "-z", "--stdin", data=data)
                return
            except GitFailed as error:
                if "index.lock" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.05)

    def _import(self, request: CommitRequest, files: Sequence[CommitFile], branch: str) -> str:
        convert = self._has_conversions()
        for attempt in (1, 2):
            stream = self._render_stream(request, files, branch, convert)
            try:
                out = self.run("fast-import", "--quiet", "--done", data=stream)
            except GitFailed:
                if attempt == 2:
                    raise
                self._born = False  # the owner committed meanwhile, or the branch changed: look again
                continue
            return out.decode("ascii").strip()
        raise AssertionError("unreachable")

    def _render_stream(
        self, request: CommitRequest, files: Sequence[CommitFile], branch: str, convert: bool
    ) -> bytes:
        message = render_message(request).encode("utf-8")
        identity = self._committer()
        author = identity if request.actor == "owner" else _author_of(request.actor)
        moment = int(datetime.fromisoformat(request.at).timestamp())
        lines = [
            f"commit {branch}\nmark :1\nauthor {author} {moment} +0000\n".encode(),
            f"committer {identity} {int(datetime.now(UTC).timestamp())} +0000\n".encode(),
            b"data %d\n%s\n" % (len(message), message),
        ]
        if self._is_born():
            lines.append(f"from {branch}^0\n".encode())
        keeps_modes = self._settings().get("core.filemode") != "false"
        for file in files:
            path = _quoted(file.path)
            mode = b"100755" if file.executable and keeps_modes else b"100644"
            if file.data is None:
                lines.append(b"D %s\n" % path)
            elif convert:
                blob = self.run("hash-object", "-w", "--stdin", f"--path={file.path}", data=file.data).strip()
                lines.append(b"M %s %s %s\n" % (mode, blob, path))
            else:
                lines.append(b"M %s inline %s\ndata %d\n%s\n" % (mode, path, len(file.data), file.data))
        lines.append(b"\nget-mark :1\ndone\n")
        return b"".join(lines)

    def _is_born(self) -> bool:
        if not self._born:
            self._born = bool(self.run("rev-parse", "-q", "--verify", "HEAD", check=False).strip())
        return self._born

    def _has_conversions(self) -> bool:
        """Whether git would change a file's bytes on the way in: line endings, filters, encodings."""
        assert self._git_dir is not None
        for file in (self.root / ".gitattributes", self._git_dir / "info" / "attributes"):
            if file.exists() and _CONVERSIONS.search(file.read_text(encoding="utf-8", errors="replace")):
                return True
        return self._configured_conversions()

    def _configured_conversions(self) -> bool:
        for key, value in self._settings().items():
            if key != "core.filemode" and value not in ("false", "no", "off", "0"):
                return True
        return False

    def _settings(self) -> dict[str, str]:
        """Return the three settings that matter here, read again when the repository's config file changed."""
        assert self._git_dir is not None
        config = self._git_dir / "config"
        stamp = config.stat().st_mtime_ns if config.exists() else 0
        if self._config is None or self._config[0] != stamp:
            out = self.run("config", "--get-regexp", r"^core\.(autocrlf|attributesfile|filemode)$", check=False)
            lines = out.decode("utf-8", errors="replace").lower().splitlines()
            pairs = (line.partition(" ") for line in lines)
            self._config = (stamp, {key: value for key, _, value in pairs})
        return self._config[1]

    def _committer(self) -> str:
        """Return `Name <mail>` of the person as git knows them, or our own when it knows nobody."""
        if not self._identity:
            out = self.run("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT", check=False)
            match = re.fullmatch(r"(.+ <.*>) \d+ [+-]\d{4}", out.decode("utf-8", errors="replace").strip())
            self._identity = match[1] if match else "vault-memex <vault-memex@localhost>"
        return self._identity


def render_message(request: CommitRequest) -> str:
    """Return the commit message: subject, body, trailers."""
    subject = " ".join(request.subject.split()) or "Change notes"
    parts = [subject if len(subject) <= 120 else subject[:117] + "..."]
    if request.body.strip():
        parts.append(request.body.strip())
    parts.append(
        "\n".join(f"{key}: {' '.join(value.split())}" for key, value in request.trailers if value.strip())
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _author_of(actor: str) -> str:
    name = re.sub(r"[<>\x00-\x1f\x7f]", "", actor).strip() or "unnamed"
    mail = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "connection"
    return f"{name} <{mail}@vault-memex.invalid>"


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'.encode()


def _clean_environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG")}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat"}
