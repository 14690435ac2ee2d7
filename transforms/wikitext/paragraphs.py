"""Joins lines to paragraphs.

Empty lines and horizontal rulers (`----`) separate paragraphs. A single newline is a space. Lists, indented
lines that are not prose, and remains of tables and templates are dropped.
"""

import re

from corpusmill.transforms.files.white_space import NARROW_SPACES, WIDE_SPACES
from corpusmill.transforms.wikitext.indents import raise_indented_prose
from corpusmill.transforms.wikitext.marks import (
    BREAK,
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    PROTECTED,
    PROTECTED_BAR,
    SECTION,
    SEPARATOR,
    protect,
)
from corpusmill.transforms.wikitext.quotes import strip_quotes
from corpusmill.transforms.wikitext.tags import decode_entities

# A line that begins with a space is preformatted: code and diagrams, or, in the dumps seen, prose with an
# accidental space. Such prose is longer than lines of code.
_MAX_CODE_LINE = 80
_PREFORMATTED = re.compile(rf"\n [^\n]{{0,{_MAX_CODE_LINE - 2}}}(?=\n)")
_BAR = re.compile(r"^[ \t]*+(?:\|\}?|!)", re.MULTILINE)
_OPEN_LINK = re.compile(r"\[\[[^\[\]\n]*+$", re.MULTILINE)
_MARKUP_AHEAD = re.compile(r"\n(?=\[|\{\{|<|-\{)")
# In quotations and poems an indent is layout. Unclosed and nested quotations are not changed.
_QUOTATION = re.compile(
    r"<(?i:poem|blockquote)\b[^<>]*+>[^<]*+(?:<(?!/?(?i:poem|blockquote)\b)[^<]*+)*+</"
)
_INDENT = re.compile(r"(\n|^<[^<>]*>)[ \t:]+")
_RULER = re.compile(r"\n[ \t]*-{4,}")
_NOT_PROSE = re.compile(r"\n[ \t]*(?:[*#:;|!]|\{\|)[^\n]*")
# A line with only a hole (an infobox, an image) separates paragraphs like an empty line.
_HOLE_LINE = re.compile(rf"\n[ \t{HOLE}{GUARD}]+(?=\n)")
_FORMULA_LINE = re.compile(
    rf"\n[ \t{GUARD}]*(?:{FORMULA_START}[^\n{FORMULA_START}]*{FORMULA_END}[ \t.,;]*)+(?=\n)"
)
# The coordinates of an article, which are not part of its text; in a sentence they are kept.
_COORDINATES_LINE = re.compile(
    rf"\n[ \t{GUARD}]*+\d[\d.°′″]*+[NS] \d[\d.°′″]*+[EW][ \t{HOLE}]*+(?=\n)"
)
# "January | February | March": links in a row, for navigation.
_SEPARATOR = re.compile(r" ?(?:[|•·] )+| [|•·]$")
_MIN_LINKS = 3
# Links, and the name of the page itself, which is not a link: plain or in bold.
_LINK_IN_ROW = (
    r"[ \t(]*+(?:'{0,5}\[\[[^\[\]\n]++\]\]'{0,5}+"
    r"|'{0,5}+[^\W_][^'\[\](){}<>|.,;:!?\n\ufdd0-\ufdef–—•·-]{0,28}+'{0,5}+)[)]*+[ \t]*+"
)
_ROW_OF_LINKS = re.compile(
    r"\n(?=[ \t(–—|•·-]*+(?:\[\[|''))[ \t–—|•·-]*+"
    rf"(?:{_LINK_IN_ROW}[:–—|•·-]++){{{_MIN_LINKS - 1},}}+(?:{_LINK_IN_ROW})?(?=\n)"
)
_MAX_LABEL = 2  # words
_AFTER_COLON = " ]\n"
_NEAR = 10  # characters
_MAX_LINK = 40  # characters
_WORD = re.compile(r"[^\W_]")
# Signs protected by <nowiki>, "***". Longer runs are rulers; a bar belongs to a table.
_SIGNS = re.compile(rf"\n*(?!{PROTECTED_BAR})[{PROTECTED}][{PROTECTED} \n]{{0,9}}")
# Regular expressions find them faster than str.replace(), as they look for the first character.
_DOUBLE_BLANK = re.compile("  +")
_BLANK_AHEAD = re.compile("\n ")
_OTHER_BLANKS = sorted({*NARROW_SPACES, *WIDE_SPACES} - {" ", "\n"})


def drop_rows_of_links(text: str) -> str:
    """Removes lines that are rows of links, such as "[[May 1]] - [[May 2]] - [[May 3]]"."""
    return _ROW_OF_LINKS.sub(_show_row, text) if "]]" in text else text


def _show_row(match: re.Match[str]) -> str:
    before = match.string[max(match.start() - _NEAR, 0) : match.start()].rstrip()
    is_text = match[0].count("[[") < _MIN_LINKS or before.endswith(":")
    return match[0] if is_text else "\n"


def protect_bars(text: str) -> str:
    """Replaces `|` and `!` at the start of lines by stand-ins, so that the lines are kept as text.

    If the text has opening braces or an unclosed link, it is returned unchanged. In such a text, lines that
    start with `|` or `!` are remains of a broken table or template, or parts of a link.
    """
    if "{" in text or not _BAR.search(text) or _OPEN_LINK.search(text):
        return text
    return _BAR.sub(lambda match: protect(match[0]), text)


def guard_lines(text: str) -> str:
    """Inserts GUARD at the beginning of lines that begin with a link, a template or a tag.

    The visible text of such a line may begin with `*` or a space, as in "[[*NSYNC]] was a band." GUARD shows
    that the line is neither a list item nor code.
    """
    return _MARKUP_AHEAD.sub(f"\n{GUARD}", text)


def drop_preformatted(text: str) -> str:
    """Removes lines that begin with a space, which MediaWiki displays as code.

    Lines are kept if they are too long to be code, or are in a `<blockquote>` or `<poem>` element.
    """
    if "<" in text:
        text = _QUOTATION.sub(lambda match: _INDENT.sub(r"\1", match[0]), text)
    if "\n " not in text and not text.startswith(" "):
        return text
    return _PREFORMATTED.sub("\n", f"\n{text}\n")[1:-1]


def join_paragraphs(text: str) -> str:
    """Joins consecutive lines to paragraphs, and returns a text with one paragraph per line.

    Lines that begin with SECTION, the mark of a heading, are unchanged. The given text must not contain
    markup other than apostrophes and entities.
    """
    text = raise_indented_prose(f"\n{text}\n").replace(BREAK, "\n\n")
    if "----" in text:
        text = _RULER.sub("\n\n", text)
    text = _NOT_PROSE.sub("\n", text)
    if HOLE in text:
        text = _HOLE_LINE.sub("\n", text)
    if "°" in text:
        text = _COORDINATES_LINE.sub("\n", text)
    if FORMULA_END in text:
        text = _FORMULA_LINE.sub("\n", text)
    if "''" in text:
        lines = text.split("\n")
        text = "\n".join([strip_quotes(line) if "''" in line else line for line in lines])
    text = decode_entities(text.replace(SEPARATOR, "").replace(GUARD, ""))
    blocks = _collapse_blanks(text).split("\n\n")
    paragraphs = [
        _to_line(block)
        for block in blocks
        if _WORD.search(block) or SECTION in block or _SIGNS.fullmatch(block)
    ]
    if any(separator in text for separator in "|•·"):
        pairs = zip(("", *paragraphs), paragraphs, strict=False)
        paragraphs = [
            line
            for before, line in pairs
            if before.endswith((":", "：", ",", "、")) or not _is_row_of_links(line)
        ]
    return "\n".join(paragraphs)


def without_labels(paragraphs: list[str], body: str) -> list[str]:
    """Removes labels such as "Works:" or "''Results'':" from the end of a section's paragraphs.

    A label is kept if it is the only paragraph, and nothing follows it in the section's wikitext `body`.
    """
    if len(paragraphs) == 1 and body.rstrip(_AFTER_COLON).endswith(":"):
        return paragraphs
    while paragraphs and paragraphs[-1].endswith(":") and len(paragraphs[-1].split()) <= _MAX_LABEL:
        paragraphs = paragraphs[:-1]
    return paragraphs


def _collapse_blanks(text: str) -> str:
    """Returns the text with single spaces, and no space at the start of a line."""
    for blank in _OTHER_BLANKS:
        if blank in text:
            text = text.replace(blank, " ")
    return "\n".join(_BLANK_AHEAD.split(" ".join(_DOUBLE_BLANK.split(text))))


def _to_line(block: str) -> str:
    block = block.strip("\n ")
    return block.replace(" \n", "\n").replace("\n", " ") if "\n" in block else block


def _is_row_of_links(paragraph: str) -> bool:
    if paragraph.startswith(SECTION):
        return False
    if " | " not in paragraph and " • " not in paragraph and " · " not in paragraph:
        return False
    links = _SEPARATOR.split(paragraph)
    return len(links) >= _MIN_LINKS and all(len(link) <= _MAX_LINK for link in links)
