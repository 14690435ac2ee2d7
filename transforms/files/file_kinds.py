"""Guesses the kind of a file from its first bytes, for error messages about unexpected files."""

import re

_KINDS = {
    b"PK\x03\x04": "a .zip archive, which has to be unpacked first",
    b"7z\xbc\xaf": "a .7z archive, which has to be unpacked first",
    b"Rar!\x1a\x07": "a .rar archive, which has to be unpacked first",
    b"\x28\xb5\x2f\xfd": "compressed twice, and has to be decompressed first",
    b"\x1f\x9d": "a .Z file, which has to be decompressed first",
    b"\x1f\x8b": "compressed twice, and has to be decompressed first",
    b"\xfd7zXZ\0": "compressed twice, and has to be decompressed first",
    b"\x5d\0\0": "a .lzma file, which has to be decompressed first",
    b"%PDF-": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"PAR1\x15": "a Parquet file",
    b"\xff\xfe": "UTF-16, where UTF-8 is expected",
    b"\xfe\xff": "UTF-16, where UTF-8 is expected",
}
_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:!doctype\s+html|html|head|body)(?=[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
_MOST_CONTROLS = 100  # a text has at most one control character in this many bytes
_FEWEST_CONTROLS = 10


def kind_of(head: bytes) -> str:
    """Returns a phrase that names the kind of a file, such as "a PDF document", or "" if it may be text."""
    for beginning, kind in _KINDS.items():
        if head.startswith(beginning):
            return kind
    if _is_utf_16(head):
        return "UTF-16, where UTF-8 is expected"
    if is_html(head.removeprefix(b"\xef\xbb\xbf").decode("latin-1")):
        return "an HTML page: an error page saved as the file?"
    return ""


def is_html(text: str) -> bool:
    """Returns True if a text begins like a web page."""
    return _HTML.match(text) is not None


def is_binary(content: bytes) -> bool:
    """Guesses whether the content of a file is binary: returns True if it has too many control characters."""
    controls = len(content) - len(content.translate(None, _CONTROLS))
    return controls > _FEWEST_CONTROLS and controls * _MOST_CONTROLS > len(content)


def _is_utf_16(head: bytes) -> bool:
    """Returns True if many bytes are zero, all at even or all at odd positions.

    This is typical of UTF-16 without a byte order mark.
    """
    low, high = sorted([head[::2].count(0), head[1::2].count(0)])
    return not low and high * 4 > len(head)
