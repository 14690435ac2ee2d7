"""Joins lines to paragraphs.

Empty lines and horizontal rulers (`----`) separate paragraphs. A single newline is a space. Lists, indented
lines that are not prose, and remains of tables and templates are dropped.

Detects prose among the lines that begin with `:`.

MediaWiki indents such lines. Editors use them for quotations and paragraphs, but just as often for formulas,
examples, glossaries, hatnotes and deeper list levels. Only lines with whole sentences are prose.

Removes the spaces and punctuation that are left over around templates without text.

The cleaner puts a mark, called a hole, in place of each such template. The given text must have single spaces
only, and one paragraph per line. Spaces and punctuation are changed only next to a hole, with one exception:
spaces before commas are removed everywhere.

Drops the sentences that are incomplete because the value of a template cannot be known.

Such values are current prices and ages, and data that the dump does not contain. The value leaves a hole in
its sentence ("The population is people."), so the sentence is dropped. If the value is in brackets, the
sentence stays, and only a part of the bracketed text is dropped: the part between commas or semicolons that
contains the value. So "($5 in dollars of {{CURRENTYEAR}}, a record)" becomes "(a record)".
"""

import re
import unicodedata

from ..files.text import NARROW_SPACES, WIDE_SPACES
from .marks import (
    BREAK,
    CELL,
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    PROTECTED,
    PROTECTED_BAR,
    SECTION,
    SEPARATOR,
    UNKNOWN,
    WIDE,
    protect,
    restore,
    strip_quotes,
)
from .tags import decode_entities

_BLANK = f" \t{HOLE}{GUARD}"
_INDENTED_LINES = re.compile(rf"\n(?=:)[^\n]*+(?:\n(?::[^\n]*+|[{_BLANK}]*+(?=\n)))*+")
_INDENTED = re.compile(r":+[ \t]*([^\s*#;:|!{].*)")
_NOT_INDENTED_PROSE = ("*", "#", ";", "|", "!", "{|", "----", SECTION)
# Minimum lengths of prose, chosen by reading about 1,000 such lines of four wikis. Most shorter lines are
# examples, entries and verses. A line after a paragraph may be a quotation. Any other line is a hatnote or
# part of a list, unless it is much longer.
_MIN_QUOTATION = 60  # characters; one of East Asian scripts counts twice
_MIN_PARAGRAPH = 150
_FORMULA = re.compile(f"{FORMULA_START}[^{FORMULA_END}]*{FORMULA_END}")
_CLOSING_INDENT = "[\"'»”’)\\]」』]*"
_SENTENCE_END = re.compile(rf"(?:[.!?…؟۔।:]|[。！？]){_CLOSING_INDENT}$")
_INNER_SENTENCE_END = re.compile(rf"[.!?…؟۔।]{_CLOSING_INDENT} |[。！？]{_CLOSING_INDENT}[^\s]")
# A bullet, "(a)", "1.", or a symbol that is explained: "''v'' is the velocity".
_ENTRY = re.compile(
    rf"[-–—•·→{FORMULA_START}]|\(?(?:\d{{1,3}}|[^\W\d_]|[ivx]{{1,4}})[.)]\s|''+[^'\s]{{1,3}}''"
)
_ITALIC = re.compile("''(?!')(?:(?!'')[^\n])+''$")


def _is_prose(line: str, *, after_prose: bool) -> bool:
    text = decode_entities(line).replace(BREAK, " ").replace(HOLE, "").strip()
    if _ENTRY.match(text):
        return False
    length = len(WIDE.sub("xx", _FORMULA.sub("x", text)))
    ends = _SENTENCE_END.search(text)
    if after_prose and ends and length >= _MIN_QUOTATION:
        return True
    if length < _MIN_PARAGRAPH or not _INNER_SENTENCE_END.search(text):
        return False
    return after_prose or bool(ends and not _ITALIC.match(text))


def raise_indented_prose(text: str) -> str:
    """Turns each line of prose that begins with `:` into a separate paragraph."""
    return _INDENTED_LINES.sub(_raise, text)


def _line_before(text: str, end: int) -> str:
    """Returns the last non-empty line before the position `end`, or "" if there is none."""
    line = ""
    while end > 0 and not line:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip(_BLANK)
        end = start - 1
    return line


def _raise(block: re.Match[str]) -> str:
    before = _line_before(block.string, block.start())
    after_prose = before.strip(BREAK) != "" and not before.startswith(_NOT_INDENTED_PROSE)
    lines = block[0].split("\n")
    for i, line in enumerate(lines):
        if line.startswith(":"):
            indented = _INDENTED.fullmatch(line)
            after_prose = indented is not None and _is_prose(indented[1], after_prose=after_prose)
            if indented and after_prose:
                lines[i] = f"\n{indented[1]}\n"
    return "\n".join(lines)


# A line that begins with a space is preformatted: code and diagrams, or, in the dumps seen, prose with an
# accidental space. Such prose is longer than lines of code.
_MAX_CODE_LINE = 80
_PREFORMATTED = re.compile(rf"\n(?= )[^\n]{{1,{_MAX_CODE_LINE - 1}}}+(?=\n)")
_BAR = re.compile(r"^[ \t]*+(?:\|\}?|!)", re.MULTILINE)
_OPEN_LINK = re.compile(r"\[\[[^\[\]\n]*+$", re.MULTILINE)
# In quotations and poems an indent is layout. Unclosed and nested quotations are not changed.
_QUOTATION = re.compile(
    r"<(?i:poem|blockquote)\b[^<>]*+>[^<]*+(?:<(?!/?(?i:poem|blockquote)\b)[^<]*+)*+</"
)
_INDENT = re.compile(r"(\n|^<[^<>]*>)[ \t:]+")
_RULER = re.compile(r"\n[ \t]*-{4,}")
_NOT_PROSE = r"\n[ \t]*(?:[*#:;|!]|\{\|)[^\n]*+"
_NOT_PROSE_LINES = re.compile(rf"{_NOT_PROSE}(?:{_NOT_PROSE})*+")
# A line with only a hole (an infobox, an image) separates paragraphs like an empty line.
_HOLE_LINE = re.compile(rf"\n[ \t{HOLE}{GUARD}]+(?=\n)")
# The coordinates of an article, which are not part of its text; in a sentence they are kept.
_COORDINATES_LINE = re.compile(
    rf"\n[ \t{GUARD}]*+\d[\d.°′″]*+[NS] \d[\d.°′″]*+[EW][ \t{HOLE}]*+(?=\n)"
)
# "January | February | March": links in a row, for navigation.
_SEPARATOR = re.compile(r" ?(?:[|•·] )+| [|•·]$")
_ROW_SEPARATORS = {sign: re.compile(f"{re.escape(sign)}(?<= .) ") for sign in "|•·"}
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
_BLANK_AHEAD = re.compile("\n(?= ) ")
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


def drop_preformatted(text: str) -> str:
    """Removes lines that begin with a space, which MediaWiki displays as code.

    Lines are kept if they are too long to be code, or are in a `<blockquote>` or `<poem>` element.
    """
    if "<" in text:
        text = _QUOTATION.sub(lambda match: _INDENT.sub(r"\1", match[0]), text)
    return _PREFORMATTED.sub("\n", f"\n{text}\n")[1:-1]


def join_paragraphs(text: str) -> str:
    """Joins consecutive lines to paragraphs, and returns a text with one paragraph per line.

    Lines that begin with SECTION, the mark of a heading, are unchanged. The given text must not contain
    markup other than apostrophes and entities.
    """
    text = raise_indented_prose(f"\n{text}\n").replace(BREAK, "\n\n")
    if "----" in text:
        text = _RULER.sub("\n\n", text)
    text = _NOT_PROSE_LINES.sub("\n", text)
    if HOLE in text:
        text = _HOLE_LINE.sub("\n", text)
    if "°" in text:
        text = _COORDINATES_LINE.sub("\n", text)
    text = strip_quotes(text)
    text = decode_entities(text.replace(SEPARATOR, "").replace(GUARD, ""))
    for blank in _OTHER_BLANKS:
        if blank in text:
            text = text.replace(blank, " ")
    # Single spaces, and none at the start of a line
    text = "\n".join(_BLANK_AHEAD.split(" ".join(_DOUBLE_BLANK.split(text))))
    paragraphs = [
        _to_line(block)
        for block in text.split("\n\n")
        if block and (_WORD.search(block) or SECTION in block or _SIGNS.fullmatch(block))
    ]
    text = "\n".join(paragraphs)
    has_rows = any(sign in text and at.search(text) for sign, at in _ROW_SEPARATORS.items())
    return _drop_rows(text) if has_rows else text


def _drop_rows(text: str) -> str:
    """Removes paragraphs that are rows of links, except after a paragraph that announces something."""
    lines = text.split("\n")
    pairs = zip(("", *lines), lines, strict=False)
    kept = (b for a, b in pairs if a.endswith((":", "：", ",", "、")) or not _is_row_of_links(b))
    return "\n".join(kept)


def without_labels(paragraphs: list[str], body: str) -> list[str]:
    """Removes labels such as "Works:" or "''Results'':" from the end of a section's paragraphs.

    A label is kept if it is the only paragraph, and nothing follows it in the section's wikitext `body`.
    """
    if len(paragraphs) == 1 and body.rstrip(_AFTER_COLON).endswith(":"):
        return paragraphs
    while paragraphs and paragraphs[-1].endswith(":") and len(paragraphs[-1].split()) <= _MAX_LABEL:
        paragraphs = paragraphs[:-1]
    return paragraphs


def _to_line(block: str) -> str:
    block = block.strip("\n ")
    return block.replace(" \n", "\n").replace("\n", " ") if "\n" in block else block


def _is_row_of_links(paragraph: str) -> bool:
    if paragraph.startswith(SECTION) or not _SEPARATOR.search(paragraph, 0, _MAX_LINK + 3):
        return False
    links = _SEPARATOR.split(paragraph)
    return len(links) >= _MIN_LINKS and all(len(link) <= _MAX_LINK for link in links)


_PUNCTUATION = ",;:،؛、，；"
_STOP = ".।॥։。．۔"
_FILLER = rf"[ {_PUNCTUATION}{HOLE}–—-]"
_FILLER_NO_DASH = rf"[ {_PUNCTUATION}{HOLE}]"
_OPEN = r"[(（\[]"
_CLOSE = r"[)）\]]"


# (pattern, replacement, a pattern that is found faster in each line that the first one changes, or None)
_Rule = tuple[re.Pattern[str], str, re.Pattern[str] | None]


def _rule(pattern: str, replacement: str, sign: str | None = None) -> _Rule:
    return re.compile(pattern), replacement, re.compile(sign) if sign else None


_HOLE_RUN = _rule(rf"{HOLE}(?: ?{HOLE})+", HOLE)
# "( ; )": only holes in brackets; they become one hole
_HOLE_IN_BRACKETS = _rule(rf"{_OPEN}[ {_PUNCTUATION}–—-]*+{HOLE}{_FILLER}*+{_CLOSE}", HOLE)
_HOLE_RULES = (
    # "(equivalent to $_ in 2020)": an amount in today's money
    _rule(
        rf" ?\([^()$£€¥₹]*+(?:[$£€¥₹](?!{HOLE})[^()$£€¥₹]*+)*+[$£€¥₹]{HOLE}[^()]*+\)",
        "",
        rf"[$£€¥₹]{HOLE}",
    ),
    _HOLE_RUN,
    _HOLE_IN_BRACKETS,
    _HOLE_RUN,
    _HOLE_IN_BRACKETS,
    # "end.[image]Next"
    _rule(rf"{HOLE}(?<=[.!?…]{HOLE}){HOLE}*+(?=\w)", " "),
    _rule(rf"^{HOLE}+ ?", ""),
    # "«»"
    _rule(rf"(?:\"{HOLE}+\"|«{HOLE}+»|“{HOLE}+”|„{HOLE}+[“”]|‘{HOLE}+’|<{HOLE}+>)", HOLE),
    # "(; born 1900" and "(Latin; )"
    _rule(rf"({_OPEN})[ {_PUNCTUATION}]*+{HOLE}[ {_PUNCTUATION}{HOLE}]*+", r"\1"),
    _rule(
        rf"(?<!{_FILLER_NO_DASH})[ {_PUNCTUATION}]*+{HOLE}{_FILLER_NO_DASH}*+({_CLOSE})",
        r"\1",
        rf"(?<={_FILLER_NO_DASH}){_CLOSE}",  # from a hole on, it took the square of a long row of holes
    ),
    # "a, , b"
    _rule(rf"[{_PUNCTUATION}] ?{HOLE}+ ?(?=[{_PUNCTUATION}.])", ""),
    # "a  b" and "a ."
    _rule(rf" {HOLE}+(?= |$|[{_STOP}{_PUNCTUATION}])", ""),
    _rule(rf"{HOLE}+(?= |$|[{_STOP}{_PUNCTUATION}])", ""),
    _rule(rf" {HOLE}+ ?", " "),
    _rule(HOLE, ""),
)
# Most holes are notes after a word or sentence: for all lines at once. The fixed start is found fast.
_HOLE_AFTER_TEXT = re.compile(
    rf"{HOLE}(?<=[\w.!?…%\"'”»’)]{HOLE}){HOLE}*+(?=[ {_STOP}{_PUNCTUATION}\n]|$)"
)
# "a {{cn}} .": the space separated the note from the full stop
_BLANK_AFTER_HOLE = re.compile(rf"{HOLE} (?=[。．]|[{_STOP}](?:\s|$))")
# A typing error. Other spaces around punctuation are kept as the authors wrote them.
_BLANK_BEFORE_COMMA = re.compile(rf"(?<=[\w{FORMULA_END}]) +(?=[,、，](?:\s|$))")


def _close_holes(line: str) -> str:
    line = line.lstrip(HOLE + " ")  # most holes are images in front of a paragraph
    if HOLE in line:
        for pattern, replacement, sign in _HOLE_RULES:
            if sign is None or sign.search(line):
                line = pattern.sub(replacement, line)
                if HOLE not in line:
                    break
    return line


def tidy(text: str) -> str:
    """Removes holes (the marks for missing text), and the spaces and punctuation left over around them."""
    if HOLE in text:
        text = _HOLE_AFTER_TEXT.sub("", _BLANK_AFTER_HOLE.sub(HOLE, text))
        lines = text.split("\n")
        text = "\n".join([_close_holes(line) if HOLE in line else line for line in lines])
    for comma in (" ,", " 、", " ，"):
        if comma[1] in text and comma in text:
            lines = text.split("\n")
            text = "\n".join(
                [_BLANK_BEFORE_COMMA.sub("", one) if comma in one else one for one in lines]
            )
    return text


MAX_SENTENCE = 1_000  # characters of a sentence that may be dropped; a longer one keeps the hole

_CLOSING_MARKS = f"[\"'»”’)\\]）］」』{HOLE}]*+"
_END = re.compile(rf"(?:[.!?…।॥։。！？؟۔]{_CLOSING_MARKS})(?:\s+|$)|[。！？]{_CLOSING_MARKS}")
_WORD_BEFORE = re.compile(rf"[^\s.,;:!?()«»“”„\"'\[\]{HOLE}{UNKNOWN}-]+(?=[ {HOLE}]*$)")
_NEAR_VALUE = 20  # characters
_VOWELS = "aeiouyаеєиіїоуюяыэαεηιουω"  # a word that ends in one is rarely an abbreviation
_ASIDE = re.compile(rf"[(（][^()（）\n]*?{UNKNOWN}[^()（）\n]*+[)）]")
_VALUE_SEPARATOR = re.compile(r"([,;、，；](?!\d))")
_VALUE_WORD = re.compile(r"[^\W_]")


def drop_unknown_values(text: str, dropped: list[str]) -> str:
    """Returns a text without those sentences, and those parts of texts in brackets, that contain UNKNOWN.

    UNKNOWN is the mark for a value that cannot be known.

    Args:
        text: a paragraph on each line.
        dropped: a list to which the dropped sentences and parts are appended.
    """
    lines = []
    for line in text.split("\n"):
        if UNKNOWN in line and CELL not in line:
            is_heading = line.startswith(SECTION)
            line = _ASIDE.sub(lambda found: _without_parts(found[0], dropped), line)
            line = line if is_heading else _without_sentences(line, dropped)
            if not _VALUE_WORD.search(line) and not is_heading:
                continue
        lines.append(line.replace(UNKNOWN, ""))
    return "\n".join(lines)


def _without_parts(aside: str, dropped: list[str]) -> str:
    """Replaces the parts of `aside`, a text in brackets, that contain the mark UNKNOWN, by holes.

    Parts are separated by commas or semicolons. A hole is the mark for missing text. The replaced parts are
    appended to `dropped`.
    """
    pieces = _VALUE_SEPARATOR.split(aside[1:-1])
    for index, piece in enumerate(pieces):
        if UNKNOWN in piece:
            _add(piece, dropped)
            pieces[index] = HOLE
    return f"{aside[0]}{''.join(pieces)}{aside[-1]}"


def _without_sentences(line: str, dropped: list[str]) -> str:
    """Returns a paragraph without the sentences that contain the mark UNKNOWN.

    The removed sentences are appended to `dropped`.
    """
    if UNKNOWN not in line:
        return line
    kept = []
    start = 0
    for end in (*_ends_of_sentences(line), len(line)):
        sentence = line[start:end]
        if UNKNOWN not in sentence or len(sentence) > MAX_SENTENCE:
            kept.append(sentence)
        else:
            _add(sentence, dropped)
        start = end
    return "".join(kept).rstrip()


def _ends_of_sentences(line: str) -> list[int]:
    """Returns the positions at which sentences end. Spaces after a sentence belong to the sentence.

    A full stop that may belong to an abbreviation is not taken for the end of a sentence. If it does
    end a sentence, two sentences are dropped instead of one. The opposite error would leave half a sentence,
    which is worse.
    """
    ends = []
    for found in _END.finditer(line):
        following = line[found.end() : found.end() + 1]
        if following.islower():
            continue
        if found[0][0] == ".":
            word = _WORD_BEFORE.search(line, max(found.start() - _NEAR_VALUE, 0), found.start())
            if word and _may_be_abbreviation(word[0], following):
                continue
        ends.append(found.end())
    return ends


def _may_be_abbreviation(word: str, following: str) -> bool:
    """Returns True if the full stop after `word` may be that of an abbreviation or an ordinal number.

    Examples are "J", "St", "ст", "No" before a number, and "3" (in languages that write "3." for "3rd").
    `following` is the character after the full stop and its space.
    """
    if following.isdecimal() and not word.isdecimal():
        return len(word) <= 4
    if word.lower() == word.upper() and not word.isdecimal():  # a script without capitals
        return sum(map(str.isalpha, word)) < 3
    if len(word) == 1 or len(word) > 3 or (len(word) == 3 and word.islower()):
        return len(word) == 1
    return unicodedata.normalize("NFD", word[-1].casefold())[0] not in _VOWELS


def _add(text: str, dropped: list[str]) -> None:
    if _VALUE_WORD.search(text):
        dropped.append(" ".join(restore(text.replace(UNKNOWN, "")).split()))
