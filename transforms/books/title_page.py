"""Finds the years in the front of a book: on the title page, on its back, and below a preface.

Each year is returned with its source, such as a copyright line. publication_dates.py chooses the year of
publication among them.

Parses years in Roman numerals as printed on title pages: "MDCCCXCIX", "M DCCC XCIX", "M.DCC.XXXVIII.".

Divides the front of a book (the pages before the text) into blocks of lines, and detects running text.
"""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..files.markup import read_toml
from .spans import line_end, line_start, split_paragraphs

# Printers also repeated a letter four times: MDCCCCXI for MCMXI. Both forms are parsed.
_THOUSANDS = re.compile(
    r"(?P<thousands>M{1,3})(?P<hundreds>CM|CD|D?C{0,4})(?P<tens>XC|XL|L?X{0,4})(?P<units>IX|IV|V?I{0,4})"
)
_PAIRS = {"CM": 900, "CD": 400, "XC": 90, "XL": 40, "IX": 9, "IV": 4}
_LETTERS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_BETWEEN = re.compile(r"[. ]+")


def parse_roman(text: str) -> int | None:
    """Parses a Roman numeral of at least 1000 in capital letters. Returns None for other texts.

    Points and spaces between the letters are ignored.
    """
    match = _THOUSANDS.fullmatch(_BETWEEN.sub("", text))
    if match is None:
        return None
    return sum(
        _PAIRS.get(part) or sum(_LETTERS[letter] for letter in part) for part in match.groups()
    )


MAX_LINES = 250  # maximum lines of the front, which has the title page, its back and a preface
# maximum characters of the front: some texts have a whole paragraph in one line
MAX_CHARACTERS = 40_000

# A block is running text if it has at least the characters of two full lines, and most of its lines are as
# long as lines broken at a margin. The lines of an address or a list are shorter.
_MIN_PROSE_CHARACTERS = 150
_MIN_FULL_LINE = 50
_MIN_FULL_SHARE = 0.7
_MAX_LIST = 5  # more lines, none of which begins with a small letter, are a list

# Characters of running text before or on the title page: a motto, a note, a notice of rights.
_MAX_PROSE_BEFORE_TITLE = 1_200

_BLANKS = re.compile(r"[ \t\xa0]+")


class Block(NamedTuple):
    """Consecutive lines that are not empty."""

    lines: tuple[str, ...]  # without surrounding white space
    is_prose: bool  # running text
    prose_before: int  # characters of running text in earlier blocks


def is_on_title_page(block: Block) -> bool:
    """Returns True if a block is probably on the title page, judged by the running text before it.

    At most a short piece of running text, such as a motto, may be before the block.
    """
    return block.prose_before <= _MAX_PROSE_BEFORE_TITLE


def blocks_of_front(text: str) -> Iterator[Block]:
    """Yields the blocks of the front of a book, in order."""
    prose_characters = 0
    front = "\n".join(text[:MAX_CHARACTERS].split("\n")[:MAX_LINES])
    for paragraph in split_paragraphs(front):
        lines = tuple(map(str.strip, paragraph.text.split("\n")))
        characters = sum(len(_BLANKS.sub(" ", line)) for line in lines)
        but_last = lines[:-1] or lines
        full = sum(len(_BLANKS.sub(" ", line)) >= _MIN_FULL_LINE for line in but_last)
        is_full = full >= _MIN_FULL_SHARE * len(but_last)
        is_list = len(lines) > _MAX_LIST and not any(line[:1].islower() for line in lines)
        is_prose = characters >= _MIN_PROSE_CHARACTERS and is_full and not is_list
        yield Block(lines, is_prose, prose_characters)
        if is_prose:
            prose_characters += characters


# Sources of a year.
ISSUE_DATE = "issue-date"  # of a periodical: "Vol. 10, No. 268. Saturday, August 11, 1827"
# "Transcribed from the 1886 Cassell & Company edition", "produced from Amazing Tales, May 1905":
TRANSCRIBED = "transcribed-edition"
IMPRINT = "imprint"  # "London: Macmillan and Co., 1897", "Published September 1903"
ROMAN_IMPRINT = "roman-imprint"  # an imprint with a year in Roman numerals
# "Copyright, 1905, by", "Entered according to Act of Congress, in the year 1868":
COPYRIGHT = "copyright"
FIRST_PUBLISHED = "first-published"  # "First published in 1911", "First Edition, October 1886"
LATER_EDITION = "later-edition"  # "Second Edition, November 1909"
REPRINT = "reprint"  # the same text again: "Reprinted 1912", "New Impression, 1911", "Renewed 1932"
YEAR_LINE = "year-line"  # a line with a year only, and no publisher near it
PREFACE = "preface"  # a date in a block of its own, as below a preface: "London, May 1872"

_WORDS = "title_page.toml"
_MAX_RANGE_YEARS = 9  # "1849-50" is a book in parts, "1812-1870" the dates of a life
_MAX_STATEMENT_CHARACTERS = 200
_MAX_DATELINE_CHARACTERS = 80
# characters at the head of a file: header, licence and other text before the book
_HEAD_CHARACTERS = 40_000
# blocks before a year in which its publisher may be; after the year, it is one block
_BLOCKS_NEAR = 2

_MARKUP = re.compile(r"[_*=+~|{}]+")
_DATELINE = re.compile(r"(?:in |at )?(?:[A-Z][\w.'’]*[ ,]*){0,5}")
_COLUMNS = re.compile(r"[ \t\xa0]{2,}")
_PICTURE = ("[illustration", "[footnote")
_NAME = re.compile(r"(?:[A-Z][\w.'’-]*\s*){1,4}")
_BLOCKS_OF_SIGNATURE = 5

# Not a page in an index, a price, a part of a number, or "1830" in a Web address.
_ARABIC = (
    r"(?<![\w/$£#])(?<!(?<!-)-)(?<!\d[.,:])(?P<arabic>1[4-9]\d\d|20\d\d)"
    r"(?:(?:-|–|--)(?P<to>\d\d(?:\d\d)?))?(?![\w/])"
)
_ROMAN = r"\b(?P<roman>M[ .]{0,2}[MDCLXVI](?:[ .]{0,2}[MDCLXVI]){1,20})\b"
_YEAR = re.compile(rf"{_ARABIC}|{_ROMAN}")
_ERA = r"(?:(?:in )?the year of (?:our lord|grace)|a\. ?d\.|ad|anno(?: domini)?|a[o0]\.?|dated?|ca?\.?)"
_ALONE = re.compile(rf"\W*(?:(?i:{_ERA}),?\s*)?(?:{_ARABIC}|{_ROMAN})\W*")
# "1912 edition", "Edition of 1912"
_EDITION = re.compile(
    r"\W*(?:(?P<before>1[4-9]\d\d) edition|edition (?:of |de )?(?P<after>1[4-9]\d\d))\W*",
    re.IGNORECASE,
)
_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_HUNDREDS = "|".join(_UNITS[3:])
_YEAR_IN_WORDS = re.compile(
    rf"\b(?:one thousand,? (?P<hundreds>{_HUNDREDS})|(?P<century>{'|'.join(_TEENS[4:])}))[ -]hundred"
    rf"(?:,? (?:and )?(?:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<units>{'|'.join(_UNITS)}))?"
    rf"|(?P<teen>{'|'.join(_TEENS + _UNITS)})))?"
    r"(?!\w)(?! (?:and|years?|miles|men|thousand|million)\b)".replace(" ", r"\s"),
    re.IGNORECASE,
)
_MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH = re.compile(rf"\b(?:{_MONTH_NAME}|christmas|easter(?:tide)?|michaelmas)\b", re.IGNORECASE)
# Words of a transcriber's statement. Searching for each of them first is fast.
_TRANSCRIBERS_WORDS = (
    r"(?:ranscrib|roduc|repar|cann|yp|eriv|eprint|ublish|ak)(?:ed|en)\s+(?:from|in|by)\b",
    r"text\s+is\s+based\s+on\b",
    r"1[4-9]\d\d\s+text\b",
    r"otes?:\s+Th(?:is|ese)\s+text",
)
_BEFORE_VERB, _AFTER_VERB = 60, 300  # characters
# The statement of a reprint about its original, mostly in lines as long as running text.
_REPUBLISHED = re.compile(
    r"\b(?:republication|reprint|reproduction) of .{0,120}?"
    rf"\b(?:first|originally) published\b.{{0,120}}? in {_ARABIC}",
    re.IGNORECASE,
)
# A copyright line without the sign ©: "1903 by Nobody & Co."
_HOLDER = re.compile(rf"{_ARABIC} by \S.{{0,80}}")
_ISSUE = re.compile(
    rf"\b(?:nos?|numbers?|vol|volume|issue)\b.*\b{_MONTH_NAME}\b\.?,? (?:\d\d?,? )?(1[5-9]\d\d)\b"
    r"|\b(?:magazine|monthly|weekly|quarterly|review|journal),? (?:vol\.? )?\d{1,3},? \((1[5-9]\d\d)\)",
    re.IGNORECASE,
)
# A book that is published each year: "Nobody's Guide for 1913"
_ANNUAL = re.compile(
    rf"\b(?:guide|almanack?|annual|year-?book|register|directory)\b[^\n]{{0,60}}?{_ARABIC}\W*",
    re.IGNORECASE,
)

_ORDINAL = (
    r"(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|[a-z]{3,5}teenth"
    r"|[a-z]{3,5}tieth|[a-z]{3,5}ty-[a-z]{5,7}|\d+(?:st|nd|d|rd|th)|new|cheap(?:er)?|popular|revised|enlarged)"
)
_STATEMENT = re.compile(
    r"(?P<reprint>\bre-?(?:print(?:ed|ing)?|issued?|newed|newal)\b"
    # The statement of a reprint: "This new Nobody edition, first published in 1963, is an unabridged …".
    r"|\bthis (?:[a-z]{1,12} ){1,3}edition, first published\b"
    rf"|\b{_ORDINAL} (?:[a-z]{{1,12}} )?(?:impression|printing|thousand))"
    r"|(?P<copyright>\bcopyright(?:ed)?\b|©|\(c\)|\bentered,? according to (?:the )?act of"
    r"|\bc(?=1[5-9]\d\d\b))"
    r"|(?P<first_published>\b(?:first|originally) (?:published|issued|printed|edition)"
    r"|\bpublished (?:originally|first)\b)"
    rf"|(?P<later_edition>\b{_ORDINAL} (?:[a-z]{{1,12}} )?edition\b)"
    r"|(?P<imprint>\b(?:published|issued|printed)\b)",
    re.IGNORECASE,
)
"""A statement. The name of its group is its source, with underscores for hyphens."""


class FrontYear(NamedTuple):
    """A year in the front of a book."""

    year: int
    source: str  # COPYRIGHT, IMPRINT, …
    line: str  # the line, or lines, that say so


def find_years(text: str) -> list[FrontYear]:
    """Returns all years in the front of a book, in text order. Implausible years are included."""
    blocks = [_without_markup(block) for block in blocks_of_front(text)]
    found: list[FrontYear] = []
    has_year_before_prose = False
    # source of a statement whose year is in the next block: "Copyright", then "1912"
    open_source = ""
    for index, block in enumerate(blocks):
        whole = " ".join(block.lines)
        found += transcribed_years(whole)
        if block.is_prose:
            # Of the original edition, if the title page of a reprint states it.
            reprint = is_on_title_page(block) and _REPUBLISHED.search(whole)
            for year in years_in(reprint[0])[-1:] if reprint else []:
                found.append(FrontYear(year, FIRST_PUBLISHED, reprint[0] if reprint else ""))
            open_source = ""
            if not any(one.is_prose for one in blocks[index + 1 : index + 2]):
                found += _dateline_years(
                    _last_line(block), blocks[: index + 1], blocks[index + 1 :]
                )
            continue
        years, lines_before, open_source = _read_statements(block, open_source)
        setting = map(_pattern("setting").match, lines_before)
        lines_before = lines_before[: next((at for at, one in enumerate(setting) if one), None)]
        imprint: list[FrontYear] = []
        if is_on_title_page(block):
            near = blocks[max(index - _BLOCKS_NEAR, 0) : index + 2]
            imprint = list(_imprint_years(lines_before, _has_publisher(near)))
            has_year_before_prose |= bool(imprint) and not block.prose_before
            # Below running text, an imprint may be that of another book, as in a bibliography.
            is_other = has_year_before_prose and block.prose_before
            found += [one for one in imprint if not (is_other and IMPRINT in one.source)] + years
        if not imprint:
            found += _dateline_years(lines_before, blocks[:index], blocks[index + 1 :])
    return found


def years_in(text: str) -> list[int]:
    """Returns all years in a text. For a range of years, its last year is returned."""
    return [year for match in _YEAR.finditer(text) if (year := _year_of(match)) is not None]


def transcribed_edition(text: str) -> str:
    """Returns the words at the head or end of a file that name the transcribed edition; "" if no words do.

    Examples are "Transcribed from the 1886 Cassell & Company edition" and "This etext was produced from
    Amazing Tales, May 1905". These words are by the transcriber, so they must be read before the
    transcriber's notes are stripped from the book.
    """
    ends = text[:_HEAD_CHARACTERS] + "\n" + text[_HEAD_CHARACTERS:][-_HEAD_CHARACTERS:]
    for verb in _find_transcribers_words(ends):
        near = ends[max(verb.start() - _BEFORE_VERB, 0) : verb.end() + _AFTER_VERB]
        match = _pattern("transcribed").search(" ".join(_MARKUP.sub("", near).split()))
        if match and transcribed_years(match[0]):
            return match[0]
    return ""


def _find_transcribers_words(text: str) -> Iterator[re.Match[str]]:
    # Ignoring case is slower, and seldom needed.
    flags = re.IGNORECASE if "ED FROM" in text or text.isupper() else re.NOFLAG
    return itertools.chain(*(re.finditer(words, text, flags) for words in _TRANSCRIBERS_WORDS))


def transcribed_years(text: str) -> list[FrontYear]:
    """Returns the years in words such as "Transcribed from the 1886 Cassell & Company edition"."""
    years: list[FrontYear] = []
    has_words = any(_find_transcribers_words(text))
    for match in _pattern("transcribed").finditer(text) if has_words else ():
        words = match[match.lastindex or 0]
        line = words if len(match[0]) > _MAX_STATEMENT_CHARACTERS else match[0]
        said = years_in(words)[0 if match[1] else -1 :]
        years += [FrontYear(year, TRANSCRIBED, line) for year in said]
    return years


def issue_year(line: str) -> int | None:
    """Returns the year in a line such as "Vol. 99, August 2, 1890" of a periodical, or "Guide for 1913".

    Returns None for other lines.
    """
    match = _ISSUE.search(line)
    annual = _ANNUAL.search(line) if not match else None
    if annual and annual.end() == len(line):
        return _year_of_arabic(annual)
    return int(match[1] or match[2]) if match else None


def _without_markup(block: Block) -> Block:
    """Removes markup from the lines of a block, and writes years in words with digits."""
    lines = "\n".join(_MARKUP.sub("", line).strip() for line in block.lines)
    return block._replace(lines=tuple(_YEAR_IN_WORDS.sub(_digits_of, lines).split("\n")))


def _digits_of(match: re.Match[str]) -> str:
    words = {name: (word or "").lower() for name, word in match.groupdict().items()}
    hundreds, century = words["hundreds"], words["century"]
    year = 100 * (10 + _UNITS.index(hundreds) + 1 if hundreds else 10 + _TEENS.index(century))
    if words["tens"]:
        year += 20 + 10 * _TENS.index(words["tens"])
    for word in filter(None, (words["units"], words["teen"])):
        year += 10 + _TEENS.index(word) if word in _TEENS else 1 + _UNITS.index(word)
    return str(year)


def _read_statements(block: Block, open_source: str) -> tuple[list[FrontYear], list[str], str]:
    """Reads the statements about publication in a block, such as "Copyright, 1905".

    Returns (years, lines before the first statement, source of the last statement if its year may be in the
    next block, else "").
    """
    text = "\n".join(block.lines)
    matches = list(_STATEMENT.finditer(text))
    starts = [match.start() for match in matches]
    before = text[: starts[0]] if starts else text
    years: list[FrontYear] = []
    if open_source and _ALONE.match(before):
        years += _of_statement(text, 0, 0, len(before), open_source)
        before = ""
    source = ""
    for match, (_, end) in zip(matches, itertools.pairwise([*starts, len(text)]), strict=True):
        own_source = str(match.lastgroup).replace("_", "-")
        # "First edition, published in 1653" is one statement.
        source = source if source and own_source == IMPRINT else own_source
        said = _of_statement(text, match.start(), match.end(), end, source)
        years += said
        if said or end - match.end() > _MAX_DATELINE_CHARACTERS:
            source = ""
    return years, before.split("\n"), source


def _of_statement(text: str, first: int, start: int, end: int, source: str) -> list[FrontYear]:
    """Returns the years in text[start:end], behind the words of a statement that begins at `first`."""
    years: list[FrontYear] = []
    for match in _YEAR.finditer(text[start : min(end, start + _MAX_STATEMENT_CHARACTERS)]):
        if (year := _year_of(match)) is not None:
            lines = text[line_start(text, first) : line_end(text, start + match.end())]
            years.append(FrontYear(year, source, " ".join(lines.split())))
    return years


def _imprint_years(lines: Sequence[str], is_publisher_near: bool) -> Iterator[FrontYear]:
    """Yields the years in those lines of a title page that are outside statements such as "Copyright, 1905".

    `is_publisher_near` is True if a publisher or a place of printing is named near the lines.
    """
    for line in lines:
        if year := issue_year(line):
            yield FrontYear(year, ISSUE_DATE, line)
        if _MONTH.search(line) or _is_picture(line):
            continue  # the year is the date of a preface, a performance or a birth
        if match := _EDITION.fullmatch(line):
            yield FrontYear(int(match["before"] or match["after"]), LATER_EDITION, line)
        elif match := _ALONE.fullmatch(line):
            yield from _of_imprint(match, line, is_publisher_near)
        elif (match := _HOLDER.fullmatch(line)) and _is_imprint(line):
            yield FrontYear(int(match["arabic"]), COPYRIGHT, line)
        elif is_publisher_near:
            columns = [_ALONE.fullmatch(column) for column in _COLUMNS.split(line)]
            ending = [_last_year(line)] if _names_imprint(line) else []
            for match in [one for one in columns if one] or [one for one in ending if one]:
                yield from _of_imprint(match, line)


def _of_imprint(
    match: re.Match[str], line: str, is_publisher_near: bool = True
) -> Iterator[FrontYear]:
    year = _year_of(match)
    if year is not None:
        source = ROMAN_IMPRINT if match["roman"] else IMPRINT
        yield FrontYear(year, source if is_publisher_near else YEAR_LINE, line)


def _dateline_years(
    lines: Sequence[str], before: Sequence[Block], after: Sequence[Block]
) -> Iterator[FrontYear]:
    """Yields the year in lines that consist only of a date, such as the date below a preface.

    A year without a month or a known place, such as "California, 1915", counts only below a preface.

    Args:
      lines: lines of a block, or the last line of running text.
      before: blocks before the date, with the one that has it as its last line.
      after: blocks after the block of the date.
    """
    if sum(map(len, lines)) > _MAX_DATELINE_CHARACTERS or not lines or _is_picture(lines[0]):
        return
    for line in lines:
        match = _last_year(line)
        if match and (year := _year_of(match)) and not _pattern("no_dateline").search(line):
            is_place = _is_signature(before, after) and _DATELINE.fullmatch(line[: match.start()])
            is_date = is_place or _MONTH.search(line) or _names_imprint(line)
            if is_date and _is_of_preface(before, after, lines):
                yield FrontYear(year, PREFACE, line)


def _is_of_preface(before: Sequence[Block], after: Sequence[Block], lines: Sequence[str]) -> bool:
    """Returns False for the date of a letter, and for one without running text or a name above it."""
    if after and _pattern("salutation").match(after[0].lines[0]):
        return False
    for distance, block in enumerate(reversed(before)):
        if block.is_prose:
            is_signed = any(map(_is_name, [*lines, " / ".join(before[-1].lines)]))
            return is_signed or distance <= _BLOCKS_OF_SIGNATURE
        if _pattern("list").match(block.lines[0]):
            return False
    return True  # the title page


def _is_signature(before: Sequence[Block], after: Sequence[Block]) -> bool:
    """Returns True between running text, or the name below it, and a heading, as below a preface."""
    is_named = len(before) > 1 and _is_name(" / ".join(before[-1].lines))
    text = before[-2:-1] if is_named else before[-1:]
    return any(one.is_prose for one in text) and not any(one.is_prose for one in after[:1])


def _is_name(line: str) -> bool:
    return bool(_NAME.fullmatch(line)) and not _pattern("setting").match(line)


def _last_line(block: Block) -> Sequence[str]:
    """Returns the last line of running text if it may be the date below a preface."""
    above, last = ("", *block.lines)[-2:]
    ends = above.endswith((".", "!", "?", '"', "”")) or len(above) < _MIN_FULL_LINE
    return [last] if ends and len(last) < _MIN_FULL_LINE else []


def _is_picture(line: str) -> bool:
    return line.casefold().startswith(_PICTURE)


def _last_year(line: str) -> re.Match[str] | None:
    """Returns the match of the year at the end of a line; None if the line does not end with a year."""
    matches = list(_YEAR.finditer(line))
    return matches[-1] if matches and not re.search(r"\w", line[matches[-1].end() :]) else None


def _year_of(match: re.Match[str]) -> int | None:
    """Returns the year in a match; for a short range, its last year.

    Returns None for a long range, such as the dates of a life, and for letters that are not a Roman numeral.
    """
    return parse_roman(match["roman"]) if match["roman"] else _year_of_arabic(match)


def _year_of_arabic(match: re.Match[str]) -> int | None:
    first, to = match["arabic"], match["to"] or ""
    last = first[: len(first) - len(to)] + to
    return int(last) if 0 <= int(last) - int(first) <= _MAX_RANGE_YEARS else None


def _has_publisher(blocks: Sequence[Block]) -> bool:
    lines = [line for block in blocks if not block.is_prose for line in block.lines]
    return any(_is_imprint(line) for line in lines if not line.casefold().startswith("chapter"))


def _is_imprint(line: str) -> bool:
    """Returns True if a line names a place of printing, or has words that publishers use."""
    return _imprint_words().search(line) is not None


def _names_imprint(line: str) -> bool:
    return _is_imprint(line) and not _pattern("no_imprint").search(line)


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(read_toml(__package__, _WORDS)["patterns"][name]), re.IGNORECASE)


@functools.cache
def _imprint_words() -> re.Pattern[str]:
    words = read_toml(__package__, _WORDS)
    choices = "|".join(re.escape(word) for word in [*words["places"], *words["publishing"]])
    return re.compile(rf"(?<!\w)(?:{choices})s?(?!\w)", re.IGNORECASE)
