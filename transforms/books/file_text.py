"""Decodes the bytes of a Project Gutenberg file.

Old and new files have different encodings, and the declared encoding is often wrong: many files were
converted to UTF-8 but still declare "ISO-8859-1". So the bytes are tested first, in this order:

1. a byte order mark (UTF-8, UTF-16, UTF-32);
2. UTF-8, if the whole file is valid UTF-8: text in another encoding is practically never valid UTF-8;
3. UTF-8 with invalid bytes, if most characters beyond ASCII are valid UTF-8: such files were joined from two
  files. The invalid bytes are decoded as Windows-1252;
4. the declared encoding, such as ISO-8859-2, Big5 or KOI8-R, if all bytes are valid in it. If ASCII, UTF-8,
  ISO-8859-1 or Windows-1252 is declared, the declaration is ignored;
5. Windows-1252. It has all printable characters of ISO-8859-1, so it is also right for texts in ISO-8859-1.
  The five bytes that Windows-1252 does not define are decoded as in ISO-8859-1.

Line ends become line feeds: CR LF, CR alone, and CR CR LF, which is CR LF converted twice. A page break (form
feed or vertical tab) becomes a line feed as well. Control characters are removed: NUL, the end-of-file mark
of DOS, and others that have no meaning in a text and break the file formats of corpora. A byte order mark
inside the text, where files were joined, is removed, too. Characters U+0080 to U+009F come from Windows-1252
that was converted as ISO-8859-1; they become dashes and quotation marks again.
"""

import codecs
import re
from typing import NamedTuple

from corpusmill.transforms.books.header import HEAD_CHARACTERS, declared_encoding
from corpusmill.transforms.files.file_kinds import is_binary, is_html
from corpusmill.transforms.files.records import Reason

MIXED = "utf-8+cp1252"
"""The name of the encoding of a file that mixes UTF-8 and Windows-1252."""

_MARKS = (  # longer marks first: the mark of UTF-32 begins with the mark of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SINGLE_SCRIPT = re.compile(
    r"iso8859-(?:[2-9]|1\d)|cp(?:125[013-8]|437|85[02578]|86[0-69]|874|932|949|950)|mac-.+"
    r"|big5(?:hkscs)?|gb2312|gbk|gb18030|euc_.+|shift_jis.*|koi8-[rut]|tis-620|johab"
)
"""Python's names of codecs, except ISO-8859-1, ASCII and UTF-8, which are detected from the bytes."""
_WIDER = {
    "big5": "big5hkscs",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Declared encoding → wider encoding that files use without declaring it. It includes the declared one."""

_WHITE = b" \t\r\n\f\v\0\x1a"
_BINARY_HEADS = (b"%PDF-", b"{\\rtf")
_HTML_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_STRAY = re.compile("[\udc80-\udcff]")
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_UNPRINTABLE = re.compile("[\0-\x08\x0e-\x1f\x7f-\x9f\ufeff]")
_PAGE_BREAKS = str.maketrans("\f\v", "\n\n")


_WINDOWS_1252 = {  # byte → character, for bytes from 0x80 on
    byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0x100)
}
_OF_STRAYS = {0xDC00 + byte: character for byte, character in _WINDOWS_1252.items()}
_OF_CONTROLS = {byte: _WINDOWS_1252[byte] for byte in range(0x80, 0xA0)}


class FileText(NamedTuple):
    """The decoded text of a file, and its encoding."""

    text: str
    # encoding with which it was decoded: "ascii", "utf-8", "cp1252", "big5hkscs", MIXED, …
    encoding: str


def decode_file(content: bytes) -> FileText | Reason:
    """Returns the text of a file, or the reason to reject it: "empty-file", "binary-file" or "html-page"."""
    if not content.strip(_WHITE):
        return Reason("empty-file", f"{len(content):,} bytes without a character")
    decoded = _decode_by_mark(content)
    if decoded is None:
        if is_binary(content) or content.startswith(_BINARY_HEADS):
            return Reason("binary-file", f"begins with {content[:8]!r}")
        decoded = _decode(content)
    if is_html(decoded.text[:HEAD_CHARACTERS]):
        title = _HTML_TITLE.search(decoded.text[:HEAD_CHARACTERS])
        return Reason("html-page", " ".join(title[1].split()) if title else "")
    text = tidy_text(decoded.text)
    if not text.strip():
        return Reason("empty-file", f"{len(content):,} bytes without a character")
    return FileText(text, "ascii" if text.isascii() else decoded.encoding)


def tidy_text(text: str) -> str:
    """Returns the text with line feeds as line ends and without control characters."""
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    if "\f" in text or "\v" in text:
        text = text.translate(_PAGE_BREAKS)
    if _UNPRINTABLE.search(text):
        text = _UNPRINTABLE.sub("", text.translate(_OF_CONTROLS))
    return text


def _decode_by_mark(content: bytes) -> FileText | None:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return FileText(content[len(mark) :].decode(encoding), encoding)
            except UnicodeDecodeError:
                return None
    return None


def _decode(content: bytes) -> FileText:
    has_mark = content.startswith(codecs.BOM_UTF8)
    if has_mark:
        content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return FileText(content.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    text = content.decode("utf-8", "surrogateescape")  # invalid bytes become U+DC80 to U+DCFF
    strays = len(_STRAY.findall(text))
    others = len(_NO_ASCII.findall(text)) - strays
    if has_mark or others > strays:
        return FileText(text.translate(_OF_STRAYS), MIXED)
    for encoding in _declared_encodings(content):
        try:
            return FileText(content.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return FileText(content.decode("latin-1").translate(_OF_CONTROLS), "cp1252")


def _declared_encodings(content: bytes) -> list[str]:
    """Returns the encoding that the head of a file declares, followed by a superset of it if there is one.

    Returns [] if the head declares no encoding, or one that must be ignored, such as UTF-8 (see the module
    docstring).
    """
    try:
        name = codecs.lookup(declared_encoding(content[:HEAD_CHARACTERS].decode("latin-1"))).name
    except (LookupError, ValueError):
        return []
    if not _SINGLE_SCRIPT.fullmatch(name):
        return []
    return [name, *([_WIDER[name]] if name in _WIDER else [])]
