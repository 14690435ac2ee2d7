"""Lines of news: those of the bundled sample, and as many as a benchmark wants.

Chance is what random.Random(seed).random() gives, the same for all versions of Python; the sample takes none
at all, and orders its lines by their hashes.
"""

import hashlib
import itertools
import math
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

YEARS = (2007, 2008, 2009, 2010, 2011)
LONG_LINE_BYTES = 5_000
_SENTENCES_OF_A_TOPIC = 104
_QUOTES = 160
_BYTE = re.compile(rb"\\x([0-9a-f]{2})")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK_LINES = 10_000
_REMEMBERED_LINES = 200_000  # the last that may come again: some 25 MB
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


class OddLine(NamedTuple):
    """A line of odd_lines.txt."""

    years: tuple[int, ...]
    is_rejected: bool
    line: bytes  # without its line feed


def sample_lines(folder: Path) -> dict[int, list[bytes]]:
    """Year → the lines of its file, without line feeds, in their order.

    A sixteenth of the sentences is twice in the file of its year, and a twelfth in that of the next year too.
    """
    found: dict[int, list[bytes]] = defaultdict(list)
    sentences = sorted(set(sample_sentences(folder)))
    for sentence in sentences:
        line, digest = sentence.encode(), _digest(sentence.encode())
        year = YEARS[digest[0] % len(YEARS)]
        found[year] += [line] * (2 if digest[1] % 16 == 0 else 1)
        if digest[2] % 12 == 0:
            found[YEARS[(YEARS.index(year) + 1) % len(YEARS)]].append(line)
    found[YEARS[3]].append(_long_line(sentences))
    for odd in read_odd_lines(folder):
        for year in odd.years:
            found[year].append(odd.line)
    return {year: _shuffled(found[year], year) for year in YEARS}


def sample_sentences(folder: Path) -> Iterator[str]:
    """Yields the sentences of clauses.toml: whole sentences, quotes, and some of the combinations of each
    topic.
    """
    clauses = read_clauses(folder)
    yield from clauses["whole"]["sentences"]
    quotes = clauses["quotes"]
    for said, by in _combinations([quotes["said"], quotes["by"]], _QUOTES):
        yield f'"{said}," {by}'
    for topic in clauses["topic"]:
        choices = [topic["who"], topic["did"], topic["then"]]
        for parts in _combinations(choices, _SENTENCES_OF_A_TOPIC):
            yield " ".join(parts).replace(" , ", ", ")


def read_clauses(folder: Path) -> dict[str, Any]:
    """Reads clauses.toml."""
    return tomllib.loads((folder / "clauses.toml").read_text("utf-8"))


def read_odd_lines(folder: Path) -> list[OddLine]:
    """Reads odd_lines.txt."""
    rows = (folder / "odd_lines.txt").read_bytes().split(b"\n")
    return [_odd_line(row) for row in rows if row and not row.startswith(b"# ")]


def _odd_line(row: bytes) -> OddLine:
    years, fate, text = row.split(b"\t")
    if fate not in (b"kept", b"rejected"):
        raise ValueError(f"{row!r} is neither kept nor rejected")
    line = _BYTE.sub(lambda match: bytes.fromhex(match[1].decode()), text)
    return OddLine(tuple(map(int, years.split())), fate == b"rejected", line)


def _combinations(choices: Sequence[Sequence[str]], wanted: int) -> Iterator[list[str]]:
    """`wanted` of all ways to take one of each, far from one another, none twice."""
    ways = math.prod(map(len, choices))
    step = next(step for step in itertools.count(ways * 5 // 8) if math.gcd(step, ways) == 1)
    for number in range(min(wanted, ways)):
        rest, parts = number * step % ways, []
        for clauses in choices:
            rest, index = divmod(rest, len(clauses))
            parts.append(clauses[index])
        yield parts


def _long_line(sentences: Iterable[str]) -> bytes:
    """One line of several thousand bytes, as whole articles slip through a splitter."""
    line = " ".join(sentences).encode()
    return line[: line.index(b" ", LONG_LINE_BYTES)]


def _shuffled(lines: Iterable[bytes], year: int) -> list[bytes]:
    """In an order of no meaning; a byte order mark comes first, as it does in life."""
    counted = ((number, line) for number, line in enumerate(sorted(lines)))
    keyed = [(_digest(b"%d %d " % (year, number) + line), line) for number, line in counted]
    return [line for _, line in sorted(keyed, key=lambda pair: (not _has_mark(pair[1]), pair))]


def _has_mark(line: bytes) -> bool:
    return line.startswith(_BYTE_ORDER_MARK)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def recombined_lines(
    lines: Sequence[bytes],
    total_bytes: int,
    seed: int = 1,
    repeated: float = 0.1,
    with_new_word: float = 0.1,
) -> Iterator[list[bytes]]:
    """Lists of lines, `total_bytes` in all with line feeds: the head of one and the tail of another.

    So the words are as frequent as in `lines`, and hardly a line comes twice but the share `repeated`.
    Recombination brings no new words, of which real news has one in some ten lines: the share
    `with_new_word` gets one in the place of another. Lines of one word are left out.
    """
    chance = random.Random(seed).random
    cuts = [_cut(line, chance()) for line in lines if b" " in line.strip(b" ")]
    heads, tails = [head for head, _ in cuts], [tail for _, tail in cuts]
    pairs, made, new_words = len(cuts), 0, 0
    earlier: list[bytes] = []
    while made < total_bytes:
        block: list[bytes] = []
        while made < total_bytes and len(block) < _BLOCK_LINES:
            if earlier and chance() < repeated:
                line = earlier[int(chance() * len(earlier))]
            else:
                line = heads[int(chance() * pairs)] + tails[int(chance() * pairs)]
                if chance() < with_new_word:
                    line = _with_word(line, new_word(new_words), chance())
                    new_words += 1
            block.append(line)
            made += len(line) + 1
        earlier = (earlier + block)[-_REMEMBERED_LINES:]
        yield block


def _cut(line: bytes, chance: float) -> tuple[bytes, bytes]:
    """The line up to a blank, with it, and from there on."""
    blanks = [place for place in range(1, len(line) - 1) if line[place] == ord(" ")]
    place = blanks[int(chance * len(blanks))] + 1
    return line[:place], line[place:]


def _with_word(line: bytes, word: bytes, chance: float) -> bytes:
    words = line.split(b" ")
    words[int(chance * len(words))] = word
    return b" ".join(words)


def new_word(number: int) -> bytes:
    """A word for each number that is in no dictionary, "babababa" for 0."""
    syllables = []
    for _ in range(4):
        number, index = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[index])
    return "".join(syllables).encode() + (b"%d" % number if number else b"")
