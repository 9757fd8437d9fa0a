"""The page as it is really served: to whom, under which names, and how it ends."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.web.served import served
from vault_memex.cli import main
from vault_memex.listening import open_socket

NAMES = (
    "a & b",
    "100% sure",
    "%2e%2e",
    "C# notes",
    "what? no",
    'it\'s "quoted"',
    "<b>bold<b>",
    "a+b=c;d",
    "ünïcode 한국 Дача",
    "semi;colon [x]",
    "back\\slash",
    "new\nline",
    "a..b",
    " spaces ",
)


def test_notes_of_any_name_are_read_through_a_real_socket_that_only_this_machine_reaches(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "Sub # dir").mkdir()
    for name in NAMES:
        (folder / "Sub # dir" / f"{name}.md").write_text(f"read {len(name)} signs\n", encoding="utf-8")

    with served(folder, tmp_path / "cache") as address:
        parts = urlsplit(address)
        assert ("127.0.0.1", True) == (parts.hostname, parts.port is not None)

        def get(path: str, cookie: str = "") -> tuple[int, str, str]:
            with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=20)) as client:
                client.request("GET", path, headers={"cookie": cookie})
                answer = client.getresponse()
                given = (answer.getheader("set-cookie") or "").partition(";")[0]
                return answer.status, answer.read().decode(), given

        assert 403 == get(parts.path)[0]
        cookie = get(f"{parts.path}?{parts.query}")[2]
        read = {n: get(f"{parts.path}note/{quote(f'Sub # dir/{n}.md')}", cookie)[:2] for n in NAMES}

    missing = {n: status for n, (status, text) in read.items() if f"read {len(n)} signs" not in text}
    assert {} == missing


def test_a_browser_that_hangs_up_in_the_middle_of_a_form_leaves_no_trace(folder: Path, tmp_path: Path) -> None:
    with served(folder, tmp_path / "cache") as address:
        parts = urlsplit(address)
        with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=20)) as client:
            client.request("GET", f"{parts.path}?{parts.query}")
            cookie = (client.getresponse().getheader("set-cookie") or "").partition(";")[0]
        lines = (
            f"POST {parts.path}undo HTTP/1.1",
            f"Host: {parts.netloc}",
            f"Origin: http://{parts.netloc}",
            f"Cookie: {cookie}",
            "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: 100",
            "",
            "event=1",
        )
        with socket.create_connection(("127.0.0.1", parts.port or 0)) as half:
            half.sendall("\r\n".join(lines).encode())
        with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=20)) as client:
            client.request("GET", parts.path, headers={"cookie": cookie})
            assert 200 == client.getresponse().status


def test_no_answer_waits_for_the_acknowledgement_of_its_first_part() -> None:
    found: list[int] = []

    async def exchange() -> None:
        async def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = open_socket("127.0.0.1", 0)
        async with await asyncio.start_server(note, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()
            await writer.wait_closed()

    asyncio.run(exchange())

    assert [True] == [bool(one) for one in found]


def test_a_port_that_is_taken_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as ended:
            main(["ui", "--no-browser", "--vault", str(folder), "--port", str(port)])

    assert 2 == ended.value.code
    assert f"127.0.0.1:{port} cannot be had" in capsys.readouterr().err


def test_an_address_that_is_told_takes_connections_at_once() -> None:
    with open_socket("127.0.0.1", 0) as listening:
        socket.create_connection(listening.getsockname(), timeout=5).close()
