"""Removes the apostrophes that mark bold and italics, line by line, by the rules of MediaWiki.

The rules are those of `Parser::doQuotes`: two apostrophes mark italics, three bold, five both. Of four in a
row, the first is text; of six or more, all except five are text. If a line has an odd number of bold marks
and an odd number of italic marks, one bold mark is read as an apostrophe and an italic mark.
"""

import re

_RUN = re.compile(r"'{2,}")


def _apostrophe_to_restore(parts: list[str], sizes: list[int]) -> int:
    """Returns the index in `sizes` of the bold mark that is read as an apostrophe and an italic mark.

    Returns -1 if the line has no bold mark.

    Args:
      parts: the text before each mark of the line, and the text after the last mark.
      sizes: the number of apostrophes in each mark.
    """
    one_letter_word = word = blank = -1
    for i, size in enumerate(sizes):
        if size != 3:
            continue
        before = parts[i]
        if before[-1:] == " ":
            blank = i if blank < 0 else blank
        elif before[-2:-1] == " ":
            one_letter_word = i
            break
        else:
            word = i if word < 0 else word
    return next((i for i in (one_letter_word, word, blank) if i >= 0), -1)


def strip_quotes(line: str) -> str:
    """Returns a line without its marks for bold and italics. Real apostrophes are kept."""
    if "''" not in line:
        return line
    if "''''" not in line:  # all marks are italic or bold
        bold = line.count("'''")
        italic = line.count("''") - bold
        if bold % 2 == 0 or italic % 2 == 0:
            return line.replace("'''", "").replace("''", "")
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
