"""Joins the lines of a book, of some 70 characters each, so that every paragraph is one line.

Books of Project Gutenberg are wrapped by hand, with empty lines between paragraphs. A stanza becomes one
paragraph, and its verses are joined like lines of prose. Verses could only be detected by their indentation.
But quotations of prose, letters, footnotes and glossaries are indented, too, and their paragraphs would be
torn apart. A heading of two lines becomes one paragraph, too.

The rules for joining lines are based on the line ends in 328 real files:

* A word with a hyphen is joined to the next line unchanged: "billiard-\\nroom" becomes "billiard-room". Of
  505 such places in prose, 173 are compounds that the same book also has within a line. In all books some
  80 are broken words ("politi-\\ncal"), a third of them in one book. Without a lexicon, broken words and
  compounds cannot be distinguished, so the hyphen is kept. Before a capital letter the hyphen is mostly a
  dash ("asleep-\\nWhereto"; 423 of 470 places are in plays), and a space follows it.
* A dash after a word is joined to the next word: within lines, "--" has no spaces around it in 78,585 of
  79,708 places. Withheld names are an exception: a space follows the dash ("Minister D--\\nis known").
"""

import re

# Matches the last character, which is fast to find; the characters before it are checked afterwards.
_LINE_END = re.compile(r"[-—][ \t]*\n[ \t]*(?=\S)")
_ENDS_IN_HYPHEN = re.compile(r"[^\W\d_]-\Z")
# A dash must follow two characters other than spaces and dashes. After a single one, it may be a withheld
# name.
_ENDS_IN_DASH = re.compile(r"[^\s\-—]{2}(?:--|—)\Z")
_BLANK_LINES = re.compile(r"\n\s*\n")
# Control characters other than white space. Old files end in U+001A.
_CONTROLS = dict.fromkeys(
    code for code in (*range(0x20), *range(0x7F, 0xA0)) if not chr(code).isspace()
)
_CONTROL = re.compile("[" + "".join(map(chr, _CONTROLS)) + "]")


def to_paragraphs(text: str) -> list[str]:
    """Returns the paragraphs of a text in order, each on one line with single spaces. Empty ones are omitted.

    Control characters are removed. All other characters that are not white space are kept.
    """
    if _CONTROL.search(text):
        text = text.translate(_CONTROLS)
    text = _LINE_END.sub(_join, text)
    joined = (" ".join(block.split()) for block in _BLANK_LINES.split(text))
    return [paragraph for paragraph in joined if paragraph]


def _join(match: re.Match[str]) -> str:
    """Returns the text that replaces the hyphen or dash at the end of a line and the line feed after it."""
    place = match.start() + 1
    end = match.string[max(0, place - 4) : place]
    following = match.string[match.end()]
    is_hyphen = following.islower() and _ENDS_IN_HYPHEN.search(end)
    is_dash = following not in "-—" and _ENDS_IN_DASH.search(end)
    return match[0][0] if is_hyphen or is_dash else match[0]


def to_lines(paragraphs: list[str]) -> str:
    """Joins paragraphs to a text in which each paragraph is a line that ends with a line feed."""
    return "".join([f"{paragraph}\n" for paragraph in paragraphs])
