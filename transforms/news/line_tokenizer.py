"""Normalises and tokenises blocks of lines like the Perl scripts of the One Billion Word benchmark.

The result has the same bytes as that of the scripts. Most lines are processed by fast array operations. A
line for which these operations might give a different result is processed by the rules of the scripts
instead.

Tokenises many lines at once, by array operations on a whole text.

The rules, which are those of `wmt_tokenizer`, decide where a space is put between two characters. Most
decisions depend only on a character and its neighbours, so they are made for all special characters of a text
in a few array operations. Only the decision about a period at the end of a word depends on the whole word,
which is looked up in a table.

Some lines cannot be tokenised in this way, for example if commas or apostrophes are close together. A
character in one match of a rule cannot be part of the next match (see `wmt_tokenizer`), so the decision about
a comma or an apostrophe may depend on the one before it. Such lines are reported as doubtful, and their
result is meaningless: the caller replaces it by the result of the exact rules. Less than one in a hundred
lines of news is doubtful.
"""

import functools
import itertools
import operator
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files import line_blocks
from ..files.line_blocks import block_of, cut_block, lines_of
from . import punctuation, wmt_tokenizer
from .punctuation import CODE_POINTS, CURRENT_PERL, members_of

_PIECE_BYTES = 1 << 18  # bytes processed at once: their arrays stay in the processor's cache


class LineTokenizer:
    """Normalises and tokenises lines of one language.

    Blocks are whole lines, each with its line feed. The result has the same number of lines in the same
    order. The lines must be UTF-8 that Perl can read (see `perl_utf8`).

    Args:
        language: language code, as in the scripts: "en", "de", "fr", … For a language without rules of its
            own, the scripts' common rules and the non-breaking prefixes of English are used.
        lower_case: converts words to lower case. The scripts do not have this step.
        perl: the version of Perl to emulate; the published corpus was made with "5.14".

    Raises:
        ValueError: there are no tables of that version of Perl.
    """

    def __init__(self, language: str = "en", lower_case: bool = False, perl: str = CURRENT_PERL):
        self._language = language
        self._lower_case = lower_case
        self._perl = perl
        self._tokenizer = BlockTokenizer(language, perl)

    def __call__(self, block: bytes) -> bytes:
        """Returns the block, normalised and tokenised."""
        pieces = map(self.normalize, cut_block(block, _PIECE_BYTES))
        return b"".join(map(self.tokenize, pieces))

    def normalize(self, block: bytes) -> bytes:
        """Normalises the punctuation of a block, like normalize-punctuation.perl.

        Raises:
            ValueError: a line is malformed UTF-8.
        """
        text = punctuation.frame(block)
        line_feeds = punctuation.line_feeds_in(text)
        chosen = punctuation.lines_to_normalize(text, line_feeds, self._language)
        # Processed separately: a single character beyond ASCII needs all rules, and makes Python's string
        # wider.
        change = self._normalize_together
        lines = _apart(punctuation.take_lines(text, line_feeds, chosen), change, change)
        return punctuation.unframe(punctuation.put_lines(text, line_feeds, chosen, lines))

    def tokenize(self, block: bytes) -> bytes:
        """Tokenises a block like tokenizer.perl, and converts it to lower case if `lower_case` is set.

        Raises:
            ValueError: a line is malformed UTF-8.
        """
        text = punctuation.frame(block)
        words = self._tokenizer.tokenize_ascii(text)
        result = words.codes.tobytes()
        if words.doubtful:
            doubtful = punctuation.take_lines(text, punctuation.line_feeds_in(text), words.doubtful)
            lines = _apart(doubtful, self._tokenize_each, self._tokenize_together)
            result = punctuation.put_lines(
                result, punctuation.line_feeds_in(result), words.doubtful, lines
            )
        return punctuation.unframe(result.lower() if self._lower_case else result)

    def _normalize_together(self, lines: Sequence[bytes]) -> list[bytes]:
        how = self._language, self._perl
        try:
            text = block_of(lines).decode()
        except UnicodeDecodeError:
            return _on_each(lambda line: punctuation.normalize_line(line, *how), lines)
        return lines_of(punctuation.normalize_text(text, *how).encode())

    def _tokenize_together(self, lines: Sequence[bytes]) -> list[bytes]:
        try:
            text = punctuation.frame(block_of(lines)).decode()
        except UnicodeDecodeError:
            return self._tokenize_each(lines)
        words = self._tokenizer.tokenize_text(text)
        result = lines_of(
            punctuation.unframe(self._lower(words.codes.tobytes().decode("utf-32-le")).encode())
        )
        exact = self._tokenize_each([lines[index] for index in words.doubtful])
        for index, line in zip(words.doubtful, exact, strict=True):
            result[index] = line
        return result

    def _tokenize_each(self, lines: Sequence[bytes]) -> list[bytes]:
        how = self._language, self._perl
        return _on_each(lambda line: self._lower(wmt_tokenizer.tokenize_line(line, *how)), lines)

    def _lower(self, text: str) -> str:
        return text.lower() if self._lower_case else text


def _apart(
    lines: Sequence[bytes],
    change_ascii: Callable[[Sequence[bytes]], Sequence[bytes]],
    change_others: Callable[[Sequence[bytes]], Sequence[bytes]],
) -> list[bytes]:
    """Applies one function to ASCII lines and another function to all other lines.

    Returns all changed lines in the original order.
    """
    is_ascii = list(map(bytes.isascii, lines))
    plain = iter(change_ascii(list(itertools.compress(lines, is_ascii))))
    others = iter(change_others(list(itertools.compress(lines, map(operator.not_, is_ascii)))))
    return [next(plain if is_plain else others) for is_plain in is_ascii]


def _on_each(change: Callable[[str], str], lines: Sequence[bytes]) -> list[bytes]:
    return [
        line_blocks.encode(change(text), stand_ins)
        for text, stand_ins in map(line_blocks.decode, lines)
    ]


Flags = NDArray[np.uint8]
Marks = NDArray[np.bool_]


# A character has exactly one of _SPACE, _POINT and _SPECIAL, or any combination of the others.
_SPACE, _LETTER, _NUMBER, _LOWER_CASE, _DIGIT = 1, 2, 4, 8, 16
_POINT = 64  # period, comma and apostrophe, which are part of a word in some places
_SPECIAL = 128  # a special character, which is a word of its own
_BLANK, _APOSTROPHE, _COMMA, _PERIOD = b" ',."
_LESS, _GREATER, _S = b"<>s"
_NEVER, _ALWAYS, _BEFORE_NUMBER = range(3)
_KEEPS = {"": _NEVER, wmt_tokenizer.ALWAYS: _ALWAYS, wmt_tokenizer.BEFORE_NUMBER: _BEFORE_NUMBER}
_MAX_KNOWN_WORDS = 1 << 16
_MAX_KNOWN_LETTERS = 64
_COMMON_LETTERS = 32  # very few words have more letters
_NOWHERE: punctuation.Places = np.empty(0, np.intp)


class TokenizedText(NamedTuple):
    """A tokenised text, as code points or bytes, and the indexes of its doubtful lines.

    Like the original text, it has an additional line feed at its beginning and at its end. Doubtful lines
    must be tokenised by other means. In their place, `codes` has meaningless text.
    """

    codes: punctuation.Codes
    doubtful: list[int]


class BlockTokenizer:
    """Tokenises texts of one language.

    A text consists of lines, each with its line feed. In addition, there must be a line feed before the first
    line and one after the last line, so that each character has neighbours.

    Args:
        language: the language code, as for `tokenize_line`.
        perl: the version of Perl whose character classes are used.

    Raises:
        ValueError: there are no character classes of that version.
    """

    def __init__(self, language: str, perl: str):
        self._apostrophes = wmt_tokenizer.apostrophes_of(language)
        self._keeps = PeriodTable(language, perl)
        self._max_prefix = max(map(len, wmt_tokenizer.prefixes_of(language)))
        self._perl = perl
        self._ascii_tables = _ascii_tables(perl)

    def tokenize_ascii(self, block: bytes) -> TokenizedText:
        """Tokenises those lines of a block that are only ASCII. All other lines are reported as doubtful."""
        plain, flags = self._ascii_tables
        text = block.translate(plain)
        codes = np.frombuffer(text, np.uint8)
        others = _NOWHERE if text.isascii() else np.flatnonzero(codes >= 0x80)
        return self._tokenize(
            _Text(text, codes, np.frombuffer(block.translate(flags), np.uint8)), others
        )

    def tokenize_text(self, text: str) -> TokenizedText:
        """Tokenises lines, which may have characters beyond ASCII."""
        text = text.replace("`", "'")
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        flags = _flag_table(self._perl)[codes]
        is_blank = (flags == _SPACE) & (codes != punctuation.LINE_FEED)
        return self._tokenize(
            _Text(text, np.where(is_blank, np.uint32(_BLANK), codes), flags), _NOWHERE
        )

    def _tokenize(self, text: "_Text", others: punctuation.Places) -> TokenizedText:
        places = np.flatnonzero(text.flags >= _POINT)
        found = text.codes[places]
        commas = places[found == _COMMA]
        apostrophes = places[found == _APOSTROPHE]
        periods = places[found == _PERIOD]
        spaces = text.flags == _SPACE
        blanks = np.zeros(len(spaces) + 1, np.bool_)  # True if a space goes before this position

        _set_apart(places[text.flags[places] == _SPECIAL], blanks)
        # A comma between two numbers gets no spaces.
        around = text.flags[commas - 1] & text.flags[commas + 1]
        _set_apart(commas[around & _NUMBER == 0], blanks)
        _split_apostrophes(text, apostrophes, self._apostrophes, blanks)
        final = _split_runs(text, periods, blanks)
        blanks[:-1] &= ~spaces
        blanks[1:] &= ~spaces
        self._split_final_periods(text, periods, final, spaces, blanks)

        line_feeds = punctuation.line_feeds_of(text.codes)
        doubtful = (
            others,
            _close(commas),
            _close(apostrophes),
            _unusual_lines(text, line_feeds),
            _stand_ins(text),
        )
        codes = _put_blanks(*_drop_blanks(text.codes, spaces, blanks))
        return TokenizedText(codes, punctuation.lines_at(np.concatenate(doubtful), line_feeds))

    def _split_final_periods(
        self, text: "_Text", periods: punctuation.Places, final: Marks, spaces: Marks, blanks: Marks
    ) -> None:
        previous = np.concatenate(([-1], periods[:-1]))[: len(periods)]
        ends, previous = periods[final], previous[final]
        begins = _word_starts(ends, spaces, blanks)
        is_in_table = (previous >= begins) | (ends - begins <= self._max_prefix)
        blanks[ends[~is_in_table]] = True
        ends, begins = ends[is_in_table], begins[is_in_table]
        words = [
            text.text[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]
        keeps = np.fromiter(map(self._keeps.__getitem__, words), np.uint8, len(words))
        is_number = (text.codes[ends + 1] == _BLANK) & (text.flags[ends + 2] & _DIGIT != 0)
        blanks[ends] |= (keeps == _NEVER) | ((keeps == _BEFORE_NUMBER) & ~is_number)


class _Text(NamedTuple):
    """A text to tokenise, and two arrays with a value for each of its characters: its code and its flags.

    In `codes`, white space except line feeds is replaced by spaces, and grave accents by apostrophes. The
    text begins and ends with an additional line feed.
    """

    text: bytes | str  # the same text with its original white space
    codes: punctuation.Codes
    flags: Flags


class PeriodTable(dict[bytes | str, int]):
    """A cache: word without its final period → _NEVER, _ALWAYS or _BEFORE_NUMBER.

    The value says when the period is part of the word. The cache is filled as words occur; its size is
    limited.
    """

    def __init__(self, language: str, perl: str):
        super().__init__()
        self._language = language
        self._perl = perl

    def __missing__(self, word: bytes | str) -> int:
        # Bytes beyond ASCII only occur in doubtful lines.
        text = word if isinstance(word, str) else word.decode("latin-1")
        how = self._language, self._perl
        keeps = _KEEPS[wmt_tokenizer.keeps_period(text, *how)] if text else _ALWAYS
        if len(word) <= _MAX_KNOWN_LETTERS:
            if len(self) >= _MAX_KNOWN_WORDS:
                self.clear()
            self[word] = keeps
        return keeps


def _set_apart(places: punctuation.Places, blanks: Marks) -> None:
    blanks[places] = True
    blanks[places + 1] = True


def _split_apostrophes(
    text: _Text, apostrophes: punctuation.Places, split: str, blanks: Marks
) -> None:
    """Marks where to put spaces around apostrophes.

    `split` says to which part of a word an apostrophe inside the word stays joined: to the right part
    (APOSTROPHES_RIGHT), to the left part (APOSTROPHES_LEFT) or to neither (APOSTROPHES_APART). `blanks`
    becomes True at each position before which a space is to be put.
    """
    if split == wmt_tokenizer.APOSTROPHES_APART:
        _set_apart(apostrophes, blanks)
        return
    before = text.flags[apostrophes - 1] & (_LETTER | _NUMBER)
    is_before_letter = text.flags[apostrophes + 1] & _LETTER != 0
    is_in_word = is_before_letter & (before & _LETTER != 0)
    if split == wmt_tokenizer.APOSTROPHES_RIGHT:
        is_after_number = is_before_letter & (before == _NUMBER)
        is_year = is_after_number & (text.codes[apostrophes + 1] == _S)  # "1990's"
        blanks[apostrophes[is_in_word | is_year]] = True
        is_in_word |= is_after_number
    else:
        blanks[apostrophes[is_in_word] + 1] = True
    _set_apart(apostrophes[~is_in_word], blanks)


def _split_runs(text: _Text, periods: punctuation.Places, blanks: Marks) -> Marks:
    """Marks where to put spaces around runs of two or more periods.

    `blanks` becomes True at each position before which a space is to be put. Returns a mask of `periods`:
    True for single periods that end a word and may have to be separated from it.
    """
    is_first = text.codes[periods - 1] != _PERIOD
    is_last = text.codes[periods + 1] != _PERIOD
    blanks[periods[is_first & ~is_last]] = True
    blanks[periods[is_last & ~is_first] + 1] = True
    after = text.flags[periods + 1]
    goes_on = (text.codes[periods + 1] == _BLANK) & (text.flags[periods + 2] & _LOWER_CASE != 0)
    final: Marks = is_first & is_last & (after & (_SPACE | _POINT | _SPECIAL) != 0) & ~goes_on
    return final


def _word_starts(ends: punctuation.Places, spaces: Marks, blanks: Marks) -> punctuation.Places:
    """Returns for each position in `ends` the start of the word that ends there.

    If no word ends at a position, returns the position itself. A word starts after white space (`spaces` is
    True), or where a space will be put before it (`blanks` is True).
    """
    is_start = blanks[:-1].copy()
    is_start[1:] |= spaces[:-1]
    begins = ends.copy()
    rest = np.arange(len(ends))
    for _ in range(_COMMON_LETTERS):
        rest = rest[~is_start[begins[rest]]]
        begins[rest] -= 1
    if len(rest):
        starts = np.flatnonzero(is_start)
        begins[rest] = starts[np.searchsorted(starts, ends[rest], "right") - 1]
    return begins


def _close(places: punctuation.Places) -> punctuation.Places:
    """Returns each position in the ascending `places` that is at most two characters after the previous one.

    The characters at the two positions are neighbours, or have a common neighbour.
    """
    return places[1:][np.diff(places) <= 2]


def _unusual_lines(text: _Text, line_feeds: punctuation.Places) -> punctuation.Places:
    """Returns the starts of lines that the exact rules treat in a special way.

    These are lines of the form <…>, and lines that begin with two white spaces.
    """
    starts, ends = line_feeds[:-2] + 1, line_feeds[1:-1]
    is_tag = (text.codes[starts] == _LESS) & (text.codes[ends - 1] == _GREATER)
    is_blank = (text.codes[starts] == _BLANK) & (text.flags[starts + 1] == _SPACE)
    lines: punctuation.Places = starts[is_tag | is_blank]
    return lines


def _stand_ins(text: _Text) -> punctuation.Places:
    """Returns the positions of the word with which tokenizer.perl temporarily replaces periods (STAND_IN)."""
    found = text.text if isinstance(text.text, str) else text.text.decode("latin-1")
    # this is nearly always true, and faster than searching for the pattern
    if wmt_tokenizer.STAND_IN not in found:
        return _NOWHERE
    return np.array(
        [match.start() for match in re.finditer(wmt_tokenizer.STAND_IN, found)], np.intp
    )


def _drop_blanks(
    codes: punctuation.Codes, spaces: Marks, blanks: Marks
) -> tuple[punctuation.Codes, Marks]:
    """Removes spaces at both ends of lines, and repeated spaces between words.

    Returns the shortened `codes` and `blanks`.

    Args:
      codes: the bytes or code points of the text.
      spaces: True at white space, including line feeds.
      blanks: True at each position before which a space is to be put.
    """
    pairs = np.flatnonzero(spaces[:-1] & spaces[1:])  # positions of the first of two spaces
    drops = np.concatenate((pairs, pairs[codes[pairs] == punctuation.LINE_FEED] + 1))
    drops = drops[codes[drops] == _BLANK]
    if not len(drops):
        return codes, blanks
    kept = np.ones(len(codes), np.bool_)
    kept[drops] = False
    return codes[kept], blanks[:-1][kept]


def _put_blanks(codes: punctuation.Codes, blanks: Marks) -> punctuation.Codes:
    places = np.flatnonzero(blanks[: len(codes)])
    size = len(codes) + len(places)
    is_old = np.ones(size, np.bool_)
    is_old[places + np.arange(len(places))] = False
    result = np.full(size, _BLANK, codes.dtype)
    result[is_old] = codes
    return result


def _ascii_tables(perl: str) -> tuple[bytes, bytes]:
    """Returns two tables with a value for each byte: the byte that replaces it, and its flags.

    The flags are the classes of the character. White space is replaced by a space, and a grave accent by an
    apostrophe. Bytes beyond ASCII have no flags.
    """
    flags = bytearray(0x100)
    flags[:0x80] = _flag_table(perl)[:0x80].tobytes()
    plain = bytearray(range(0x100))
    for code in range(0x80):
        if flags[code] == _SPACE and code != punctuation.LINE_FEED:
            plain[code] = _BLANK
    plain[ord("`")] = _APOSTROPHE
    return bytes(plain), bytes(flags)


@functools.cache
def _flag_table(perl: str) -> Flags:
    letter, digit = members_of("alphabetic", perl), members_of("decimal_digit", perl)
    in_word = letter | digit
    flags = np.full(CODE_POINTS, _SPECIAL, np.uint8)
    flags[in_word] = 0
    flags[letter] |= _LETTER
    # only digits in words: fractions and the like are special characters
    flags[in_word & members_of("number", perl)] |= _NUMBER
    flags[in_word & members_of("lowercase", perl)] |= _LOWER_CASE
    flags[ord("0") : ord("9") + 1] |= _DIGIT
    flags[members_of("white_space", perl)] = _SPACE
    flags[list(b".,'`")] = _POINT
    flags[ord("-")] = 0
    return flags
