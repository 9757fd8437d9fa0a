"""Configurations of clients in the documents, and the Dockerfile: what can be checked of them without those programs."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from tests.doc_examples import ROOT, Block, find_blocks
from vault_memex.cli.parser import build_parser
from vault_memex.config import parse_config
from vault_memex.server.tools import find_tools

CLIENTS = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
CHECKOUT = "/home/me/vault-memex"
RUNNERS = {  # what stands before the program's own arguments
    "uvx": ["--from", CHECKOUT, "vault-memex"],
    "pipx": ["run", "--spec", CHECKOUT, "vault-memex"],
    "vault-memex": [],
    "/home/me/.local/bin/vault-memex": [],
}
DOCKER_VALUES = {"--user", "-v", "-e"}  # options of `docker run` that take a value
DOCKER_FLAGS = {"-i", "--rm"}

ENTRIES = [(b, json.loads("\n".join(b.lines))) for b in find_blocks("json")]
COMMANDS: list[dict[str, Any]] = []
SERVERS = []
for _block, _value in ENTRIES:
    for _server in (*_value.get("mcpServers", {}).values(), *_value.get("servers", {}).values()):
        if "command" in _server:  # the others reach a server that runs already
            COMMANDS.append(_server)
            SERVERS.append(pytest.param(_block, _server, id=_block.place))


def find_section(heading: str) -> str:
    return CLIENTS.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def find_own_arguments(command: str, args: list[str]) -> list[str]:
    """Return what our program gets, or fail where what stands before it is not what the runner takes."""
    if command != "docker":
        before = RUNNERS[command]
        assert before == args[: len(before)]
        return args[len(before) :]
    assert "run" == args[0]
    at = 1
    while args[at].startswith("-"):
        assert args[at] in DOCKER_VALUES | DOCKER_FLAGS
        at += 2 if args[at] in DOCKER_VALUES else 1
    assert "vault-memex" == args[at]  # the image; its entry point is the command
    return args[at + 1 :]


@pytest.mark.parametrize(("block", "server"), SERVERS)
def test_every_server_of_a_client_starts_with_arguments_we_take(block: Block, server: dict[str, Any]) -> None:
    options = build_parser().parse_args(find_own_arguments(server["command"], server["args"]))

    assert "serve" == options.run.__closure__[0].cell_contents, block.place
    assert set(server) <= {"type", "command", "args", "env", "alwaysLoad"}
    flags = {name: getattr(options, name) for name in ("connection", "role", "tools", "commit", "model")}
    config = parse_config("", {}, flags)
    assert find_tools(config.tools, config.role)


@pytest.mark.parametrize(
    ("client", "key", "file"),
    [
        ("Claude Desktop", "mcpServers", "claude_desktop_config.json"),
        ("Claude Code", "mcpServers", ".mcp.json"),
        ("VS Code", "servers", ".vscode/mcp.json"),
        ("Cursor", "mcpServers", ".cursor/mcp.json"),
    ],
)
def test_each_client_has_its_file_and_its_key(client: str, key: str, file: str) -> None:
    section = find_section(client)
    (example,) = re.findall(r"```json\n(.*?)```", section, re.DOTALL)

    assert [key] == list(json.loads(example))
    assert f"`{file}`" in section


def test_every_way_to_install_has_an_example() -> None:
    shown = {server["command"] for server in COMMANDS}

    assert {"uvx", "pipx", "docker", "vault-memex"} <= shown


def test_the_vault_of_the_container_is_the_folder_that_is_mounted() -> None:
    (args,) = (server["args"] for server in COMMANDS if server["command"] == "docker")
    mounted = [args[n + 1].partition(":")[2] for n, word in enumerate(args) if word == "-v"]
    volumes = json.loads(re.findall(r"^VOLUME (.*)$", DOCKERFILE, re.MULTILINE)[0])
    env = dict(word.split("=", 1) for word in re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)[0].split())

    assert mounted == volumes == [env["VAULT_MEMEX_VAULT"], env["VAULT_MEMEX_CACHE_DIR"]]
    assert env["VAULT_MEMEX_MODEL_DIR"].startswith(f"{env['VAULT_MEMEX_CACHE_DIR']}/")


def test_the_image_holds_what_the_build_of_the_package_needs() -> None:
    copied = {
        name for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE) for name in shlex.split(line)[:-1]
    }
    allowed = set(re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {name for name in copied if f'"{name}"' in project}

    assert copied == allowed
    assert {"README.md", "LICENSE", "vault_memex", "sample_vault"} == needed
    assert [] == [name for name in copied if not (ROOT / name).exists()]
    (install,) = re.findall(r"^RUN pip install (.*)$", DOCKERFILE, re.MULTILINE)
    assert {"constraints.txt", "."} <= set(install.split())


def test_the_entry_point_and_what_it_runs_alone_are_the_programs_own() -> None:
    entry = json.loads(re.findall(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[0])
    alone = json.loads(re.findall(r"^CMD (.*)$", DOCKERFILE, re.MULTILINE)[0])

    assert ["vault-memex"] == entry
    assert build_parser().parse_args(alone).run is not None


@pytest.mark.parametrize("tool", ["uv tool install", "pipx install", "pip install", "docker build -t vault-memex"])
def test_what_is_not_published_is_installed_from_a_checkout(tool: str) -> None:
    rows = find_section("How it is installed")

    assert f"`{tool} {CHECKOUT}`" in rows
    assert "in no registry yet" in rows
