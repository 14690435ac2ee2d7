"""Drops the sentences that are incomplete because the value of a template cannot be known.

Such values are current prices and ages, and data that the dump does not contain. The value leaves a hole in
its sentence ("The population is people."), so the sentence is dropped. If the value is in brackets, the
sentence stays, and only a part of the bracketed text is dropped: the part between commas or semicolons that
contains the value. So "($5 in dollars of {{CURRENTYEAR}}, a record)" becomes "(a record)".
"""

import re
import unicodedata

from corpusmill.transforms.wikitext.marks import CELL, HOLE, SECTION, UNKNOWN, restore

MAX_SENTENCE = 1_000  # characters of a sentence that may be dropped; a longer one keeps the hole

_CLOSING = f"[\"'»”’)\\]）］」』{HOLE}]*+"
_END = re.compile(rf"(?:[.!?…।॥։。！？؟۔]{_CLOSING})(?:\s+|$)|[。！？]{_CLOSING}")
_WORD_BEFORE = re.compile(rf"[^\s.,;:!?()«»“”„\"'\[\]{HOLE}{UNKNOWN}-]+(?=[ {HOLE}]*$)")
_NEAR = 20  # characters
_VOWELS = "aeiouyаеєиіїоуюяыэαεηιουω"  # a word that ends in one is rarely an abbreviation
_ASIDE = re.compile(rf"[(（][^()（）\n]*?{UNKNOWN}[^()（）\n]*+[)）]")
_SEPARATOR = re.compile(r"([,;、，；](?!\d))")
_WORD = re.compile(r"[^\W_]")


def drop_unknown_values(text: str, dropped: list[str]) -> str:
    """Returns a text without those sentences, and those parts of texts in brackets, that contain UNKNOWN.

    UNKNOWN is the mark for a value that cannot be known.

    Args:
        text: a paragraph on each line.
        dropped: a list to which the dropped sentences and parts are appended.
    """
    lines = []
    for line in text.split("\n"):
        if UNKNOWN in line and CELL not in line:
            is_heading = line.startswith(SECTION)
            line = _ASIDE.sub(lambda found: _without_parts(found[0], dropped), line)
            line = line if is_heading else _without_sentences(line, dropped)
            if not _WORD.search(line) and not is_heading:
                continue
        lines.append(line.replace(UNKNOWN, ""))
    return "\n".join(lines)


def _without_parts(aside: str, dropped: list[str]) -> str:
    """Replaces the parts of `aside`, a text in brackets, that contain the mark UNKNOWN, by holes.

    Parts are separated by commas or semicolons. A hole is the mark for missing text. The replaced parts are
    appended to `dropped`.
    """
    pieces = _SEPARATOR.split(aside[1:-1])
    for index, piece in enumerate(pieces):
        if UNKNOWN in piece:
            _add(piece, dropped)
            pieces[index] = HOLE
    return f"{aside[0]}{''.join(pieces)}{aside[-1]}"


def _without_sentences(line: str, dropped: list[str]) -> str:
    """Returns a paragraph without the sentences that contain the mark UNKNOWN.

    The removed sentences are appended to `dropped`.
    """
    if UNKNOWN not in line:
        return line
    kept = []
    start = 0
    for end in (*_ends_of_sentences(line), len(line)):
        sentence = line[start:end]
        if UNKNOWN not in sentence or len(sentence) > MAX_SENTENCE:
            kept.append(sentence)
        else:
            _add(sentence, dropped)
        start = end
    return "".join(kept).rstrip()


def _ends_of_sentences(line: str) -> list[int]:
    """Returns the positions at which sentences end. Spaces after a sentence belong to the sentence.

    A full stop that may belong to an abbreviation is not taken for the end of a sentence. If it does
    end a sentence, two sentences are dropped instead of one. The opposite error would leave half a sentence,
    which is worse.
    """
    ends = []
    for found in _END.finditer(line):
        following = line[found.end() : found.end() + 1]
        if following.islower():
            continue
        if found[0][0] == ".":
            word = _WORD_BEFORE.search(line, max(found.start() - _NEAR, 0), found.start())
            if word and _may_be_abbreviation(word[0], following):
                continue
        ends.append(found.end())
    return ends


def _may_be_abbreviation(word: str, following: str) -> bool:
    """Returns True if the full stop after `word` may be that of an abbreviation or an ordinal number.

    Examples are "J", "St", "ст", "No" before a number, and "3" (in languages that write "3." for "3rd").
    `following` is the character after the full stop and its space.
    """
    if following.isdecimal() and not word.isdecimal():
        return len(word) <= 4
    if len(word) == 1 or len(word) > 3 or (len(word) == 3 and word.islower()):
        return len(word) == 1
    return unicodedata.normalize("NFD", word[-1].casefold())[0] not in _VOWELS


def _add(text: str, dropped: list[str]) -> None:
    if _WORD.search(text):
        dropped.append(" ".join(restore(text.replace(UNKNOWN, "")).split()))
