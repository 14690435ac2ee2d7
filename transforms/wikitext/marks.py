"""Replaces markup characters that are plain text by stand-ins, and restores them later.

The content of `<nowiki>` or of a formula is text, even if it looks like markup. Its markup characters are
replaced by stand-ins, so that later passes do not interpret them. In the text of an expanded template, only
the characters that separate arguments are replaced. The stand-ins are Unicode noncharacters (U+FDD0–U+FDEF),
which are not used in normal text. After the last pass of the cleaner, they are replaced by the original
characters.

Removes the apostrophes that mark bold and italics, line by line, by the rules of MediaWiki.

The rules are those of `Parser::doQuotes`: two apostrophes mark italics, three bold, five both. Of four in a
row, the first is text; of six or more, all except five are text. If a line has an odd number of bold marks
and an odd number of italic marks, one bold mark is read as an apostrophe and an italic mark.
"""

import re

_MARKUP = "[]{}|'<>=*#:;_!-~&"
_FIRST = 0xFDD0
_PROTECT = {ord(char): chr(_FIRST + i) for i, char in enumerate(_MARKUP)}
_RESTORED = {chr(_FIRST + i): char for i, char in enumerate(_MARKUP)}

PROTECTED = "".join(_RESTORED)
PROTECTED_BAR = _PROTECT[ord("|")]

HOLE = "\ufdef"  # in place of a removed template that shows no text
BREAK = "\ufdec"  # in place of a removed block: the end of a paragraph; line feeds have a meaning
SEPARATOR = "\ufdeb"  # in place of a removed tag: apostrophes before and after it are not one mark
SECTION = "\ufde7"  # a section begins; no pass matches across it
# At the start of a line whose wikitext begins with a link, template or tag. The visible text of the line may
# begin with `*` or a space, but the line is neither a list item nor code. All passes treat GUARD as white
# space. No dump contains it, because XML forbids it.
GUARD = "\x1f"
# After the HOLE of a value that cannot be known, such as a price of today. The sentence is incomplete without
# the value. XML forbids this character, too.
UNKNOWN = "\ufffe"
FORMULA_START = "\ufded"
FORMULA_END = "\ufdee"
# Marks at the start of paragraphs that become Markdown (lists.py), and between the cells of a row.
ITEM = "\ufde8"
ROW = "\ufde9"
CELL = "\ufdea"
# Marks used only in sections.py, to classify sections.
LINK = "\ufde2"
SOURCE = "\ufde3"
NOTE = "\ufde4"
TEMPLATE = "\ufde5"
# Characters that are as wide as two others: East Asian scripts and full-width forms
WIDE = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
SENTENCE_SIGNS = ".!?…؟۔।॥։።။។。！？"  # at the end of a sentence
_NONCHARACTER = re.compile("[\ufdd0-\ufdef]")
# The same in UTF-16. The second byte alone is found faster, but is also a part of "ý".
_THEIR_BYTE = b"\xfd"
_THEIR_BYTES = re.compile(rb"\xfd(?<=[\xd0-\xef]\xfd)")
_NUL = re.compile("\0")  # faster than `"\0" in text`
_CONTROLS = {0: None, ord(GUARD): None, ord(UNKNOWN): None}
_BRACES = {ord(char): _PROTECT[ord(char)] for char in "{}"}
_ARGUMENT_MARKUP = {ord(char): _PROTECT[ord(char)] for char in "|="}


def drop_noncharacters(text: str) -> str:
    """Removes from a page the characters that the cleaner later inserts as its own marks.

    These are the noncharacters U+FDD0–U+FDEF and the characters GUARD and UNKNOWN. Surrogates and NUL are
    removed, too.
    """
    try:
        data = text.encode("utf-16-le")
    except UnicodeEncodeError:
        return drop_noncharacters(text.encode("utf-8", "ignore").decode("utf-8"))
    if GUARD in text or UNKNOWN in text or _NUL.search(text):
        text = text.translate(_CONTROLS)
    return _NONCHARACTER.sub("", text) if _has_noncharacters(data) else text


def _has_noncharacters(data: bytes) -> bool:
    """Returns True if a text in UTF-16, little endian, has a noncharacter."""
    return _THEIR_BYTE in data and _THEIR_BYTES.search(data) is not None


def protect(text: str) -> str:
    """Replaces all markup characters of a text by stand-ins."""
    return text.translate(_PROTECT)


def protect_braces(text: str) -> str:
    """Replaces the braces of a text by stand-ins, so that they do not form a parameter or a template."""
    return text.translate(_BRACES) if "{" in text or "}" in text else text


def protect_argument(text: str) -> str:
    """Replaces `|` and `=`, which separate the arguments of a template, by stand-ins."""
    return text.translate(_ARGUMENT_MARKUP) if "|" in text or "=" in text else text


def restore(text: str) -> str:
    """Replaces stand-ins by the original characters, and removes all other marks of the cleaner."""
    if text.isascii() or not _has_noncharacters(text.encode("utf-16-le", "surrogatepass")):
        return text
    return _NONCHARACTER.sub(lambda match: _RESTORED.get(match[0], ""), text)


_RUN = re.compile(r"'{2,}")


def _apostrophe_to_restore(parts: list[str], sizes: list[int]) -> int:
    """Returns the index in `sizes` of the bold mark that is read as an apostrophe and an italic mark.

    Returns -1 if the line has no bold mark.

    Args:
      parts: the text before each mark of the line, and the text after the last mark.
      sizes: the number of apostrophes in each mark.
    """

    def rank(i: int) -> int:  # after a word of one letter, after another word, after a space
        return 2 if parts[i][-1:] == " " else int(parts[i][-2:-1] != " ")

    return min((i for i, size in enumerate(sizes) if size == 3), key=rank, default=-1)


def strip_quotes(text: str) -> str:
    """Returns a text without its marks for bold and italics. Real apostrophes are kept."""
    kept: list[str] = []
    position = 0
    start = text.find("''")
    while start >= 0:
        start = text.rfind("\n", position, start) + 1 or position
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        kept += (text[position:start], _strip_quotes(text[start:end]))
        position = end
        start = text.find("''", end)
    kept.append(text[position:])
    return "".join(kept)


def _strip_quotes(line: str) -> str:
    if "'''" not in line:
        return line.replace("''", "")
    if "''''" not in line:  # all marks are italic or bold
        without_bold = line.replace("'''", "")
        if line.count("'''") % 2 == 0 or without_bold.count("''") % 2 == 0:
            return without_bold.replace("''", "")
    runs = _RUN.findall(line)
    parts = _RUN.split(line)
    sizes = [min(5, 3 if len(run) == 4 else len(run)) for run in runs]
    texts = ["'" * (len(run) - size) for run, size in zip(runs, sizes, strict=True)]
    bold = sum(size != 2 for size in sizes)
    italic = sum(size != 3 for size in sizes)
    if bold % 2 and italic % 2:
        restored = _apostrophe_to_restore(parts, sizes)
        if restored >= 0:
            texts[restored] += "'"
    texts.append("")
    return "".join(part + text for part, text in zip(parts, texts, strict=True))
