"""A book as lines of some 70 characters → its paragraphs, each in one line.

Books of Project Gutenberg are wrapped by hand, and blank lines part their paragraphs. A stanza is a
paragraph, its verses joined like the lines of prose: indentation marks verses, but no less quotations of
prose, letters, footnotes and glossaries, which would be torn to pieces. A heading of two lines is a
paragraph, too.

How lines are joined was decided by what is at line ends in 328 real files:

* A word with a hyphen is joined to the next line unchanged: "billiard-\\nroom" is "billiard-room". Of
  505 such places in prose, 173 are compounds that the same book has within a line, too; in all books some
  80 are words that were broken ("politi-\\ncal"), a third of them in one book. Without a lexicon these
  cannot be distinguished, and no character is lost. Before a capital the hyphen mostly is a dash
  ("asleep-\\nWhereto"; 423 of 470 places are in plays), and a space follows it.
* A dash joined to a word is joined to the next one: within lines, "--" has no spaces around it in 78,585 of
  79,708 places. But for a name that is withheld ("Minister D--\\nis known"), which has a space behind it.
"""

import re

# Looked for by its last character, which is fast to find; what it is joined to is looked at then.
_LINE_END = re.compile(r"[-—][ \t]*\n[ \t]*(?=\S)")
_ENDS_IN_HYPHEN = re.compile(r"[^\W\d_]-\Z")
# Behind two characters that are no blanks or dashes: behind one of them only, it may be a name.
_ENDS_IN_DASH = re.compile(r"[^\s\-—]{2}(?:--|—)\Z")
_BLANK_LINES = re.compile(r"\n\s*\n")
# What is no character at all, but for white space. Old files end in U+001A.
_CONTROLS = dict.fromkeys(
    code for code in (*range(0x20), *range(0x7F, 0xA0)) if not chr(code).isspace()
)
_CONTROL = re.compile("[" + "".join(map(chr, _CONTROLS)) + "]")


def to_paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, in their order: without spaces at the ends, tabs, or two spaces in a row.

    None is empty. Control characters go; any other character that is not white space stays.
    """
    if _CONTROL.search(text):
        text = text.translate(_CONTROLS)
    text = _LINE_END.sub(_join, text)
    joined = (" ".join(block.split()) for block in _BLANK_LINES.split(text))
    return [paragraph for paragraph in joined if paragraph]


def _join(match: re.Match[str]) -> str:
    """Returns the replacement of a hyphen or a dash at the end of a line, and of the line feed."""
    place = match.start() + 1
    end = match.string[max(0, place - 4) : place]
    following = match.string[match.end()]
    is_hyphen = following.islower() and _ENDS_IN_HYPHEN.search(end)
    is_dash = following not in "-—" and _ENDS_IN_DASH.search(end)
    return match[0][0] if is_hyphen or is_dash else match[0]


def to_lines(paragraphs: list[str]) -> str:
    """A paragraph a line, each with a line feed."""
    return "".join([f"{paragraph}\n" for paragraph in paragraphs])
