"""Decodes and encodes UTF-8 like Perl's `:utf8` layer, with surrogates and code points above U+10FFFF.

Perl's characters have up to 63 bits. Besides Unicode's forms of up to four bytes, there are forms of five and
six bytes, of seven bytes (which begin with 0xFE) and of thirteen bytes (which begin with 0xFF). Overlong
forms are malformed. Python does not support characters above U+10FFFF, so in texts they are replaced by
stand-ins: code points of planes that Unicode leaves unassigned. The rules of this package treat stand-ins
like the original characters.
"""

import itertools
import re
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from corpusmill.transforms.files.line_blocks import lines_of

# Forms beyond Unicode. Each alternative excludes overlong forms.
_BEYOND = (
    rb"\xf4[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf5-\xf7][\x80-\xbf]{3}"
    rb"|(?:\xf8[\x88-\xbf]|[\xf9-\xfb][\x80-\xbf])[\x80-\xbf]{3}"
    rb"|(?:\xfc[\x84-\xbf]|\xfd[\x80-\xbf])[\x80-\xbf]{4}"
    rb"|\xfe[\x82-\xbf][\x80-\xbf]{5}"
    rb"|\xff\x80(?!\x80{5})[\x80-\x87][\x80-\xbf]{10}"
)
_BEYOND_UNICODE = re.compile(_BEYOND)
_STAND_INS = range(0x40000, 0xE0000)  # planes 4 to 13
_FOUR_BYTES = re.compile(rb"[\xf1-\xf3][\x80-\xbf]{3}")  # stand-ins are among these

StandIns = Mapping[str, bytes]


def is_perl_utf8(line: bytes) -> bool:
    """Returns True if Perl can read these bytes as UTF-8."""
    return _is_strict(line) or _is_lax(line)


def malformed_lines(block: bytes) -> list[int]:
    """Returns the indexes, from 0, of those lines in a block of text that Perl cannot read as UTF-8."""
    if _is_unicode(block):
        return []
    return [index for index, line in enumerate(lines_of(block)) if not is_perl_utf8(line)]


def decode(line: bytes) -> tuple[str, StandIns]:
    """Decodes a line. Returns its text, and a mapping: stand-in → the bytes that it replaces.

    A stand-in is an unassigned code point. It replaces a character above U+10FFFF, which Python does not
    support.

    Raises:
        ValueError: the bytes are malformed, or have more different characters above U+10FFFF than there are
            stand-ins (655,360).
    """
    try:
        return line.decode("utf-8", "surrogatepass"), {}
    except UnicodeDecodeError as error:
        if not _is_lax(line):
            raise ValueError(f"malformed UTF-8 at byte {error.start} of {line[:80]!r}") from error
    beyond = sorted(set(_BEYOND_UNICODE.findall(line)))
    rest = _BEYOND_UNICODE.sub(b"\n", line).decode("utf-8", "surrogatepass")
    stand_ins = list(itertools.islice(_unused(rest), len(beyond)))
    if len(stand_ins) < len(beyond):
        raise ValueError(
            f"too many different characters above U+10FFFF ({len(beyond)}) in {line[:80]!r}"
        )
    places = {held: stand_in.encode() for held, stand_in in zip(beyond, stand_ins, strict=True)}
    strict = _BEYOND_UNICODE.sub(lambda match: places[match[0]], line)
    return strict.decode("utf-8", "surrogatepass"), dict(zip(stand_ins, beyond, strict=True))


def encode(text: str, stand_ins: StandIns) -> bytes:
    """Returns the UTF-8 bytes of a text. This is the inverse of `decode`.

    Args:
      text: the text, in which stand-ins replace characters above U+10FFFF.
      stand_ins: stand-in → the bytes that it replaces, as returned by `decode`.
    """
    line = text.encode("utf-8", "surrogatepass")
    if not stand_ins:
        return line
    held = {stand_in.encode(): beyond for stand_in, beyond in stand_ins.items()}
    return _FOUR_BYTES.sub(lambda match: held.get(match[0], match[0]), line)


def _is_strict(line: bytes) -> bool:
    return _can_decode(line, "strict")


def _is_unicode(block: bytes) -> bool:
    """Returns True if a block is UTF-8 as Unicode defines it. The block is not decoded to a string."""
    buffers = [None, pa.py_buffer(np.array([0, len(block)], np.int64)), pa.py_buffer(block)]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, buffers).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_lax(line: bytes) -> bool:
    # Lead bytes of the long forms occur nowhere else. The line feed keeps the bytes on both sides apart.
    return _can_decode(_BEYOND_UNICODE.sub(b"\n", line), "surrogatepass")


def _can_decode(line: bytes, errors: str) -> bool:
    try:
        line.decode("utf-8", errors)
    except UnicodeDecodeError:
        return False
    return True


def _unused(text: str) -> Iterator[str]:
    used = set(text)
    return (char for char in map(chr, _STAND_INS) if char not in used)
