"""Makes lines that try the rules of the news scripts: ordinary words among all that the rules look at.

The same seed makes the same lines.
"""

import gzip
import random
from collections.abc import Callable, Iterator

from tests.tools.real_data import DATA

_WORDS = (
    "the cat Cat a I s S O'Neil it's rock'n'roll e.g. i.e U.S. U.S a.m. No. No Nos. Art. pp. Mr. Mrs. Dr "
    "Gen. vs. end. End. www.example.com. 1990's 5'10 3,000 3,000,000.50 1.5 5% 5 % 10:30 well-known ex-Gov. "
    "DOTMULTI DOTDOTMULTI DOTMULTI. DOT DOTMULTI.. <b> <p </a> AT&T x@y.z #39; don't 'tis '' `` `quoted' $5 "
    "£5 €5 ½ 5½ Ⅷ Ⅷ's x² café naïve Ångström ΑΒΓ κ. κόσμος мир. Мир. x.у ﬁn ½. a\u0301 e\u0301. n\u0303a ªº "
    "日本語 ３，０００ ٣٤ ٣,٤ ३ १.५ z.B. usw. d.h. bzw. 1. 12. XII. c.-à-d. u.ä. l'eau dell'arte L'Aquila "
    "aujourd'hui nÂºÂ  5Â 000 Â Â«Â mot Â Â»Â Â«Â oui Â» aâ€˜b aâ€™b â€˜ â€š â€™ Aâ€™S ſâ€™ſ KÂ€™k â€ž â€œ "
    "â€\u009d â€“ â€” â€¦ Â´ Â´Â´ Â % Â : Â ÂºC Â cm Â ? Â ! Â ; ,Â  Â Â Â ï»¿ \u1ffd\u1fef \u037e \u212a "
    "\u212b ★ ★★ x.ა x.ნ ⁿ. x.ₙ"
).split()
# Characters that one version of Unicode knows and another does not, or in another class.
_YOUNG = [
    *"ა\u10faᲐⁿ\u2095\u1063\u1087\u1c36\u3248\U0001f130\U0001f150₽\u0560\ua7ae\u1ab0\u1ac7\u18b0\U00011131",
    *"\U00011127\U00011132\U00011347\U0001133e\U00011930\U0001e94a\U0001f970\U00010d30\u0898\u061d\U0001e2f0",
]
_MARKS = [*"....,,,,''''\"\"\"`()()[]{}<>-:;!?%&*/\\|_=+@#$^~", "--", "...", "..", ",,", "''"]
_SPACES = [
    *"\t\v\f\r\x1c\x1f\x85\xa0\u1680\u180e\u2000\u2003\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
]
_SYMBOLS = [
    *"’‘—–…★„″“”«»´¨·•§°²½ǅʰΐ\u0300\u0301\u0308\u0323\u0345\u05b0\u0903\u093f\u0e31ๆ௹Ⅷⓐ①٣३๓𝟘𝟏𐄇",
    *"\x00\x01\x7f\x80\x9d\xad\ud800\udfff\ue000\ufffe\uffff\U0001f600\U0001d400\U00010400\U000e0001\U00040000",
    *"\U000f0000\U0010fffd\U0010ffff\u0378\u1e9e\u017f\u0130\u0131\u1fbf\u0f73\ufb1d\uac00\u1100\u1161\u11a8",
]
# Characters beyond Unicode, from U+110000 to the greatest, of 63 bits.
BEYOND = [
    *("f4908080", "f7bfbfbf", "f888808080", "fbbfbfbfbf", "fc8480808080", "fdbfbfbfbfbf"),
    *("fe828080808080", "febfbfbfbfbfbf"),
    *("ff808080808081808080808080", "ff8087bfbfbfbfbfbfbfbfbfbf"),
]
_BEYOND = [*map(bytes.fromhex, BEYOND)]


_ALPHABETS = (
    [*"Ââ€˜™šž\x9dœ¦«»´º%aAſ5٣nC:;?!,\u037e", " ", " ", "Â", "â€", "Â ", "cm", "nÂº", "★"],
    ["DOT", "MULTI", "DOTMULTI", ".", "..", "D", " ", "a", ","],
    [*"() .!:?;,'a5%\r"],
    [*'"",,.. <a\t\x85'],
    [*"..  aA5,-'\"²Ⅷé\t", "Mr", "No", "e.g", "U.S"],
    [*",,,  15a²½Ⅷ٣é-("],
    [*"'''``  aés5²Ⅷ.,\u0301"],
    [*"<<>> a\t\xa0\x1c\x00\r"],
    [*_YOUNG, *"a a.',1\u0301"],
    [*"aeAoc \u0300\u0301\u0327\u0323\u0345\u1100\u1161\u11a8\u212b'’\"“,."],
)


def make_lines(seed: int, lines: int) -> Iterator[bytes]:
    """Lines that Perl can read, without their line feeds."""
    chance = random.Random(seed)
    words = _WORDS * 4 + _real_words(chance)
    for _ in range(lines):
        yield _make_line(chance, words).replace(b"\n", b"")


def make_long_lines() -> Iterator[bytes]:
    """Lines of 100,000 characters, which a rule of quadratic time would take minutes for."""
    for unit in [*".,'`\"() \t-", "DOT", ' "', '."', ',"', ". ", "a."]:
        yield (unit * (100_000 // len(unit))).encode()
    for unit in ("a,b", "1,2", "’", "Â ", "é", "5 % ", "a b c.d", "e.g. No. 5. x", "<a> ", "Â´"):
        yield (unit * (100_000 // len(unit)) + ".").encode()


def _real_words(chance: random.Random) -> list[str]:
    """Words of real news, where there are any."""
    folder = DATA / "news"
    if not DATA.name or not folder.is_dir():
        return []
    words: list[str] = []
    for path in sorted(folder.glob("news.20??.en.shuffled.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            words += " ".join(chance.sample(list(lines), 500)).split()
    return words


def _make_line(chance: random.Random, words: list[str]) -> bytes:
    if chance.random() < 0.02:
        return _beyond(chance, words)
    make = chance.choice((_calm, _calm, _odd, _dense, _dense, _dense, _foreign))
    line = make(chance, words)
    return b"<" + line + b">" if chance.random() < 0.02 else line


def _calm(chance: random.Random, words: list[str]) -> bytes:
    """Words with now and then a mark on one side."""
    parts = []
    for _ in range(chance.randrange(12)):
        word = chance.choice(words)
        parts.append(_around(chance, word, _MARKS) if chance.random() < 0.3 else word)
    return " ".join(parts).encode()


def _odd(chance: random.Random, words: list[str]) -> bytes:
    """Words and marks, with any white space or none between them."""
    pools: list[list[str]] = [words, words, _MARKS, _MARKS, [" "] * 9 + _SPACES, _SYMBOLS]
    return _text(chance.choice(chance.choice(pools)) for _ in range(chance.randrange(25)))


def _dense(chance: random.Random, words: list[str]) -> bytes:
    """Few kinds of characters, so that all sequences of them occur."""
    pool = chance.choice(_ALPHABETS)
    if chance.random() < 0.3:
        pool = chance.sample("aaB1 .,'\"`s()<>-%;:\r\té²Ⅷ“”’Ââ€…", 6)
    return _text(chance.choice(pool) for _ in range(chance.randrange(16)))


def _foreign(chance: random.Random, words: list[str]) -> bytes:
    """Any code points, most of them from the first few thousand."""
    limits = (0x80, 0x100, 0x600, 0x3100, 0x10000, 0x110000)
    parts = []
    for _ in range(chance.randrange(20)):
        point = chance.randrange(chance.choice(limits))
        parts.append(chance.choice([chr(point), chr(point), *" .,'a5"]))
    return _text(parts)


def _beyond(chance: random.Random, words: list[str]) -> bytes:
    """Words with characters that only Perl knows in them."""
    parts = [_calm(chance, words), b"'s x,", _dense(chance, words)]
    for _ in range(chance.randrange(1, 5)):
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(_BEYOND))
    return b"".join(parts)


def _around(chance: random.Random, word: str, marks: list[str]) -> str:
    first, last = chance.choice(marks), chance.choice(marks)
    pick: Callable[[], str] = chance.choice(
        [lambda: first + word, lambda: word + last, lambda: first + word + last]
    )
    return pick()


def _text(parts: Iterator[str] | list[str]) -> bytes:
    return "".join(parts).encode("utf-8", "surrogatepass")
