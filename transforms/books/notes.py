"""Removes notes by the makers of a Project Gutenberg text: credits, remarks, lists of corrections.

`notes.toml` describes the notes. A note in brackets or in a box ends with the bracket or box. Any other note
ends with its paragraph or, if its heading is alone on its line, before the next two empty lines. Only a note
at the end of a book may be long, and its text must then mention pages, spelling and the like.
"""

import functools
import re
from collections.abc import Iterator, Sequence

import msgspec

from ..files.markup import read_rules, read_toml
from . import spans

MAX_HEADINGS = 50  # maximum notes without brackets that are examined: real books have three at most
MIN_SHARE_OF_WORDS = (
    0.4  # of the characters of a note at the end, in paragraphs with words of notes
)

_BEFORE_ANCHOR = 40  # characters: "[Original Electronic " is the longest opening
_MAX_BEFORE = 200  # maximum characters in a line before the word that marks a note
_SEPARATOR = re.compile(r"[\s*_=~#.•·+-]+")


class _Opening(msgspec.Struct):
    pattern: re.Pattern[str]


class _Passage(msgspec.Struct):
    first: re.Pattern[str]
    last: re.Pattern[str]
    max_characters: int


class _HeadRules(msgspec.Struct):
    max_characters: int
    max_note_characters: int
    evidence: re.Pattern[str]
    first: tuple[_Opening, ...]
    anywhere: tuple[_Opening, ...]
    passage: tuple[_Passage, ...]


class _TranscriberRules(msgspec.Struct):
    anchors: tuple[str, ...]
    heading: re.Pattern[str]
    end_heading: re.Pattern[str]
    words: re.Pattern[str]
    max_bracketed_characters: int
    max_box_lines: int
    max_paragraph_characters: int
    max_middle_characters: int
    max_end_characters: int


class _EndNote(msgspec.Struct):
    first: re.Pattern[str]
    has: tuple[re.Pattern[str], ...]


class _EndRules(msgspec.Struct):
    max_characters: int
    note: tuple[_EndNote, ...]


class _MarkedNote(msgspec.Struct):
    anchor: str
    pattern: re.Pattern[str]  # matched from the start of the line


class _Rules(msgspec.Struct):
    head: _HeadRules
    transcriber: _TranscriberRules
    end: _EndRules
    marked: tuple[_MarkedNote, ...]


def strip_notes(book: str) -> str:
    """Removes notes from a book. The header and footer of its file must have been removed before."""
    rules = _rules()
    marked = _marked_notes(book, rules.marked)
    body = spans.cut_out(book, [*marked, *_transcribers_notes(book, rules.transcriber)])
    # only now, because transcribers' notes may follow the end notes
    body = spans.cut_out(body, _end_notes(body, rules.end))
    return spans.cut_out(body, _head_notes(body, rules.head))


def _marked_notes(text: str, rules: Sequence[_MarkedNote]) -> Iterator[spans.Span]:
    for rule in rules:
        for at in _find_all(text, [rule.anchor]):
            if found := rule.pattern.match(text, _near_line_start(text, at)):
                yield spans.with_blank_lines(text, *found.span())


def _end_notes(text: str, rules: _EndRules) -> Iterator[spans.Span]:
    """Yields the spans of notes at the end of a book. The `rules` describe the first line of each note."""
    earliest = max(len(text) // 2, len(text) - rules.max_characters)
    for rule in rules.note:
        # Words missing after the first such line are missing after later ones, too: one search is enough.
        found = rule.first.search(text, earliest)
        if found and all(pattern.search(text, found.end()) for pattern in rule.has):
            yield found.start(), len(text)


def _transcribers_notes(text: str, rules: _TranscriberRules) -> list[spans.Span]:
    """Returns the spans of notes that have a heading, such as "Transcriber's note"."""
    brackets = functools.cache(lambda: spans.match_brackets(text))  # of few books
    notes: list[spans.Span] = []
    at = 0  # the end of the last note
    headings = 0
    for anchor in _find_all(text, rules.anchors):
        if anchor < at:
            continue
        near = max(anchor - _BEFORE_ANCHOR, _near_line_start(text, anchor))
        opening = max(text.rfind("[", near, anchor), text.rfind("{", near, anchor))
        if opening >= at and rules.heading.match(text, opening):
            end = brackets().get(opening, opening)
            if 0 < end - opening <= rules.max_bracketed_characters:
                notes.append(spans.with_blank_lines(text, opening, end))
                at = notes[-1][1]
            continue
        start = max(_near_line_start(text, anchor), at)
        if headings == MAX_HEADINGS:
            continue
        if not (rules.heading.match(text, start) or rules.end_heading.match(text, start)):
            continue
        headings += 1
        if note := _headed_note(text, start, rules):
            notes.append(note)
            at = note[1]
    return notes


def _headed_note(text: str, start: int, rules: _TranscriberRules) -> spans.Span | None:
    """Returns the span of a note without brackets that begins with a heading, or None if its end is not
    found.
    """
    if text[start : spans.line_end(text, start)].lstrip().startswith(("|", "+")):
        return _box(text, start, rules.max_box_lines)
    if start > len(text) // 2 and len(text) - start <= rules.max_end_characters:
        paragraphs = spans.split_paragraphs(text, start)
        if _speaks_as_note(paragraphs, rules):
            return _with_separator(text, start), len(text)
    return _middle_note(text, start, rules) if rules.heading.match(text, start) else None


def _middle_note(text: str, start: int, rules: _TranscriberRules) -> spans.Span | None:
    """Returns the span of a note that begins at `start`, in the head or the middle of a book.

    The note is one paragraph, or several paragraphs below a heading. Returns None if the text at `start` is
    too long for a note, or does not have the words of notes.
    """
    heading, *others = spans.split_paragraphs(text, start, start + rules.max_middle_characters)
    if not _is_alone(heading, rules):
        if len(heading.text) > rules.max_paragraph_characters:
            return None
        return spans.with_blank_lines(text, start, heading.end)
    end = 0
    for paragraph in others:
        is_over = end and (paragraph.gap > 1 or _SEPARATOR.fullmatch(paragraph.text))
        if is_over or len(paragraph.text) > rules.max_paragraph_characters:
            break
        end = paragraph.end
    if not end or not rules.words.search(text, others[0].start, end):
        return None
    above = spans.line_start(text, max(start - 1, 0))
    first = above if _SEPARATOR.fullmatch(text[above:start].strip("\n")) else start
    return spans.with_blank_lines(text, first, end)


def _is_alone(heading: spans.Paragraph, rules: _TranscriberRules) -> bool:
    """Returns True if the heading of a note is alone on its line. The next line may underline it."""
    line, _, below = heading.text.partition("\n")
    found = rules.heading.match(line)
    behind = line[found.end() :] if found else ""
    return not behind.strip(" \t.:*=|_-") and (not below or bool(_SEPARATOR.fullmatch(below)))


def _speaks_as_note(paragraphs: Sequence[spans.Paragraph], rules: _TranscriberRules) -> bool:
    """Returns True if all paragraphs from a heading to the end of a book belong to a note."""
    speaking = 0
    for paragraph in paragraphs:
        words = sum(1 for _ in rules.words.finditer(paragraph.text))
        if words:
            speaking += len(paragraph.text)
        if len(paragraph.text) > rules.max_paragraph_characters * max(words, 1):
            return False
    return speaking >= MIN_SHARE_OF_WORDS * sum(len(paragraph.text) for paragraph in paragraphs)


def _box(text: str, start: int, max_lines: int) -> spans.Span:
    """Returns the span of the box to which the line at `start` belongs.

    A box consists of lines that begin with "|" or "+". The span includes at most `max_lines` lines above the
    line at `start`, and at most as many below it. A separator above the box is included, too.
    """
    first, last = start, spans.line_end(text, start)
    for _ in range(max_lines):
        above = spans.line_start(text, first - 1) if first else first
        if above == first or not text[above:first].lstrip().startswith(("|", "+")):
            break
        first = above
    for _ in range(max_lines):
        below = spans.line_end(text, last + 1)
        if last >= len(text) or not text[last + 1 : below].lstrip().startswith(("|", "+")):
            break
        last = below
    return spans.with_blank_lines(text, _with_separator(text, first), last)


def _with_separator(text: str, start: int) -> int:
    """Returns the start of a separator, such as a line of asterisks, directly before the line at `start`.

    Returns `start` if there is none.
    """
    before = text[max(start - 400, 0) : start].rstrip()
    line = before[before.rfind("\n") + 1 :]
    if not line.strip() or len(before) == start or not _SEPARATOR.fullmatch(line):
        return start
    return max(start - 400, 0) + len(before) - len(line)


def _head_notes(text: str, rules: _HeadRules) -> list[spans.Span]:
    """Returns the spans of notes at the beginning of a book that have no heading."""
    passages = list(_passages(text, rules))
    notes = list(passages)
    is_first = True  # True while no text of the book has been found
    brackets = functools.cache(lambda: spans.match_brackets(text))  # of few books
    at = 0
    for paragraph in spans.split_paragraphs(text, 0, rules.max_characters):
        if paragraph.start < at or any(start <= paragraph.start < end for start, end in passages):
            continue
        if _is_head_note(paragraph, is_first, rules):
            end = paragraph.end
            indent = len(paragraph.text) - len(paragraph.text.lstrip())
            if paragraph.text[indent] in "[{":
                opening = paragraph.start + indent
                end = max(end, brackets().get(opening, end))
                if end - opening > 2 * rules.max_note_characters:
                    end = paragraph.end
            notes.append(spans.with_blank_lines(text, paragraph.start, end))
            at = notes[-1][1]
        elif not (is_first and notes and _SEPARATOR.fullmatch(paragraph.text)):
            is_first = False
        else:
            notes.append(spans.with_blank_lines(text, paragraph.start, paragraph.end))
    return notes


def _is_head_note(paragraph: spans.Paragraph, is_first: bool, rules: _HeadRules) -> bool:
    text = paragraph.text
    if len(text) > rules.max_note_characters:
        return False
    if any(rule.pattern.match(text) for rule in rules.anywhere):
        return True
    is_evident = bool(rules.evidence.search(text))
    if any(rule.pattern.match(text) for rule in rules.first):
        return is_first or is_evident
    return is_first and is_evident


def _passages(text: str, rules: _HeadRules) -> Iterator[spans.Span]:
    for passage in rules.passage:
        for paragraph in spans.split_paragraphs(text, 0, rules.max_characters):
            if not passage.first.match(paragraph.text):
                continue
            limit = paragraph.start + passage.max_characters
            for last in spans.split_paragraphs(text, paragraph.start, limit):
                if passage.last.match(last.text) or passage.last.search(last.text):
                    yield spans.with_blank_lines(text, paragraph.start, last.end)
                    break
            break


def _near_line_start(text: str, position: int) -> int:
    """Returns the start of the line that contains `position`.

    In a very long line, returns `position` itself.
    """
    near = max(position - _MAX_BEFORE, 0)
    start = text.rfind("\n", near, position) + 1
    return start if start or not near else position


def _find_all(text: str, words: Sequence[str]) -> list[int]:
    places = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            places.add(at)
            at = text.find(word, at + len(word))
    return sorted(places)


@functools.cache
def _rules() -> _Rules:
    return read_rules(read_toml(__package__, "notes.toml"), _Rules)
