"""Detects prose among the lines that begin with `:`.

MediaWiki indents such lines. Editors use them for quotations and paragraphs, but just as often for formulas,
examples, glossaries, hatnotes and deeper list levels. Only lines with whole sentences are prose.
"""

import re

from corpusmill.transforms.wikitext.marks import (
    BREAK,
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    SECTION,
)
from corpusmill.transforms.wikitext.tags import decode_entities

_BLANK = f" \t{HOLE}{GUARD}"
_INDENTED_LINES = re.compile(rf"\n:[^\n]*+(?:\n(?::[^\n]*+|[{_BLANK}]*+(?=\n)))*+")
_INDENTED = re.compile(r":+[ \t]*([^\s*#;:|!{].*)")
_NOT_PROSE = ("*", "#", ";", "|", "!", "{|", "----", SECTION)
# Minimum lengths of prose, chosen by reading about 1,000 such lines of four wikis. Most shorter lines are
# examples, entries and verses. A line after a paragraph may be a quotation. Any other line is a hatnote or
# part of a list, unless it is much longer.
_MIN_QUOTATION = 60  # characters; one of East Asian scripts counts twice
_MIN_PARAGRAPH = 150
_WIDE = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_FORMULA = re.compile(f"{FORMULA_START}[^{FORMULA_END}]*{FORMULA_END}")
_CLOSING = "[\"'»”’)\\]」』]*"
_SENTENCE_END = re.compile(rf"(?:[.!?…؟۔।:]|[。！？]){_CLOSING}$")
_INNER_SENTENCE_END = re.compile(rf"[.!?…؟۔।]{_CLOSING} |[。！？]{_CLOSING}[^\s]")
# A bullet, "(a)", "1.", or a symbol that is explained: "''v'' is the velocity".
_ENTRY = re.compile(
    rf"[-–—•·→{FORMULA_START}]|\(?(?:\d{{1,3}}|[^\W\d_]|[ivx]{{1,4}})[.)]\s|''+[^'\s]{{1,3}}''"
)
_ITALIC = re.compile("''(?!')(?:(?!'')[^\n])+''$")


def _is_prose(line: str, *, after_prose: bool) -> bool:
    text = decode_entities(line).replace(BREAK, " ").replace(HOLE, "").strip()
    if _ENTRY.match(text):
        return False
    length = len(_WIDE.sub("xx", _FORMULA.sub("x", text)))
    ends = _SENTENCE_END.search(text)
    if after_prose and ends and length >= _MIN_QUOTATION:
        return True
    if length < _MIN_PARAGRAPH or not _INNER_SENTENCE_END.search(text):
        return False
    return after_prose or bool(ends and not _ITALIC.match(text))


def raise_indented_prose(text: str) -> str:
    """Turns each line of prose that begins with `:` into a separate paragraph."""
    if "\n:" not in text:
        return text
    pieces: list[str] = []
    position = 0
    for lines in _INDENTED_LINES.finditer(text):
        before = _line_before(text, lines.start())
        after_prose = before.strip(BREAK) != "" and not before.startswith(_NOT_PROSE)
        pieces += (text[position : lines.start()], _raise(lines[0], after_prose))
        position = lines.end()
    pieces.append(text[position:])
    return "".join(pieces)


def _line_before(text: str, end: int) -> str:
    """Returns the last non-empty line before the position `end`, or "" if there is none."""
    line = ""
    while end > 0 and not line:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip(_BLANK)
        end = start - 1
    return line


def _raise(block: str, after_prose: bool) -> str:
    lines = block.split("\n")
    for i, line in enumerate(lines):
        if line.startswith(":"):
            indented = _INDENTED.fullmatch(line)
            after_prose = indented is not None and _is_prose(indented[1], after_prose=after_prose)
            if indented and after_prose:
                lines[i] = f"\n{indented[1]}\n"
    return "\n".join(lines)
