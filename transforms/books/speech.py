"""Detects speakers in a text: names that begin many paragraphs.

The name of a speaker is before the speech ("HAMLET. ", "_Nora._ ", "  Ham. ") or on a line of its own above
the speech.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.toml_tables import read_table

MIN_SPEECHES = 5
"""Smallest number of speeches of a speaker. A name with fewer is not a speaker."""

_TABLE = "speech.toml"
_LOOKED_AT = (
    300  # characters of a line that are examined: a name and the manner of speaking are shorter
)
_PERIODS = (".", "._", ":")
_MARKS = r"[_=*]{0,2}"
_NAME = r"[A-Z][\w’'-]*(?:\.? [A-Z&][\w’'-]*){0,3}"
_MANNER = r"(?:,? ?_?[(\[][^)\]\n]{0,120}[)\]]_?)?"  # "(aside)"
_AT_START = re.compile(
    rf"\s*{_MARKS}({_NAME}){_MARKS}{_MANNER}(?:(?:[.:]|\.--){_MARKS}(?=[\s—(\[-]|$)|$)"
)
"""A name at the start of a paragraph: alone in its line, or with a period or colon after it."""

_INSIDE = re.compile(
    rf"(?:{_MARKS}([A-Z][A-Z’' -]{{2,30}})|\s+_?([A-Z][\w’' -]{{1,20}})){_MARKS}[.:]_?\s"
)
"""A name at the start of a later line of a paragraph: in capitals, or indented."""

_ROMAN = re.compile(r"[IVXLC]+")


class Speech(NamedTuple):
    """The number of characters of a text that are speech, and the number of its speakers."""

    # characters of speeches and of the names before them, without white space at the ends of lines
    characters: int
    speakers: int  # number of different speakers


class _Spoken(NamedTuple):
    """A name, and the number of characters of the speech that begins with it or follows it.

    The name may be that of a speaker or another name. The speech ends at the next name or at the end of its
    paragraph.
    """

    name: str
    characters: int


def measure_speech(paragraphs: Sequence[Sequence[str]]) -> Speech:
    """Detects the speakers in a text, and counts the characters of their speeches.

    `paragraphs` has the lines of each paragraph of the text.
    """
    spoken = list(_spoken_in(paragraphs))
    times = Counter(piece.name for piece in spoken)
    speakers = {name for name, count in times.items() if count >= MIN_SPEECHES and _may_speak(name)}
    return Speech(
        sum(piece.characters for piece in spoken if piece.name in speakers), len(speakers)
    )


def _spoken_in(paragraphs: Sequence[Sequence[str]]) -> Iterator[_Spoken]:
    """Yields each name that may be a speaker's, with the length of the speech that follows it.

    The speech ends at the next name or at the end of the paragraph. If a name in capitals or without a period
    is a paragraph of its own, its speech is the next paragraph. There is no such speech if the next paragraph
    begins with a name.
    """
    above = ""
    for lines in paragraphs:
        name, above, size = above, "", 0
        first = _AT_START.match(lines[0][:_LOOKED_AT])
        if first:
            name = first[1]
            is_alone = len(lines) == 1 and first.end() == len(lines[0])
            # "Churchhill." is not a speaker, but the place where a letter was written.
            may_be_above = name.isupper() or not lines[0].endswith(_PERIODS)
            above = name if is_alone and may_be_above else ""
        for place, line in enumerate(lines):
            inside = _INSIDE.match(line[:_LOOKED_AT]) if place else None
            if inside:
                if name:
                    yield _Spoken(name, size)
                name, size = inside[1] or inside[2], 0
            size += len(line.strip())
        if name:
            yield _Spoken(name, size)


def _may_speak(name: str) -> bool:
    words = name.casefold().replace(".", " ").split()
    if len(name) < 2 or _ROMAN.fullmatch(name) or not words:
        return False
    never = _never_speakers()
    return "to" not in words and not never.issuperset(words)  # "EMMA TO ANNE" heads a letter


def stage_words(text: str) -> float:
    """Returns the number of stage words, such as "exit", per 1,000 words of a text."""
    return len(_stage_pattern().findall(text)) * 1000 / max(1, text.count(" ") + text.count("\n"))


@functools.cache
def _never_speakers() -> frozenset[str]:
    return frozenset(read_table(__package__, _TABLE)["never_speakers"].split())


@functools.cache
def _stage_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(read_table(__package__, _TABLE)['stage'].split())})\b")
