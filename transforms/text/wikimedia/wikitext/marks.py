"""Stand-ins for characters that must not be read as markup.

What `<nowiki>` or a formula holds is text, whatever it looks like, and a value that a template
shows must not be cut at a `|` again. Such characters are exchanged for Unicode noncharacters
(U+FDD0–U+FDEF, which no text may hold) and exchanged back when the last pass is done.
"""

import re

_MARKUP = "[]{}|'<>=*#:;_!-~&"
_FIRST = 0xFDD0
_PROTECT = {ord(char): chr(_FIRST + i) for i, char in enumerate(_MARKUP)}
_RESTORED = {chr(_FIRST + i): char for i, char in enumerate(_MARKUP)}

PROTECTED = "".join(_RESTORED)
PROTECTED_BAR = _PROTECT[ord("|")]

HOLE = "\ufdef"  # a template stood here and left nothing
BREAK = "\ufdec"  # a paragraph ends where a block stood; no new line, as lines have a meaning
SEPARATOR = "\ufdeb"  # a tag stood between two apostrophes, so they are not one mark
SECTION = "\ufde7"  # a section begins; no pass reads across it
# The line begins with markup: what that shows is neither a list mark nor the blank of code. It is white
# space to all passes, and no dump holds it: XML forbids it.
GUARD = "\x1f"
FORMULA_START = "\ufded"
FORMULA_END = "\ufdee"
# Paragraphs that become Markdown (markdown.py) begin with them, and parts of a row are between them.
ITEM = "\ufde8"
ROW = "\ufde9"
CELL = "\ufdea"
# What sections are judged by (section_kinds.py); no other pass has them.
LINK = "\ufde2"
SOURCE = "\ufde3"
NOTE = "\ufde4"
TEMPLATE = "\ufde5"
_NONCHARACTER = re.compile("[\ufdd0-\ufdef]")
# In UTF-8 the noncharacters begin so, and a few ligatures; a single byte is found faster.
_THEIR_BYTES = b"\xef\xb7"
_THEIR_BYTE = b"\xef"
_CONTROLS = {0: None, ord(GUARD): None}
_BRACES = {ord(char): _PROTECT[ord(char)] for char in "{}"}
_ARGUMENT_MARKUP = {ord(char): _PROTECT[ord(char)] for char in "|="}


def drop_noncharacters(text: str) -> str:
    """Remove the noncharacters U+FDD0–U+FDEF and GUARD, so that every later one is ours.

    Surrogates and NUL go, too.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "ignore")
        text = data.decode("utf-8")
    if b"\x00" in data or GUARD.encode() in data:
        text = text.translate(_CONTROLS)
    if _THEIR_BYTE not in data or _THEIR_BYTES not in data:
        return text
    return _NONCHARACTER.sub("", text)


def protect(text: str) -> str:
    """Return the text with stand-ins for all markup characters."""
    return text.translate(_PROTECT)


def protect_braces(text: str) -> str:
    """Return the text with stand-ins for braces, which would make it a parameter or a template."""
    return text.translate(_BRACES) if "{" in text or "}" in text else text


def protect_argument(text: str) -> str:
    """Return the text with stand-ins for `|` and `=`, which part the arguments of a template."""
    return text.translate(_ARGUMENT_MARKUP) if "|" in text or "=" in text else text


def restore(text: str) -> str:
    """Undo `protect` and `protect_argument`; holes, breaks and formula marks vanish."""
    if text.isascii():
        return text
    return _NONCHARACTER.sub(lambda match: _RESTORED.get(match[0], ""), text)
