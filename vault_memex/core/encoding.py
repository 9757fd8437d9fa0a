"""The text of a note's bytes. Only UTF-8 can be written back; anything else is for reading."""

from __future__ import annotations

from dataclasses import dataclass

BINARY_PROBE = 8192  # bytes; git looks as far for a NUL
_DETECT_LIMIT = 65536  # bytes; more makes detection slow, not better


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text as it stands in the file: BOM kept as U+FEFF, line endings untouched."""

    text: str
    encoding: str  # a codec name, or "binary"
    not_writable: str = ""  # why an edit would damage the file; empty for UTF-8


def decode_note(data: bytes) -> DecodedText:
    """Return the text of a file's bytes; never raises.

    A file with a NUL among its first 8,192 bytes is binary and has no text. Bytes that are not UTF-8 are read in
    the encoding that fits best, so that they can be found, but must not be edited.
    """
    if b"\0" in data[:BINARY_PROBE]:
        return DecodedText(
            "", "binary", "The file is binary: it holds NUL bytes. It can be listed, not read or edited."
        )
    try:
        return DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        text, encoding = _decode_other(data)
    reason = f"The file is not UTF-8 (it looks like {encoding}). Save it as UTF-8 in an editor, then edit it here."
    return DecodedText(text, encoding, reason)


def _decode_other(data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_DETECT_LIMIT]).best()
    if best is not None:
        try:
            return data.decode(best.encoding), best.encoding
        except UnicodeDecodeError:
            pass  # the head fits an encoding that the rest does not
    return data.decode("utf-8", errors="replace"), "unknown"
