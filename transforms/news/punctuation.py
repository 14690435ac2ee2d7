"""Normalises punctuation as normalize-punctuation.perl of the One Billion Word benchmark does, with the
character classes and the NFC of a fixed version of Perl.

The rules are in the order of the script, which applies its substitutions to a line in sequence. No match
extends over a line end, so many lines are processed at once. The rules change only lines that contain certain
characters, about one line in seven of news, and all other lines are skipped. Texts begin and end with an
additional line feed, so that each character has neighbours.

The result depends on the version of Perl, and not on the installed Python or Perl: characters that are
unknown to a version are not in its classes, and are not changed by its NFC. The classes are in one TOML file
per version: Perl 5.36 (Unicode 14.0), and Perl 5.14 (Unicode 6.0), with which the published One Billion Word
corpus was made. Code points above U+10FFFF, which Perl allows, are in no class.

Python's NFC uses Unicode 14.0 or later. It differs from that of an older version only for characters that the
older version does not have: the NFC of existing characters never changes, and the older version leaves
unknown characters unchanged. So it is enough to exclude the newer characters from the composition.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files.markup import read_toml

PERL_VERSIONS = ("5.36", "5.14")
CURRENT_PERL = "5.36"
CODE_POINTS = 0x110000

Ranges = tuple[tuple[int, int], ...]


@functools.cache
def ranges_of(name: str, perl: str) -> Ranges:
    """Returns the (first, last) code points of each range of the character class `name`, ascending.

    The names of classes are those in the TOML files, such as "alphabetic". `perl` is a version of Perl.

    Raises:
        ValueError: there is no table of that version of Perl; the message lists the available versions.
    """
    if perl not in PERL_VERSIONS:
        raise ValueError(
            f"there are no rules for Perl {perl!r}; available are {', '.join(PERL_VERSIONS)}"
        )
    tables = read_toml(__package__, f"perl_{perl.replace('.', '_')}.toml")
    ranges = (item.partition("-") for item in tables[name].split())
    return tuple((int(first, 16), int(last or first, 16)) for first, _, last in ranges)


def class_body(*names: str, perl: str, below: int = CODE_POINTS) -> str:
    """Returns the ranges of the character classes `names`, as written in brackets in a regular expression.

    Code points from `below` on are left out, which makes the expression faster for texts without such
    characters.
    """
    return "".join(
        f"\\U{first:08x}-\\U{min(last, below - 1):08x}"
        for name in names
        for first, last in ranges_of(name, perl)
        if first < below
    )


def members_of(name: str, perl: str) -> NDArray[np.bool_]:
    """Returns one value for each code point: True if it is in the character class `name`."""
    members = np.zeros(CODE_POINTS, np.bool_)
    for first, last in ranges_of(name, perl):
        members[first : last + 1] = True
    return members


# Python sorts the marks after a letter in quadratic time: half a minute for 100,000 marks. So many marks are
# sorted beforehand. Beyond Latin-1, \W matches marks and symbols.
_MANY_MARKS = re.compile(r"[^\w\x00-\xff]{100,}")


def compose(text: str, perl: str) -> str:
    """Returns a text in NFC, according to the Unicode version of the Perl version `perl`."""
    if unicodedata.is_normalized("NFC", text):
        # composed in older versions, too, because parts of a composed text are composed
        return text
    return "".join(
        part if is_unknown else unicodedata.normalize("NFC", _MANY_MARKS.sub(_sort_marks, part))
        for part, is_unknown in zip(
            _unknown(perl).split(text), itertools.cycle((False, True)), strict=False
        )
    )


def _sort_marks(match: re.Match[str]) -> str:
    parts = "".join(unicodedata.normalize("NFD", character) for character in match[0])
    runs = itertools.groupby(parts, lambda character: unicodedata.combining(character) > 0)
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if is_marks else run)
        for is_marks, run in runs
    )


@functools.cache
def _unknown(perl: str) -> re.Pattern[str]:
    return re.compile(f"([^{class_body('assigned', perl=perl)}]+)")


# Literals of the first part, all single characters of Unicode.
_UNICODE_PUNCTUATION = (
    *((sign, "'") for sign in "’‘"),
    *((sign, "--") for sign in "—–"),
    ("…", "... "),
    (" ★ ", " "),
    *((sign, '"') for sign in "„″“”"),
)

# UTF-8 punctuation that was read as Windows-1252 and written as UTF-8 again. The rules of the script for “
# and ” after "â€", and for a second "Â´", are left out: earlier rules have already replaced these.
_MOJIBAKE_QUOTES = (("â€ž", '"'), ("â€œ", '"'), ("â€\x9d", '"'))
_LATIN = "[A-Za-zſ]"  # [a-z] ignoring case; the kelvin sign has already become "K"
_MOJIBAKE_APOSTROPHES = (
    re.compile(rf"({_LATIN})[âÂ]€˜({_LATIN})"),
    re.compile(rf"({_LATIN})[âÂ]€™({_LATIN})"),
)
_MOJIBAKE_SINGLE_QUOTES = (("â€˜", '"'), ("â€š", '"'), ("â€™", '"'))
_MOJIBAKE_REST = (
    ("â€¦", "..."),
    ("Â Â«Â ", ' "'),
    ("Â«Â ", '"'),
    ("Â«", '"'),
    ("Â Â»Â ", '" '),
    ("Â Â»", '"'),
    ("Â»", '"'),
    ("Â %", "%"),
    ("nÂºÂ ", "nÂº "),
    ("Â :", ":"),
    ("Â ÂºC", " ÂºC"),
    ("Â cm", " cm"),
    *((f"Â {sign}", sign) for sign in "?!;"),
    (",Â ", ", "),
)

_COMMA_LANGUAGES = frozenset({"de", "es", "cz", "cs", "fr"})  # "1Â 000" becomes "1,000" in these
_QUOTE_AND_POINTS = re.compile(r'"([,.]+)')
# Each run of periods is one match, whatever follows: otherwise a run of 100,000 periods would be tried from
# each period, which takes minutes.
_POINTS_AND_QUOTE = re.compile(r'(\.++)(?:"([^\S\n]*[^<]))?')


def normalize_line(line: str, language: str = "en", perl: str = CURRENT_PERL) -> str:
    """Normalises the punctuation of a line as normalize-punctuation.perl does.

    Args:
      line: a line without the line feed at its end.
      language: language code.
      perl: the version of Perl to imitate, such as "5.36".
    """
    return normalize_text(f"{line}\n", language, perl)[:-1]


def normalize_text(text: str, language: str = "en", perl: str = CURRENT_PERL) -> str:
    """Normalises the punctuation of lines as normalize-punctuation.perl does.

    The number of lines is unchanged.

    Args:
      text: lines, each with a line feed at its end.
      language: language code.
      perl: the version of Perl to imitate, such as "5.36".
    """
    text = _normalize_spaces(text, perl)
    if not text.isascii():
        text = compose(_replace_all(text, _UNICODE_PUNCTUATION), perl)
    is_mojibake = "Â" in text or "â€" in text
    if is_mojibake:
        text = _replace_all(text, _MOJIBAKE_QUOTES).replace("Â´", "'")
        for apostrophe in _MOJIBAKE_APOSTROPHES:
            text = apostrophe.sub(r"\1'\2", text)
        text = _replace_all(text, _MOJIBAKE_SINGLE_QUOTES)
    text = text.replace("''", '"')
    if is_mojibake:
        text = _replace_all(text, _MOJIBAKE_REST)
    text = _swap_quotes(_collapse(text), language)
    if is_mojibake:
        separator = "," if language in _COMMA_LANGUAGES else "."
        text = _number_rules(perl).digit_groups.sub(rf"\1{separator}\2", text)
    return text


def _normalize_spaces(text: str, perl: str) -> str:
    text = text.replace("\r", "")
    text = text.replace("(", " (").replace(")", ") ")
    text = _collapse(text)
    if ") " in text:
        text = re.sub(r"\) ([.!:?;,])", r")\1", text)
    text = text.replace("( ", "(").replace(" )", ")")
    if " %" in text:
        text = _number_rules(perl).percent.sub(r"\1%", text)
    return text.replace(" :", ":").replace(" ;", ";")


def _swap_quotes(text: str, language: str) -> str:
    if language == "en":
        return _QUOTE_AND_POINTS.sub(r'\1"', text)
    if language in ("cs", "cz"):
        return text
    text = text.replace(',"', '",')
    return _POINTS_AND_QUOTE.sub(_swap_points_and_quote, text) if '."' in text else text


def _swap_points_and_quote(match: re.Match[str]) -> str:
    points, after = match.groups()
    return points if after is None else f'"{points}{after}'


def _collapse(text: str) -> str:
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def _replace_all(text: str, replacements: tuple[tuple[str, str], ...]) -> str:
    for old, new in replacements:
        text = text.replace(old, new)
    return text


class _NumberRules(NamedTuple):
    percent: re.Pattern[str]  # "5 %"
    digit_groups: re.Pattern[str]  # "5Â 000"


@functools.cache
def _number_rules(perl: str) -> _NumberRules:
    digit = f"([{class_body('decimal_digit', perl=perl)}])"
    return _NumberRules(re.compile(f"{digit} %"), re.compile(f"{digit}Â {digit}"))


Codes = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.intp]

LINE_FEED = 10


def frame(block: bytes) -> bytes:
    """Returns the block with a line feed before and after it."""
    return b"\n%b\n" % block


def unframe(text: bytes) -> bytes:
    """Returns a framed text without the two line feeds that `frame` has added."""
    return text[1:-1]


def line_feeds_of(codes: Codes) -> Places:
    """Returns the positions of all line feeds in a framed text, including the first and the last.

    Args:
      codes: the bytes or code points of the text.
    """
    return np.flatnonzero(codes == LINE_FEED)


def line_feeds_in(text: bytes) -> Places:
    """Returns the positions of all line feeds in a framed text, including the first and the last."""
    return line_feeds_of(np.frombuffer(text, np.uint8))


def lines_at(places: Places, line_feeds: Places) -> list[int]:
    """Returns the indexes of the lines that contain given positions. Each line is returned once, in order.

    A line feed belongs to the line that it ends.

    Args:
      places: positions in a framed text.
      line_feeds: the positions of all line feeds of the text.
    """
    lines: list[int] = np.unique(np.searchsorted(line_feeds, places) - 1).tolist()
    return lines


def take_lines(text: bytes, line_feeds: Places, lines: Sequence[int]) -> list[bytes]:
    """Returns the lines of a framed text at the indexes `lines`, without their line feeds."""
    return [text[start:end] for start, end in _bounds(line_feeds, lines)]


def put_lines(
    text: bytes, line_feeds: Places, lines: Sequence[int], instead: Sequence[bytes]
) -> bytes:
    """Returns a framed text in which some lines are replaced.

    Args:
      text: the framed text.
      line_feeds: the positions of its line feeds.
      lines: indexes of the lines to replace, ascending.
      instead: the new lines, without line feeds.
    """
    parts = []
    last = 0
    for (start, end), line in zip(_bounds(line_feeds, lines), instead, strict=True):
        parts += [text[last:start], line]
        last = end
    parts.append(text[last:])
    return b"".join(parts)


def _bounds(line_feeds: Places, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    starts = line_feeds[:-1][lines] + 1
    ends = line_feeds[1:][lines]
    return zip(starts.tolist(), ends.tolist(), strict=True)


_SINGLE_MARKS = b"\r()"
_PAIRED_MARKS = (b"  ", b" :", b" ;", b" %", b"''")
_ENGLISH_PAIRS = (b'",', b'".')
_OTHER_PAIRS = (b',"', b'."')


def lines_to_normalize(text: bytes, line_feeds: Places, language: str) -> list[int]:
    """Returns the ascending indexes of the lines that the rules in punctuation.py may change.

    All lines with characters beyond ASCII are included.

    Args:
      text: lines that end with a line feed, with an additional line feed before the first and after the
        last line.
      line_feeds: positions of all line feeds in `text`.
      language: the language code of the text.
    """
    codes: Codes = np.frombuffer(text, np.uint8)
    marks = np.zeros(len(codes), np.bool_)
    for mark in _SINGLE_MARKS:
        if mark in text:
            marks |= codes == mark
    if not text.isascii():
        marks |= codes >= 0x80
    pairs = _ENGLISH_PAIRS if language == "en" else _OTHER_PAIRS
    for first, second in (*_PAIRED_MARKS, *(() if language in ("cs", "cz") else pairs)):
        marks[1:] |= (codes[:-1] == first) & (codes[1:] == second)
    return lines_at(np.flatnonzero(marks), line_feeds)
