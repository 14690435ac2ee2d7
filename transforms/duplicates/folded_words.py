"""Splits texts into normalised words, without regard to case and punctuation, and hashes the words.

A text is normalised to NFC; all positions are positions in NFC. Each character is folded by NFKC and case
(`str.casefold`). A word is a run of letters, marks and digits. All other characters, such as quotation marks
and hyphens, separate words. So "Don’t" is the two words "don" and "t". In scripts without spaces (Han, kana,
Thai, Lao, Khmer, Myanmar) each letter with its marks is a word. numpy processes thousands of words at once.

These are removed, or folded further, because copies of a text often differ in them: format characters (soft
hyphens, zero-width joiners), the vowel signs and tatweel of Arabic, the points of Hebrew, the dots that
distinguish the four letters I of Turkish, and what marks an exponent, as in "x^2", "x^{2}" and
"x<sup>2</sup>". A character reference of HTML, such as
"&eacute;", or an escape of JSON, such as "\\u00e9", is read as its character.
"""

import bisect
import functools
import html
import itertools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy
import numpy.typing

from .minhash import Int64s, Uint64s

Uint32s = numpy.typing.NDArray[numpy.uint32]

_CHARACTER = numpy.uint32((1 << 21) - 1)
_LETTER_WORD = numpy.uint32(1 << 28)  # flag of a letter of a script without spaces
_MARK = numpy.uint32(1 << 29)
# flag of a character that folds to 0, 2 or more characters; the other bits are an index of `_Folding.texts`
_SPECIAL = numpy.uint32(1 << 30)
_UNSTABLE = numpy.uint32(1 << 31)  # alone or after another character, NFC may change it
_LATER_JAMO = (0x1161, 0x11FF)  # vowels and final consonants, which join with the character before
# marks that are often left out, tatweel, the dot of a small "İ", the variants of glyphs, and "^" as in "x^2"
_REMOVED = re.compile(
    "[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670\u06d6-\u06ed\u0307\ufe00-\ufe0f^]"
)
_DOTLESS = "\u0131"
_REFERENCE = re.compile("&(?:amp;)?(?:[A-Za-z]{2,8}[0-9]{0,2}|#[0-9]{1,6}|#[Xx][0-9A-Fa-f]{1,5});")
_ESCAPES: Sequence[tuple[str, re.Pattern[str], Callable[[str], str]]] = (
    ("&", _REFERENCE, lambda found: html.unescape(html.unescape(found))),
    ("\\u", re.compile(r"\\u[0-9a-fA-F]{4}"), lambda found: chr(int(found[2:], 16))),  # JSON
)
"""First characters, pattern and reader of each way to write a character as several."""
_EXPONENTS = (
    ("^{", re.compile(r"\^\{([^{}\s]{1,16})\}")),
    ("<sup>", re.compile(r"<sup>([^<>\s]{1,16})</sup>")),
)

_SOFT_HYPHEN = 0xAD
# the other planes have no Unicode characters
_USED_PLANES = range(0x40000), range(0xE0000, 0xF0000)
# (first, last, number of letters that say as much as a word of a script with spaces)
_LETTER_WORDS = (
    (0x0E01, 0x0EFF, 4),  # Thai, Lao
    (0x1000, 0x109F, 4),  # Myanmar
    (0x1780, 0x17FF, 4),  # Khmer
    (0x19E0, 0x19FF, 4),
    (0x2E80, 0x2FDF, 2),  # radicals
    (0x3005, 0x3007, 2),
    (0x3021, 0x3029, 2),
    (0x3041, 0x30FF, 4),  # kana
    (0x31F0, 0x31FF, 4),
    (0x3400, 0x9FFF, 2),  # Han
    (0xA9E0, 0xA9FF, 4),
    (0xAA60, 0xAA7F, 4),
    (0xF900, 0xFAFF, 2),
    (0x1B000, 0x1B16F, 4),
    (0x20000, 0x3FFFF, 2),
)
QUARTERS = 4
"""Unit of `weigh_words`: the weight of a word of a script with spaces."""
_LETTERS = 2  # words with fewer letters have no weight

# Odd, so that it has an inverse; the weights of characters are its powers.
_BASE = 0x915F77F5
_BITS = 32
SPAN = 1 << 16  # characters that are weighted at once; the arrays fit in the processor's cache


class FoldedText(NamedTuple):
    """The folded words of a text, with their positions in the text."""

    text: str  # the text in NFC
    characters: Uint32s  # folded characters; 0 between words
    starts: Int64s  # start of each word in `characters`
    ends: Int64s
    places: Int64s | None  # position in the text of each of `characters`; None if they are equal

    def place_of(self, at: int) -> int:
        """Returns the position in the text of the folded character with the index `at`, or the end."""
        if self.places is None:
            return at
        return int(self.places[at]) if at < len(self.places) else len(self.text)

    def word_starts(self) -> Int64s:
        """Returns the position in the text of the first character of each word."""
        return self.starts if self.places is None else self.places[self.starts]

    def end_of(self, word: int) -> int:
        """Returns the end in the text of the word with the index `word`, and of what is removed after it."""
        end = int(self.ends[word])
        return max(self.place_of(end), self.place_of(end - 1) + 1)  # "½" is two words

    def spans(self) -> list[tuple[int, int]]:
        """Returns the (start, end) of each word in the text."""
        return [(start, self.end_of(at)) for at, start in enumerate(self.word_starts().tolist())]

    def words(self) -> list[str]:
        """Returns the folded words as strings."""
        return [
            self.characters[start:end].tobytes().decode("utf-32-le")
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]


class _Folding(NamedTuple):
    """A table of the folded form of each code point, which is one character, several characters or none."""

    folded: Uint32s  # 0 for characters between words
    texts: Uint32s  # a row for each special character, padded with zeros
    sizes: Int64s  # sizes of the rows in `texts`, without padding


def normalize(text: str) -> str:
    """Returns the text in NFC."""
    return unicodedata.normalize("NFC", text)


def places_in(text: str, places: Sequence[int], piece: int = 1 << 8) -> list[int]:
    """Returns the positions in a text of some positions in its NFC.

    The characters of the text before such a position, in NFC, are those of the NFC before it. The text is
    normalised in pieces of about `piece` characters.
    """
    if normalize(text) == text:
        return list(places)
    # NFC changes no stable character, nor joins it with what is before it.
    stable = numpy.flatnonzero(_look_up(text) < _UNSTABLE)
    pieces = stable[numpy.searchsorted(stable, range(0, int(stable.max(initial=0)), piece))]
    edges = sorted({0, *pieces.tolist(), len(text)})
    sizes = [_size_in_nfc(text, *piece_edges) for piece_edges in itertools.pairwise(edges)]
    sums = list(itertools.accumulate(sizes, initial=0))
    found = []
    for place in places:
        row = bisect.bisect_right(sums, place) - 1
        start, left = edges[row], place - sums[row]
        ends = range(start, edges[min(row + 1, len(sizes))] + 1)
        size_to = functools.partial(_size_in_nfc, text, start)
        after = bisect.bisect_right(ends, left, key=size_to)
        found.append(start + after - 1)
    return found


def _size_in_nfc(text: str, start: int, end: int) -> int:
    return len(normalize(text[start:end]))


def fold_text(text: str) -> FoldedText:
    """Splits a text into folded words. Positions in the result are positions in the text in NFC."""
    characters = _look_up(text)
    highest = int(characters.max(initial=0))
    if highest >= _UNSTABLE:  # only few texts need the slow function `normalize`
        normal = normalize(text)
        if normal != text:
            text = normal
            characters = _look_up(text)
        characters &= ~_UNSTABLE
        highest = int(characters.max(initial=0))
    places = None
    starts = ends = None
    if highest >= _SPECIAL:
        characters, places = _expand(characters)
        highest = int(characters.max(initial=0))
    if highest > _CHARACTER:
        starts, ends = _find_letter_words(characters)
        characters &= _CHARACTER
    if starts is None or ends is None:
        is_word = numpy.zeros(len(characters) + 2, numpy.bool_)
        numpy.not_equal(characters, 0, out=is_word[1:-1])
        edges = numpy.flatnonzero(is_word[1:] != is_word[:-1])
        starts, ends = edges[::2], edges[1::2]
    return FoldedText(text, characters, starts, ends, places)


def fold_words(text: str) -> list[str]:
    """Returns the folded words of any text."""
    return fold_text(text).words()


def hash_folded(text: FoldedText, span: int = SPAN) -> Uint64s:
    """Returns the hash of each word, a number below 2^32.

    If a word has more than `span` characters, only its beginning is hashed.
    """
    hashes = numpy.empty(len(text.starts), numpy.uint32)
    powers, inverses = _powers(span)
    first = 0
    while first < len(hashes):
        begin = text.starts[first]
        last = max(int(numpy.searchsorted(text.ends, begin + span, "right")), first + 1)
        # Characters between words are 0, so the sum of a word lasts to the start of the next.
        edges = numpy.append(text.starts[first:last], text.ends[last - 1])
        edges -= begin
        characters = text.characters[begin : begin + min(edges[-1], span)]
        sums = numpy.empty(len(characters) + 1, numpy.uint32)
        sums[0] = 0
        numpy.multiply(characters, powers[: len(characters)], out=sums[1:])
        numpy.cumsum(sums, dtype=numpy.uint32, out=sums)  # modulo 2^32, so differences are exact
        sums_at = sums.take(edges, mode="clip")
        of_words = hashes[first:last]
        numpy.subtract(sums_at[1:], sums_at[:-1], out=of_words)
        of_words *= inverses.take(edges[:-1], mode="clip")
        first = last
    return hashes.astype(numpy.uint64)


def weigh_words(characters: Uint32s, word_ends: Int64s) -> tuple[Int64s, Int64s]:
    """Returns the sizes of words, and their weights: how much it says that two texts share them.

    Both are in quarters of a word. The size of a word is 4. In scripts without spaces, where each letter is a
    word, it is 2 for a Han character, and 1 for any other letter. (In FLORES-101, a median sentence has 21
    English words, 34 Chinese characters, 50 Japanese letters or 79 Khmer letters.) The weight is the same,
    but 0 for numbers and single letters of other scripts.

    Args:
      characters: the folded characters of all words.
      word_ends: start of each word in `characters`, and the number of all characters.
    """
    different, numbers = numpy.unique(characters, return_inverse=True)
    is_letter = numpy.array([unicodedata.category(chr(one))[0] in "LM" for one in different], bool)
    letters = numpy.concatenate([[0], numpy.cumsum(is_letter[numbers])])[word_ends]
    sizes = numpy.full(len(word_ends) - 1, QUARTERS)
    firsts = characters[word_ends[:-1]]
    for begin, end, needed in _LETTER_WORDS:
        sizes[(begin <= firsts) & (firsts <= end)] = QUARTERS // needed
    return sizes, numpy.where((numpy.diff(letters) < _LETTERS) & (sizes == QUARTERS), 0, sizes)


def _look_up(text: str) -> Uint32s:
    """Returns for each character of a text its entry in the table of foldings (see `_Folding`)."""
    codes = numpy.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    characters: Uint32s = _folding().folded.take(codes, mode="wrap")  # no code is out of range
    for sign, pattern, read in _ESCAPES:
        at = text.find(sign)  # faster than a search for the pattern
        while at >= 0:
            if (found := pattern.match(text, at)) and len(character := read(found[0])) == 1:
                characters[at : found.end()] = _folding().folded[_SOFT_HYPHEN]
                characters[at] = _folding().folded[ord(character)]
            at = text.find(sign, at + 1)
    for sign, pattern in _EXPONENTS:
        for found in pattern.finditer(text) if sign in text else ():
            for start, end in ((found.start(), found.start(1)), (found.end(1), found.end())):
                characters[start:end] = _folding().folded[_SOFT_HYPHEN]
    return characters


def _expand(characters: Uint32s) -> tuple[Uint32s, Int64s]:
    """Replaces characters that are folded to several characters, and removes those that are folded to none.

    `characters` has, for each character of a text, its entry in the table of foldings (see `_Folding`).
    Returns the new characters, and for each of them the position in the text of the character that it
    replaces.
    """
    folding = _folding()
    special = numpy.flatnonzero(characters >= _SPECIAL)
    numbers = characters[special] & ~_SPECIAL
    if not folding.sizes[numbers].any():  # the most frequent case, and faster
        places = numpy.flatnonzero(characters < _SPECIAL)
        return characters[places], places
    counts = numpy.ones(len(characters), numpy.int64)
    counts[special] = folding.sizes[numbers]
    places = numpy.repeat(numpy.arange(len(characters)), counts)
    expanded = characters[places]
    starts = (numpy.cumsum(counts) - counts)[special]
    for place in range(folding.texts.shape[1]):
        is_longer = folding.sizes[numbers] > place
        expanded[starts[is_longer] + place] = folding.texts[numbers[is_longer], place]
    return expanded, places


def _find_letter_words(characters: Uint32s) -> tuple[Int64s, Int64s]:
    """Returns the starts and ends of all words of a text that may have letters of scripts without spaces.

    Each of these letters, such as a Han character, is a word, together with the marks after it.
    """
    is_word = characters != 0
    is_mark = (characters & _MARK) != 0
    is_letter_word = (characters & _LETTER_WORD) != 0
    # A mark is treated like the letter before it.
    bases = numpy.where(is_mark, 0, numpy.arange(len(characters)))
    bases = numpy.maximum.accumulate(bases)
    goes_on = is_word[1:] & is_word[:-1]
    goes_on &= is_mark[1:] | ~(is_letter_word[1:] | is_letter_word[bases[:-1]])
    is_start, is_end = is_word.copy(), is_word.copy()
    is_start[1:] &= ~goes_on
    is_end[:-1] &= ~goes_on
    return numpy.flatnonzero(is_start), numpy.flatnonzero(is_end) + 1


@functools.cache
def _folding() -> _Folding:
    folded = numpy.zeros(sys.maxunicode + 1, numpy.uint32)
    unstable = set(range(*_LATER_JAMO))
    texts: list[Sequence[int]] = []
    for code in itertools.chain(*_USED_PLANES):
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] == "C" and category != "Cf":
            continue
        if normalize(character) != character or unicodedata.combining(character):
            unstable.add(code)
        first, *others = unicodedata.decomposition(character).split() or [""]
        if not first.startswith("<"):
            unstable.update(int(other, 16) for other in others)
        if category[0] not in "LMN" and category != "Cf" and character != "^":
            continue
        becomes = list(map(ord, _fold_character(character, category)))
        if len(becomes) == 1:
            folded[code] = becomes[0] | (_MARK if category[0] == "M" else 0)
        else:
            folded[code] = len(texts) | _SPECIAL
            texts.append(becomes)
    for begin, end, _ in _LETTER_WORDS:
        is_letter = (folded[begin : end + 1] != 0) & (folded[begin : end + 1] < _CHARACTER)
        folded[begin : end + 1][is_letter] |= _LETTER_WORD
    folded[sorted(unstable)] |= _UNSTABLE
    rows = numpy.array(list(itertools.zip_longest(*texts, fillvalue=0)), numpy.uint32).T
    return _Folding(folded, rows, numpy.array([len(text) for text in texts]))


def _fold_character(character: str, category: str) -> str:
    """Returns the characters that replace a letter, mark, digit or format character; "" if it is removed.

    In the result, characters that separate words are replaced by NUL characters.
    """
    if category == "Cf" or _REMOVED.match(character):
        return ""
    text = unicodedata.normalize("NFKC", character)
    text = _REMOVED.sub("", unicodedata.normalize("NFKC", text.casefold())).replace(_DOTLESS, "i")
    if text == character:  # most characters
        return text
    return "".join(one if unicodedata.category(one)[0] in "LMN" else "\0" for one in text)


@functools.cache
def _powers(count: int) -> tuple[Uint32s, Uint32s]:
    """Returns the first `count` powers of the base of the word hash, and their inverses, modulo 2^32."""
    bases = numpy.array([[_BASE], [pow(_BASE, -1, 1 << _BITS)]], numpy.uint32).repeat(count, 1)
    bases[:, 0] = 1
    powers, inverses = numpy.multiply.accumulate(bases, axis=1, dtype=numpy.uint32)
    return powers, inverses
