"""Decides which lists of a page are kept as text, and drops the others.

A sentence announces a list if it is directly before the list, and ends with a colon, a comma or a dash, or
says that something follows ("as follows."; each language has its own words for this). Without the list, such
a sentence would be incomplete. An announced list is kept, and each item becomes a paragraph. The same rule
applies to indented lines of a verse, quotation or example, and to terms and definitions of a glossary. Lists
of sources and long lists of names (filmographies, members, villages) are dropped even if they are announced.

Of other lists, the items that are whole sentences are kept. Such an item ends like a sentence and has at
least 60 characters. Sources, and labels with a single clause ("1912 – The Titanic sinks."), are not
sentences. Formulas on lines of their own, or alone in an item, are always kept. A corpus may instead keep all
lists, or none.

A label is a line of one or two words before a list, such as "Examples:", or a short line in bold. It is
dropped together with its list, unless a sentence announces the label. If a sentence is directly before a
subheading, it may announce the lists below this subheading and the following subheadings.

A list that explains the symbols of a formula is also announced by a line such as "where", which has no
punctuation at its end.

Converts the lists and tables of a page to Markdown.

Before the passes of the cleaner, each list item and each table row is turned into a paragraph that begins
with a mark. So the passes replace links and templates in it as in any other text. After the passes, the
marked paragraphs are converted to Markdown.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .marks import (
    BREAK,
    CELL,
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    ITEM,
    PROTECTED_BAR,
    ROW,
    SECTION,
    SENTENCE_SIGNS,
    WIDE,
    protect,
    restore,
)
from .sections import Section
from .tags import strip_html_blocks, strip_tables, sub_tables

_BLANK = f" \t\u00a0{HOLE}{GUARD}"
_TAG = rf"</?[A-Za-z][^<>\n{SECTION}]*+>"
_BLANK_LINE = rf"(?:[{_BLANK}]|{_TAG})*+"
_IS_BLANK = re.compile(_BLANK_LINE)
_MAX_BLANK_LINES = 8
_QUOTATION = re.compile(r"<(?i:blockquote|poem)\b")
_MAX_INSERTED = 2_000  # characters between the items of a list
_FORMULA = rf"(?:{FORMULA_START}[^\n{FORMULA_END}]*+{FORMULA_END}[ \t.,;]*+(?:{_TAG})*+)++"
# The first character is tested first: most lines fail there.
_LINES = re.compile(
    rf"\n(?=[*#:;{FORMULA_START}])((?:(?:[*#:;][^\n]*+|{_FORMULA})\n(?:{_BLANK_LINE}\n)*+)+)"
)
# Possible ends of a sentence that announces a list: a colon, comma or dash, and closing marks after it.
_OPEN_END = re.compile(rf"(?:[:：,、，՝]|[ :][-–—])(?:[{_BLANK}'\"»”’)\]]|&nbsp;|{_TAG})*+$")
_MAX_END = 80  # characters
_LIST = re.compile(r"^:*[*#]", re.MULTILINE)
_BOLD = re.compile(r"'{3}(?!'{3})[^\n]{1,60}'{3}[:：]?(?:<br\b[^<>\n]*+>)?")
# The start of an explanation of a symbol: "<math>p</math> is …", "''m''<sub>0</sub>, the mass", "m: the mass"
_INDEX = r"(?:<su[bp]>[^<>\n]{1,8}</su[bp]>)?[ \t]*"
_SYMBOL = re.compile(
    rf"(?:{FORMULA_START}[^\n{FORMULA_END}]*+{FORMULA_END}|''+[^'\s]{{1,3}}''+){_INDEX}(?:,[ \t]*)?[\w:=–—-]"
)
_LETTER = re.compile(rf"\w{{1,2}}{_INDEX}[:=]")
_SYMBOL_OR_LETTER = re.compile(rf"[{_BLANK}\n*#:;]*+(?:{_SYMBOL.pattern}|{_LETTER.pattern})")
_MARKS = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_FORMULA_MARKS = {ord(FORMULA_START): None, ord(FORMULA_END): None}
_NO_SENTENCE = ("*", "#", ":", ";", "|", "!", "{|", SECTION)
_SOURCE = re.compile(r"://|\bISBN\b|\bISSN\b")
_LINK_FIRST = re.compile(r"[^\w\[\n]*\[\w+://[^\[\]\n]+\](?![^\n]*(?:://|//))")
_MIN_DESCRIPTION = 4  # words
_OPENING = "'\"«„“‘([ "
_END = f"[{SENTENCE_SIGNS}]"
# Thai ends no sentence with a sign: its letters, without signs and digits.
_THAI = "".join(map(chr, range(0x0E01, 0x0E4F)))
_LAST_SIGNS = frozenset(_THAI + SENTENCE_SIGNS)
_VERBS = re.compile("เป็น|คือ|ได้|มี|ถูก|จะ|ให้|อยู่|ซึ่ง|แต่|จึง|เพราะ")  # and words between clauses
_MIN_VERBS = 2  # different ones, in a text of Thai that is a sentence
_CLOSERS = f"{_BLANK}'\"»”’)]」』）"
_CLOSING = rf"(?:[{re.escape(_CLOSERS)}]|{_TAG})*+$"
_SENTENCE_END = re.compile(_END + _CLOSING)
# ": ''E'' = ''mc''<sup>2</sup>": letters in italics, a sign of relation, and no word
_PLAIN_FORMULA = (
    rf"(?=[^\n]*''[^\W\d_]{{1,2}}(?:<|''))(?=[^\n]*[=≈≡≤≥∝→⇒{protect('=')}])"
    rf"(?![^\n]*(?<![&<])(?:[^\W\d_]{{4}}|{WIDE.pattern}))[^\n]*+"
)
_MIN_SENTENCE = 60  # characters of an item that is more than a name; East Asian ones count twice
_DATE = r"(?:[คพ]\.ศ\. )?\d[^–—\n-]{0,40}+(?:(?<=[ \u00a0])|(?<=&nbsp;))[–—-]"
_FORMULA_LINE = re.compile(
    rf"\n(:*+[ \t]*+{FORMULA_START}[^\n]*+|[*#:]++[ \t]*+{_FORMULA}"
    rf"|:++(?![*#])[ \t]*+{_PLAIN_FORMULA})(?=\n)"
)
# An item that is long enough for a sentence, and may end like one. Chronologies ("1912 – The ship …") have no
# sentences.
_LONG_ITEM = re.compile(
    rf"\n:*+[*#][ \t*#:;]*+(?![{_BLANK}]*+{_DATE})"
    rf"((?:[^\n]{{{_MIN_SENTENCE},}}+|(?=[^\n]*{WIDE.pattern})[^\n]{{{_MIN_SENTENCE // 2},}}+)"
    rf"(?<=[{SENTENCE_SIGNS}{_THAI}{re.escape(_CLOSERS)}>]))(?=\n)"
)
_NEXT_SENTENCE = re.compile(r"(?:(?<=\w\w)[.!?؟۔।։።။។]\W? |[。！？])(?=[^\s。！？])")
_MAX_LAST = 200  # characters
_DIGIT = re.compile(r"\d")
# A label before the text of an item: "1912 – The", "Snowball: The", "Anna (1950–2000) — a"
_DASH = "[–—―－•]"
_SPACE = "[ \u00a0]"
_HYPHEN = rf"(?<!{_SPACE})-(?![ \u00a0-])|(?<={_SPACE})-(?=\d)|(?<=[^\W\d])-(?= [a-zà-ÿа-яё])"
_IN_BRACKETS = r"[(（][^()（）\n]*+[)）]"
_MAX_LABEL = 60  # characters; a text in brackets counts as one
_ENTRY = re.compile(
    rf"(?P<label>(?:[^.!?。！？։।…(（\n:：–—―－•-]++|{_IN_BRACKETS}"
    rf"|(?<!{_SPACE}){_DASH}(?!{_SPACE})|{_HYPHEN}|[:：](?=\d))++)"
    rf"(?:(?<={_SPACE})[–—―－•-]++|[–—―－•-]++(?={_SPACE})|[:：])(?P<text>.*)"
)
# After a full stop that is not one of an abbreviation. Each pattern begins with a set of characters, which is
# fast to search.
_WHOLE_WORD = r"(?:(?<=[^\W\d_][^\W\d_][^\W\d_].)|(?<=[^\s\dA-Za-zÀ-ɏͰ-ӿ.][^\s\dA-Za-zÀ-ɏͰ-ӿ.].))"
_INNER_END = re.compile(
    rf"[.!?؟۔।։።။។。！？](?:(?<![。！？]){_WHOLE_WORD}\W{{0,2}} |(?<=[。！？])[」』）]?[^\W」』）])"
)
# Sources: "''The Title''. London", "Smith, John, ''The"
_TITLE_FIRST = re.compile(
    r"''(?!')[^'\n]++''\."
    r"|[^\W\d]\w*+, \w[^,.«“\"'「\n]{0,30}[,.:;]?\s?(?:\(\d{4}\)[.,:]?\s?)?(?:''|[«“\"「])"
)
# "pp. 5", "(2007). «", "93 (12): 17", "(1999). A history of the town. London: Press"
_PAGES = re.compile(
    r"[p(](?:(?<=\bp)p?\. ?\d|(?<=\()\d{4}\)[.,:]? ?(?:''|[«“„\"])|(?:(?<=\d\()|(?<=\d \())\d+\) ?[:,] ?\d"
    r"|(?<=\()(?:1[89]|20)\d\d[a-z]?\)\. [^.\n]{3,120}\. [^.:\n]{2,30}: )"
)
# "92–96.", "Oxford, 1998.", "Київ, 1998. — 200 с.", "『政治理論史』東京大学出版会、1980年。"
_YEAR_LAST = re.compile(
    r"\d[–-]\d+[.։]$|(?<!\d), (?:19|20)\d\d\)?[.։]$|\b(?:19|20)\d\d[^\d\n]{1,12}\d{2,4} ?\w{1,5}[.։]$"
    r"|』[^』。\n]*\d{4}年?[)）]?。?$|'',(?:(?![a-zа-яα-ω]{4})[^.\n]){0,60}\b(?:19|20)\d\d[.։]$"
)
_AFTER_YEAR = 10  # characters, at most, from the last digit of such an end
_MIN_WORDS = 3  # of a sentence; "See also:" and "Examples:" are labels
_MIN_WIDE = 8  # characters of East Asian scripts
_MAX_NAMES = 50  # items of a list of names, without the terms that part it


class ListRule(NamedTuple):
    """Decides which lists of a corpus are kept."""

    lists: str  # one of LISTS
    announcing: re.Pattern[str] | None  # found in sentences that announce a list without a colon

    def keeps_whole(self, block: str, is_announced: bool | None) -> bool:
        """Returns True if a list is kept with all of its items.

        Args:
            block: the lines of the list.
            is_announced: result of `_Announcements.announce`.
        """
        if self.lists != "sentences" or is_announced is None:
            return self.lists == "all"
        return _stays(_items(block), len(_LIST.findall(block)), is_announced)

    def show_parts(self, block: str) -> str:
        """Returns a list in which those lines are paragraphs that are kept by themselves.

        The list begins and ends with a line feed.
        """
        if FORMULA_START in block or "\n:" in block:
            block = _FORMULA_LINE.sub(
                lambda line: "\n" + _paragraph(_MARKS.sub("", line[1])), block
            )
        return _LONG_ITEM.sub(_show_item, block) if self.lists == "sentences" else block


def keep_lists(text: str, levels: Sequence[int], rule: ListRule) -> str:
    """Turns the items of kept lists into paragraphs, and removes the labels of other lists.

    The docstring of the module explains which lists are announced, and what a label is. `levels` are the
    heading levels of the sections that begin in the text, in order.
    """
    pieces: list[str] = []
    position = 0
    list_end = -1  # of the last list that is kept as a whole
    announcements = _Announcements(text, levels, rule.announcing)
    for match in _LINES.finditer(text):
        block = match[1]
        start, end = _line_before(text, match.start())
        goes_on = list_end == position < end and _is_inserted(text, position, end)
        is_announced = announcements.announce(start, end, block, goes_on=goes_on)
        is_whole = rule.keeps_whole(block, is_announced)
        items = _items(block) if is_whole else []
        shown = "\n" + "".join(map(_paragraph, items)) if is_whole else rule.show_parts(match[0])
        is_bold = text.startswith("'''", start) and bool(
            _BOLD.fullmatch(text[start:end].strip(_BLANK))
        )
        if shown != match[0]:
            pieces += (
                text[position:start],
                "\n\n" if is_bold else "",
                text[max(start, position) : end],
                shown.translate(_FORMULA_MARKS) if FORMULA_END in shown else shown,
            )
            position = match.end()
            list_end = position if is_whole else -1
        elif is_announced is False or is_bold:
            pieces += (text[position:start], "\n")
            position = match.end()
    pieces.append(text[position:])
    return "".join(pieces)


def _items(block: str) -> list[str]:
    """Returns the lines of a list without their marks."""
    return [item for item in _MARKS.sub("", block).split("\n") if item.strip(_BLANK)]


def _paragraph(item: str) -> str:
    return f"\n\n{GUARD}{item}\n\n"


def _show_item(line: re.Match[str]) -> str:
    is_prose = _ends_sentence(line[1]) and _is_prose(line[1])
    return "\n" + _paragraph(line[1]) if is_prose else line[0]


def _ends_sentence(item: str) -> bool:
    """Returns True if the last sign of an item ends a sentence, or is a letter of Thai."""
    end = item.rstrip(_CLOSERS)
    if end.endswith(">"):  # a tag
        return bool(_SENTENCE_END.search(item[-_MAX_END:]))
    return end[-1:] in _LAST_SIGNS


def _has_sentences(items: Sequence[str]) -> bool:
    return 2 * sum(map(_is_long, items)) >= len(items)


def _last_sentence(line: str) -> str:
    """Returns the last sentence of a line, at most _MAX_LAST characters, without white space around it."""
    tail = line[-_MAX_LAST:]
    start = max((found.end() for found in _NEXT_SENTENCE.finditer(tail)), default=0)
    return tail[start:].strip(_BLANK)


def _line_before(text: str, end: int) -> tuple[int, int]:
    """Returns (start, end) of the line before the position `end`, after skipping empty lines backwards.

    At most _MAX_BLANK_LINES empty lines are skipped, so the returned line may be empty, too.
    """
    start = text.rfind("\n", 0, end) + 1
    for _ in range(_MAX_BLANK_LINES):
        if start == 0 or not _IS_BLANK.fullmatch(text, start, end):
            break
        end = start - 1
        start = text.rfind("\n", 0, end) + 1
    return start, end


def _is_inserted(text: str, start: int, end: int) -> bool:
    """Returns True if two lists are parts of one list, because only a quotation or clause is between them.

    `start` and `end` are the positions of the text between the lists.
    """
    if end - start > _MAX_INSERTED or "\n\n" in text[start - 2 : end]:
        return False
    inserted = text[start:end].strip(f"{_BLANK}\n")
    return bool(_QUOTATION.match(inserted)) or inserted.endswith((";", ","))


def _is_announced(text: str, start: int) -> bool:
    """Returns True if the line before the position `start` is a sentence that announces a list."""
    start, end = _line_before(text, start - 1)
    line = text[start:end].strip(_BLANK)
    is_open = _OPEN_END.search(text, max(start, end - _MAX_END), end)
    return bool(is_open) and not line.startswith(_NO_SENTENCE) and _is_sentence(line)


class _Announcements:
    """Checks which lists of a text are announced."""

    def __init__(self, text: str, levels: Sequence[int], words: re.Pattern[str] | None) -> None:
        self._text = text
        self._levels = levels
        self._words = words  # that announce a list
        self._position = self._number = 0  # a place in the text, and the number of its section
        self._announced = 0  # level of headings whose lists are announced; 0 for none
        self._checked = -1  # number of the last checked section

    def announce(self, start: int, end: int, block: str, *, goes_on: bool) -> bool | None:
        """Returns True if the text before a list announces it, False if it is only a label, else None.

        In each call, `start` must be greater than in the call before.

        Args:
            start, end: the positions of the line before the list.
            block: the lines of the list.
            goes_on: True if the list continues another one that is kept.
        """
        line = self._text[start:end].strip(_BLANK)
        if line.startswith(SECTION):
            is_continued = self._has_heading(start) and _has_sentences(_items(block))
            return True if is_continued else None
        if not line or line.startswith(_NO_SENTENCE):
            return None
        if goes_on or _explains_symbols(line.rstrip(":： "), block):
            return True
        if _OPEN_END.search(self._text, max(start, end - _MAX_END), end):
            return _is_sentence(line) or _is_announced(self._text, start)
        words = self._words
        if words and words.search(line[-_MAX_LAST:]) and words.search(_last_sentence(line)):
            return True
        return None

    def _has_heading(self, start: int) -> bool:
        """Returns True if the lists below the heading at the position `start` are announced."""
        self._number += self._text.count(SECTION, self._position, start)
        self._position = start
        if self._number >= len(self._levels):
            return False
        level = self._levels[self._number]
        since = self._levels[self._checked + 1 : self._number + 1]
        self._checked = self._number
        if self._announced and min(since, default=level) >= self._announced:
            return True
        self._announced = 0
        is_deeper = self._number > 0 and self._levels[self._number - 1] < level
        if is_deeper and _is_announced(self._text, start):
            self._announced = level
        return bool(self._announced)


def _stays(items: Sequence[str], marked: int, is_announced: bool) -> bool:
    """Returns True if a list is to be kept. The decision depends on its items and on the line before it.

    Args:
        items: the items of the list.
        marked: the number of items that begin with `*` or `#`.
        is_announced: True if a sentence announces the list, False if the line before it is only a label,
            such as "Examples:".
    """
    if 2 * sum(map(_is_source, items)) >= len(items):
        return False
    if 2 * marked < len(items):
        return True
    if marked > _MAX_NAMES and 2 * sum(map(_is_long, items)) < len(items):
        return False
    if is_announced or 2 * sum(map(_goes_on, items)) > len(items):
        return True
    return all(_is_long(item) and _SENTENCE_END.search(item[-_MAX_END:]) for item in items)


def _explains_symbols(line: str, block: str) -> bool:
    """Returns True if a list explains the symbols of a formula.

    `line` is the line before the list, for example "where". `block` has the lines of the list.
    """
    if not line[-1:].isalnum() or not _SYMBOL_OR_LETTER.match(block):
        return False
    is_short = not line[:1].isupper() and len(line.split(None, _MIN_WORDS)) < _MIN_WORDS
    if not is_short and not _is_sentence(line):
        return False
    items = _items(block)
    has_letters = is_short and line[:1].islower()
    symbols = [bool(_SYMBOL.match(item) or (has_letters and _LETTER.match(item))) for item in items]
    return any(symbols[:1]) and 2 * sum(symbols) > len(symbols)


def _is_source(item: str) -> bool:
    """Returns True if a list item is a source, such as a book.

    An item that begins with a link and then describes the link's target is not a source.
    """
    if "://" not in item and "ISBN" not in item and "ISSN" not in item:
        return False
    found = _SOURCE.search(item)
    if not found or found[0] != "://":
        return bool(found)
    described = _LINK_FIRST.match(item)
    return not described or len(item[described.end() :].split()) < _MIN_DESCRIPTION


def _is_sentence(line: str) -> bool:
    return len(line.split(None, _MIN_WORDS)) >= _MIN_WORDS or len(WIDE.findall(line)) >= _MIN_WIDE


def _is_prose(item: str) -> bool:
    """Returns True if a list item that ends like a sentence is a whole sentence, or several."""
    text = item.strip(_BLANK)
    if text.lstrip(_OPENING)[:1].islower() or not _is_long(text):
        return False
    if text[-1] in _THAI and len({*_VERBS.findall(text)}) < _MIN_VERBS:
        return False
    entry = _ENTRY.match(text)
    if entry and len(re.sub(_IN_BRACKETS, ".", entry["label"])) > _MAX_LABEL:
        entry = None
    if entry and (_DIGIT.search(entry["label"]) or not _INNER_END.search(entry["text"])):
        return False
    if _TITLE_FIRST.match(text) or _is_source(item):
        return False
    if not _DIGIT.search(text):
        return True
    is_year_last = _DIGIT.search(text[-_AFTER_YEAR:]) and _YEAR_LAST.search(text[-_MAX_END:])
    return not (is_year_last or _PAGES.search(text))


def _is_long(item: str) -> bool:
    return len(item) >= _MIN_SENTENCE or len(WIDE.sub("xx", item)) >= _MIN_SENTENCE


def _goes_on(item: str) -> bool:
    """Returns True if an item begins in lower case, so that it continues a sentence."""
    return item.lstrip(_OPENING)[:1].islower()


_ITEM_LINE = re.compile(r"\n([*#][*#:]*+)[ \t]*+([^\s*#:][^\n]*+)")
_ITEM = re.compile(rf"{ITEM}([*#:]++){ITEM} ?(.*)")
_ROW = re.compile(rf"{ROW}[^{ROW}]*+{ROW}")
_TABLE_HEAD = re.compile(r"\s*:*\s*\{\|([^\n]*)")
_DATA_TABLE = re.compile(r"\b(?:wikitable|prettytable|standard|sortable)\b")
_PARTS = re.compile(r"\[\[|\]\]|\{\{|\}\}|\|\||!!|\|")
_DEEPER = {"[[": 1, "{{": 1, "]]": -1, "}}": -1}
_BREAKS = re.compile(r"<\s*/?\s*(?i:br|p|div|center|blockquote|li)\b[^<>]*>")
_LIST_MARKS = " \t*#:;"
# Text that Markdown would read as a heading, a quotation, an item or a ruler.
_MARKUP = re.compile(r"\A(?:\d{1,9}(?=[.)] )|(?=#{1,6} |[-+*>] |-{3,}$|={3,}$))")
_SPAN = re.compile(r"(col|row)span\s*=\s*[\"']?(\d+)", re.IGNORECASE)
_LARGEST_SPAN = 20
_FEWEST_COLUMNS = 2


def mark_lists(wikitext: str) -> str:
    """Turns each list item of a wikitext into a paragraph that begins with a mark."""
    return _ITEM_LINE.sub(_mark_item, f"\n{wikitext}")[1:]


def _mark_item(match: re.Match[str]) -> str:
    marks, text = match.groups()
    # If a template or link continues on the next line, this line is part of the item; else a paragraph.
    is_whole = all(text.count(start) == text.count(end) for start, end in ("{}", "[]"))
    return f"\n\n{ITEM}{marks}{ITEM}{text}" + "\n" * is_whole


def mark_tables(wikitext: str) -> str:
    """Turns each row of a data table in a wikitext into a paragraph that begins with a mark.

    Other tables, such as layout tables, are dropped.
    """
    return strip_html_blocks(sub_tables(wikitext, _mark_table))


def join_rows(text: str) -> str:
    """Puts each table row on one line again, because expanded templates may contain line breaks."""
    return _ROW.sub(lambda match: match[0].replace("\n", " ").replace(BREAK, " "), text)


def _mark_table(source: str) -> str:
    head = _TABLE_HEAD.match(source)
    if not head or not _DATA_TABLE.search(head[1]):
        return f"\n{BREAK}"
    lines = strip_tables(source[head.end() :]).rstrip().removesuffix("|}").split("\n")
    rows = [row for row in _lay_out(_rows(lines)) if any(row)]
    if max(map(len, rows), default=0) < _FEWEST_COLUMNS:
        return f"\n{BREAK}"
    # The first row has an additional mark, so that two tables in a row are kept apart.
    marked = (f"{ROW if n else ROW + ROW + ROW}{CELL.join(row)}{ROW}" for n, row in enumerate(rows))
    return "\n\n" + "\n\n".join(marked) + "\n\n"


class _Cell(NamedTuple):
    text: str  # wikitext in one line
    columns: int = 1
    rows: int = 1


def _lay_out(rows: Iterable[Sequence[_Cell]]) -> Iterator[list[str]]:
    """Yields the cell texts of each row. Empty cells are added where a cell spans several columns or rows."""
    below: dict[int, int] = {}  # column → number of rows still covered by a cell above
    for row in rows:
        line: list[str] = []
        for cell in row:
            _skip(line, below)
            for text in (cell.text, *[""] * (cell.columns - 1)):
                below[len(line)] = cell.rows - 1
                line.append(text)
        _skip(line, below)
        yield line


def _skip(line: list[str], below: dict[int, int]) -> None:
    while below.get(len(line)):
        below[len(line)] -= 1
        line.append("")


def _rows(lines: Iterable[str]) -> Iterator[list[_Cell]]:
    """Yields the cells of each row of a wikitext table."""
    row: list[_Cell] = []
    is_cell = False
    for text in _join_templates(lines):
        if text.startswith(("|-", "|+")):
            is_cell = False  # lines after a caption are part of the caption
            if not text.startswith("|+") and row:
                yield row
                row = []
        elif text.startswith(("|", "!")):
            row += _cells(text[1:], is_header=text[0] == "!")
            is_cell = True
        elif is_cell and text:
            more = _one_line(text.lstrip(_LIST_MARKS))
            row[-1] = row[-1]._replace(text=f"{row[-1].text} {more}".strip())
    if row:
        yield row


def _join_templates(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines of a table. Lines are joined if a template extends over several lines."""
    joined: list[str] = []
    depth = 0
    for line in lines:
        joined.append(line.strip())
        depth = max(0, depth + line.count("{{") - line.count("}}"))
        if not depth:
            yield " ".join(joined)
            joined = []
    if joined:
        yield " ".join(joined)


def _cells(line: str, *, is_header: bool) -> Iterator[_Cell]:
    """Yields the table cells in a line of wikitext."""
    depth = start = 0
    spans: dict[str, int] = {}
    for part in _PARTS.finditer(line):
        depth = max(0, depth + _DEEPER.get(part[0], 0))
        if depth or part[0] in _DEEPER:
            continue
        if part[0] == "||" or (part[0] == "!!" and is_header):
            yield _cell(line[start : part.start()], spans)
            start, spans = part.end(), {}
        elif part[0] == "|" and "[[" not in line[start : part.start()]:
            found = _SPAN.findall(line, start, part.start())
            spans = {kind.lower(): min(int(n), _LARGEST_SPAN) for kind, n in found}
            start = part.end()
    yield _cell(line[start:], spans)


def _cell(text: str, spans: Mapping[str, int]) -> _Cell:
    return _Cell(_one_line(text), max(spans.get("col", 1), 1), max(spans.get("row", 1), 1))


def _one_line(cell: str) -> str:
    return " ".join((_BREAKS.sub(" ", cell) if "<" in cell else cell).split())


def render_markdown(title: str, sections: Sequence[tuple[int, Section]]) -> str:
    """Returns the article as Markdown.

    Args:
      title: the title of the page.
      sections: (level of the heading, section) for each section. Paragraphs may begin with the marks of
        `mark_lists` and `mark_tables`. The heading of a section without paragraphs is kept if one of its
        subsections has paragraphs.
    """
    blocks = [f"# {title}"]
    for (level, section), is_shown in zip(sections, _leading_to_text(sections), strict=True):
        if section.heading and is_shown:
            blocks.append(f"{'#' * max(level, 2)} {section.heading}")
        blocks += _render(section.paragraphs)
    return "\n\n".join(blocks)


def _leading_to_text(sections: Sequence[tuple[int, Section]]) -> list[bool]:
    """Returns one value per section: True if the section or one of its subsections has text."""
    shown: list[bool] = []
    text_level = 0  # of the next section that is shown
    for level, section in reversed(sections):
        is_shown = bool(section.paragraphs) or text_level > level
        text_level = level if is_shown else text_level
        shown.append(is_shown)
    return shown[::-1]


def _render(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yields the paragraphs, lists and tables of a section as blocks of Markdown."""
    items: list[tuple[str, str]] = []
    rows: list[list[str]] = []
    for paragraph in paragraphs:
        item = _ITEM.fullmatch(paragraph)
        is_row = paragraph.startswith(ROW)
        if items and not item:
            yield _list(items)
            items = []
        if rows and (not is_row or paragraph.startswith(ROW + ROW)):
            yield _table(rows)
            rows = []
        if item:
            items.append((item[1], restore(item[2])))
        elif is_row:
            cells = paragraph.strip(ROW).replace(PROTECTED_BAR, "|").replace("|", r"\|")
            rows.append([restore(cell).strip() for cell in cells.split(CELL)])
        else:
            yield _MARKUP.sub(r"\g<0>\\", restore(paragraph).strip())
    if items:
        yield _list(items)
    if rows:
        yield _table(rows)


def _list(items: Sequence[tuple[str, str]]) -> str:
    lines = []
    counts: list[int] = []  # of the items at each depth
    before = ""
    for marks, text in items:
        alike = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(marks, before, strict=False)
        )
        counts = counts[: len(list(alike))]
        counts += [0] * (len(marks) - len(counts))
        counts[-1] += 1
        before = marks
        indent = sum(3 if mark == "#" else 2 for mark in marks[:-1])
        sign = f"{counts[-1]}." if marks[-1] == "#" else "-"
        lines.append(f"{' ' * indent}{sign} {text}")
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table. The first row is padded with empty cells to the length of the longest row."""
    width = max(map(len, rows))
    head = [*rows[0], *[""] * (width - len(rows[0]))]
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows[1:])]
    return "\n".join([lines[0], "|---" * width + "|", *lines[1:]])
