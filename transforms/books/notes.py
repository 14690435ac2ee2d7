"""Removes notes by the makers of a Project Gutenberg text: credits, remarks, lists of corrections.

`notes.toml` describes the notes. A note in brackets or in a box ends with the bracket or box. Any other note
ends with its paragraph or, if its heading is alone on its line or ends with a colon, before the next two
empty lines. Only a note at the end of a book may be long, and its text must then mention pages, spelling and
the like. A note ends before footnotes that the text above it refers to.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ..files.markup import read_rules, read_toml
from . import spans

MAX_HEADINGS = 50  # maximum notes without brackets that are examined: real books have three at most
MIN_SHARE_OF_WORDS = (
    0.4  # of the characters of a note at the end, in paragraphs with words of notes
)

_BEFORE_ANCHOR = 40  # characters: "[Original Electronic " is the longest opening
_MAX_BEFORE = 200  # maximum characters in a line before the word that marks a note
_SEPARATOR = re.compile(r"[\s*_=~#.•·―—–+-]+")
_BLANK_LINES = re.compile(r"\n(?:[ \t]{0,80}\n)+")
_ADDRESS = re.compile(r"[\w.-]@(?:[\w-]{1,40}\.){1,4}[a-z]{2,4}\b")
_FOOTNOTE = re.compile(
    r"(?im)^(?:[ \t*_=]{0,60}(?:(?:foot|end)-?)?notes?[.: \t*_=]{0,60}\n\s{1,20})?"
    r"[ \t]{0,20}(?:\[(?:footnotes? )?(\w{1,5}|\*{1,3})[\]:]"
    r"|(\{\w{1,5}\}|\(\*\w{1,4}\)|\*{1,3}(?=[ \t]?[^\W_])))"
)


# A footnote, up to the next one: "[1] Transcriber's note: sic."
_MARKED_NOTE = re.compile(
    r"[ \t]{0,20}\[\w{1,3}\][^\n]{1,200}(?:\n(?![ \t]{0,40}\[)[^\n]{1,200}(?=\n)){0,9}"
)
_MAX_SIGNED = 1500  # maximum characters of a note that ends with initials
_CREDIT = re.compile(
    r"\b(?i:(?:produced|transcribed|prepared|scanned|typed)\b[^\n]{0,80}(?:\n[^\n]{0,80})?\bby|credits):?"
    r"\s{1,9}((?:[A-Z][\w.'’-]{0,20},?\s(?:and\s)?){2,9})"
)
_INITIALS = re.compile(r"(?<=[\s—-])([A-Z](?:\.?\s?[A-Z]){1,2})\.?(?:\sM\.\s?D\.)?\]?\s*\Z")
# Parts of the words that rules are anchored at. Few texts have many of them.
_STEMS = ("utenberg", "ranscri", "text", "Book", "book", "missing ", "[", "(", "<", "{")


class _Opening(msgspec.Struct):
    pattern: re.Pattern[str]


class _Passage(msgspec.Struct):
    first: re.Pattern[str]
    last: re.Pattern[str]
    max_characters: int


class _HeadRules(msgspec.Struct, dict=True):
    max_characters: int
    max_note_characters: int
    evidence: re.Pattern[str]
    anchors: tuple[str, ...]
    words: re.Pattern[str]
    first: tuple[_Opening, ...]
    anywhere: tuple[_Opening, ...]
    passage: tuple[_Passage, ...]

    @functools.cached_property
    def is_first(self) -> re.Pattern[str]:
        return spans.any_of(rule.pattern for rule in self.first)

    @functools.cached_property
    def is_anywhere(self) -> re.Pattern[str]:
        return spans.any_of(rule.pattern for rule in self.anywhere)

    @functools.cached_property
    def is_passage(self) -> re.Pattern[str]:
        return spans.any_of(rule.first for rule in self.passage)


class _TranscriberRules(msgspec.Struct):
    anchors: tuple[str, ...]
    max_head_characters: int
    anchors_at_ends: tuple[str, ...]
    heading: re.Pattern[str]
    list_heading: re.Pattern[str]
    list_at_end: re.Pattern[str]
    entry: re.Pattern[str]
    introduction: re.Pattern[str]
    end_heading: re.Pattern[str]
    words: re.Pattern[str]
    row: re.Pattern[str]
    max_bracketed_characters: int
    max_box_lines: int
    max_paragraph_characters: int
    max_middle_characters: int
    max_end_characters: int
    max_list_gap: int


class _EndNote(msgspec.Struct):
    first: re.Pattern[str]
    has: tuple[re.Pattern[str], ...]


class _EndRules(msgspec.Struct):
    max_characters: int
    max_last_characters: int
    evidence: re.Pattern[str]
    opening: re.Pattern[str]
    note: tuple[_EndNote, ...]


class _MarkedNote(msgspec.Struct):
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]  # matched from the start of the line; its group, if any, is the note


class _BracketedRules(msgspec.Struct):
    anchors: tuple[str, ...]
    words: re.Pattern[str]
    declared: re.Pattern[str]
    max_characters: int


class _Rules(msgspec.Struct):
    head: _HeadRules
    transcriber: _TranscriberRules
    bracketed: _BracketedRules
    end: _EndRules
    marked: tuple[_MarkedNote, ...]


_Find = Callable[[Sequence[str]], list[int]]


def _finder(text: str) -> _Find:
    """Returns a function that returns the positions of words, in order.

    A part that several words have is searched for once.
    """

    @functools.cache
    def of_stem(stem: str) -> list[int]:
        places = [text.find(stem)]
        while places[-1] >= 0:
            places.append(text.find(stem, places[-1] + len(stem)))
        return places[:-1]

    def find(words: Sequence[str]) -> list[int]:
        places: set[int] = set()
        for stem, behind, members in _stems(tuple(words)):
            starts = [at - behind for at in of_stem(stem) if at >= behind]
            places.update(at for at in starts if text.startswith(members, at))
        return sorted(places)

    return find


@functools.cache
def _stems(words: tuple[str, ...]) -> list[tuple[str, int, tuple[str, ...]]]:
    """Returns (stem, its position in the words, words that have it there)."""
    groups: dict[tuple[str, int], list[str]] = {}
    for word in words:
        stem = next((one for one in _STEMS if one in word), word)
        groups.setdefault((stem, word.index(stem)), []).append(word)
    return [(stem, behind, tuple(members)) for (stem, behind), members in groups.items()]


def strip_notes(book: str, header: str = "") -> str:
    """Removes notes from a book. The `header` and footer of its file must have been removed before."""
    rules = _rules()
    brackets = functools.cache(lambda: spans.match_brackets(book))  # of few books
    initials = functools.cache(lambda: _initials(header + book[: rules.head.max_characters]))
    find = _finder(book)
    notes = [
        *_marked_notes(book, find, rules.marked),
        *_bracketed_notes(book, find, rules.bracketed, brackets),
        *_transcribers_notes(book, find, rules.transcriber, brackets),
        *_signed_notes(book, find, initials),
    ]
    if rules.bracketed.declared.search(book, 0, rules.head.max_characters):
        for opening, end in brackets().items():
            if book[opening] == "{" and end - opening <= rules.bracketed.max_characters:
                notes.append(spans.with_blank_lines(book, opening, end))
    body = spans.cut_out(book, notes)
    # only now, because transcribers' notes may follow the end notes
    body = spans.cut_out(body, _end_notes(body, rules.end))
    return spans.cut_out(body, [*_head_notes(body, rules.head), *_signatures(body)])


def _marked_notes(text: str, find: _Find, rules: Sequence[_MarkedNote]) -> Iterator[spans.Span]:
    for at in find([anchor for rule in rules for anchor in rule.anchors]):
        start = _near_line_start(text, at)
        for rule in rules:
            if text.startswith(rule.anchors, at) and (found := rule.pattern.match(text, start)):
                yield spans.with_blank_lines(text, *found.span(found.re.groups))


def _signatures(text: str) -> Iterator[spans.Span]:
    """Yields the spans of short paragraphs that have an address of electronic mail."""
    for at in _finder(text)(["@"]):
        start = text.rfind("\n\n", max(at - _MAX_SIGNED, 0), at) + 2
        end = text.find("\n\n", at, start + _MAX_SIGNED)
        if end >= 0 and start > 1 and _ADDRESS.match(text, at - 1):
            yield spans.with_blank_lines(text, start, end)


def _initials(head: str) -> set[str]:
    """Returns the initials of those who are credited with the text: "DW" of "Produced by D. Walker"."""
    names = (name for found in _CREDIT.finditer(head) for name in re.split(r",|\band\b", found[1]))
    return {"".join(word[0] for word in name.split()) for name in names if " " in name.strip()}


def _signed_notes(text: str, find: _Find, initials: Callable[[], set[str]]) -> Iterator[spans.Span]:
    """Yields the spans of passages in brackets, and of footnotes, that end with one of the initials."""

    def is_signed(end: int) -> bool:
        found = _INITIALS.search(text, end - 20, end)
        return found is not None and "".join(filter(str.isalpha, found[1])) in initials()

    for at in find(["]"]):
        if (text[at - 1].isupper() or text[at - 1] == ".") and is_signed(at + 1):
            opening = text.rfind("[", max(at - _MAX_SIGNED, 0), at)
            if opening > text.rfind("]", 0, at):
                yield spans.with_blank_lines(text, opening, at + 1)
    for at in find(["\n{"]):
        end = text.find("\n\n", at + 1, at + _MAX_SIGNED)
        end = end if end >= 0 else min(at + _MAX_SIGNED, len(text))
        if is_signed(end):
            yield spans.with_blank_lines(text, at + 1, end)


def _bracketed_notes(
    text: str, find: _Find, rules: _BracketedRules, brackets: Callable[[], Mapping[int, int]]
) -> Iterator[spans.Span]:
    """Yields the spans of passages in brackets, and of footnotes, that speak of the file."""
    for at in find(rules.anchors):
        near = max(at - rules.max_characters, 0)
        opening = max(text.rfind("[", near, at), text.rfind("{", near, at))
        if opening >= 0 and rules.words.search(text, max(at - _BEFORE_ANCHOR, opening), at + 20):
            end = brackets().get(opening, opening)
            first = text.rfind("\n\n", near, at) + 2
            if end <= at and first > near and _FOOTNOTE.match(text, first):
                opening, end = first, max(text.find("\n\n", at, at + rules.max_characters), at)
            if at < end <= opening + rules.max_characters:
                yield spans.with_blank_lines(text, opening, end)


def _end_notes(text: str, rules: _EndRules) -> Iterator[spans.Span]:
    """Yields the spans of notes at the end of a book. The `rules` describe the first line of each note."""
    starts = _paragraph_starts(text, max(len(text) // 2, len(text) - rules.max_characters))
    openings = [start for start in starts if rules.opening.match(text, start)]
    for rule in rules.note:
        # Words missing after the first such line are missing after later ones, too: one is enough.
        found = next(filter(None, (rule.first.match(text, start) for start in openings)), None)
        if found and all(pattern.search(text, found.end()) for pattern in rule.has):
            yield found.start(), _footnotes_below(text, found.start(), len(text))
    for start, end in zip(starts[::-1], [len(text), *starts[::-1]], strict=False):
        is_short = end - start <= rules.max_last_characters
        if is_short and rules.evidence.search(text, start, end):
            yield start, len(text)
        elif not _SEPARATOR.fullmatch(text, start, end):
            break


def _paragraph_starts(text: str, start: int) -> list[int]:
    """Returns the starts of the paragraphs in text[start:] that an empty line precedes."""
    found = _BLANK_LINES.finditer(text, start)
    return [blank.end() for blank in found if blank.end() < len(text)]


def _footnotes_below(text: str, start: int, end: int) -> int:
    """Returns the start of the footnotes in text[start:end], a note; the text before the note refers to them.

    Returns `end` if there are none.
    """
    below = _FOOTNOTE.finditer(text, spans.line_end(text, start), end)
    for found in itertools.islice(below, MAX_HEADINGS):
        mark = found[2] or f"[{found[1]}]"
        before = r"[^\s*]" if mark[0] == "*" else ""  # a star stands behind a word
        if re.search(before + re.escape(mark), text[:start]):
            return found.start()
    return end


def _transcribers_notes(
    text: str, find: _Find, rules: _TranscriberRules, brackets: Callable[[], Mapping[int, int]]
) -> list[spans.Span]:
    """Returns the spans of notes that have a heading, such as "Transcriber's note"."""
    notes: list[spans.Span] = []
    at = 0  # the end of the last note
    headings = 0
    anchors = {*find(rules.anchors), *_headings_at_ends(text, rules)}
    for anchor in sorted(anchors):
        if anchor < at:
            continue
        near = max(anchor - _BEFORE_ANCHOR, _near_line_start(text, anchor))
        opening = max(text.rfind("[", near, anchor + 1), text.rfind("{", near, anchor + 1))
        is_note = opening >= at and rules.heading.match(text, opening)
        if is_note and brackets().get(opening, len(text)) > anchor:  # not "[1] Transcriber's note"
            if end := _bracket_end(text, opening, brackets(), rules):
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


def _bracket_end(
    text: str, opening: int, brackets: Mapping[int, int], rules: _TranscriberRules
) -> int:
    """Returns the end of a transcriber's note in brackets; 0 if it is not found.

    The last note of a book may be long, and its lists of corrections have unbalanced brackets.
    """
    end = brackets.get(opening, 0)
    if 0 < end - opening <= rules.max_bracketed_characters:
        return end
    is_last = re.search(r"\n[^\n\[]*\]\s*\Z", text[max(opening, len(text) - _MAX_BEFORE) :])
    is_at_end = opening > len(text) // 2 and len(text) - opening <= rules.max_end_characters
    return len(text) if is_last and is_at_end else 0


def _headings_at_ends(text: str, rules: _TranscriberRules) -> Iterator[int]:
    """Yields the positions of headings in the head and at the end of a book, whatever words they have."""
    tail = max(len(text) - rules.max_end_characters, rules.max_head_characters)
    for offset, end in ((0, rules.max_head_characters), (tail, len(text))):
        for found in _finder(text[offset:end].lower())(rules.anchors_at_ends):
            at = offset + found
            start = _near_line_start(text, at)
            if text[spans.line_start(text, max(start - 1, 0)) : start].strip():
                continue  # not the first line of a paragraph
            if rules.heading.match(text, start) or rules.end_heading.match(text, start):
                yield start + len(text[start:at]) - len(text[start:at].lstrip())


def _headed_note(text: str, start: int, rules: _TranscriberRules) -> spans.Span | None:
    """Returns the span of a note without brackets that begins with a heading, or None if its end is not
    found.
    """
    if text[start : spans.line_end(text, start)].lstrip().startswith(("|", "+")):
        return _box(text, start, rules.max_box_lines)
    if found := _MARKED_NOTE.match(text, start):
        return spans.with_blank_lines(text, start, found.end())
    is_at_end = start > len(text) // 2 and len(text) - start <= rules.max_end_characters
    limit = len(text) if is_at_end else min(start + rules.max_middle_characters, len(text))
    limit = _footnotes_below(text, start, limit)
    if found := rules.introduction.match(text, start) or rules.entry.match(text, start):
        return spans.with_blank_lines(text, start, found.end())
    if is_at_end:
        paragraphs = spans.split_paragraphs(text, start, limit)
        is_list = rules.list_at_end.match(text, start)
        if is_list:  # up to the next separator
            limit = next((one.start for one in paragraphs if _SEPARATOR.fullmatch(one.text)), limit)
            paragraphs = [one for one in paragraphs if one.start < limit]
        if _speaks_as_note(paragraphs, rules) or (is_list and _are_short(paragraphs, rules)):
            return _with_separator(text, start), limit
    return _middle_note(text, start, limit, rules) if rules.heading.match(text, start) else None


def _middle_note(text: str, start: int, limit: int, rules: _TranscriberRules) -> spans.Span | None:
    """Returns the span of a note that begins at `start`, in the head or the middle of a book.

    The note is one paragraph, or several paragraphs below a heading or a colon. It ends at `limit` at the
    latest. Returns None if the text at `start` is too long for a note, or does not have the words of notes.
    """
    stop = min(start + rules.max_middle_characters, limit)
    heading, *others = spans.split_paragraphs(text, start, stop)
    is_alone = _is_alone(heading, rules)
    is_list = rules.list_heading.match(heading.text)
    end = speaking = 0
    if is_alone or heading.text.rstrip().endswith(":"):
        for paragraph in others:
            if paragraph.end == stop < len(text):
                end = speaking  # no end in sight: only the paragraphs that have words of notes
                break
            is_over = end and paragraph.gap > (rules.max_list_gap if is_list else 1)
            if is_over or (end and _SEPARATOR.fullmatch(paragraph.text)):
                break
            rows = sum(1 for _ in rules.row.finditer(paragraph.text))
            if len(paragraph.text) > rules.max_paragraph_characters * max(rows, 1):
                break
            is_speaking = speaking == end and rules.words.search(paragraph.text)
            end = paragraph.end
            speaking = end if is_speaking else speaking
    is_known = is_list or (end and rules.words.search(text, others[0].start, end))
    is_numbered = bool(end) and others[0].text.lstrip().startswith(("1.", "1)", "(1)"))
    if not end or not (is_known or (is_numbered and _is_first(text, start))):
        if is_alone or len(heading.text) > rules.max_paragraph_characters:
            return None
        return spans.with_blank_lines(text, start, heading.end)
    above = spans.line_start(text, max(start - 1, 0))
    first = above if _SEPARATOR.fullmatch(text[above:start].strip("\n")) else start
    return spans.with_blank_lines(text, first, end)


def _is_first(text: str, start: int) -> bool:
    """Returns True if nothing of the book is above `start`, only credits and the like."""
    rules = _rules().head
    return start <= rules.max_characters and all(
        _is_head_note(paragraph, True, True, rules)
        for paragraph in spans.split_paragraphs(text, 0, start)
    )


def _is_alone(heading: spans.Paragraph, rules: _TranscriberRules) -> bool:
    """Returns True if the heading of a note is alone on its line. The next line may underline it."""
    line, _, below = heading.text.partition("\n")
    found = rules.heading.match(line)
    behind = line[found.end() :] if found else ""
    return not behind.strip(" \t.:*=|_-") and (not below or bool(_SEPARATOR.fullmatch(below)))


def _are_short(paragraphs: Sequence[spans.Paragraph], rules: _TranscriberRules) -> bool:
    return all(len(one.text) <= rules.max_paragraph_characters for one in paragraphs)


def _speaks_as_note(paragraphs: Sequence[spans.Paragraph], rules: _TranscriberRules) -> bool:
    """Returns True if all paragraphs from a heading to the end of a book belong to a note."""
    speaking = 0
    for paragraph in paragraphs:
        patterns = (rules.words, rules.row)
        words = sum(1 for pattern in patterns for _ in pattern.finditer(paragraph.text))
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
    paragraphs = spans.split_paragraphs(text, 0, rules.max_characters)
    passages = list(_passages(text, paragraphs, rules))
    notes = list(passages)
    anchors = _finder(text[: rules.max_characters].lower())(rules.anchors)
    is_first = True  # True while no text of the book has been found
    brackets = functools.cache(lambda: spans.match_brackets(text))  # of few books
    at = 0
    for paragraph in paragraphs:
        if paragraph.start < at or any(start <= paragraph.start < end for start, end in passages):
            continue
        has_anchor = any(paragraph.start <= place < paragraph.end for place in anchors)
        if _is_head_note(paragraph, is_first, has_anchor, rules):
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


def _is_head_note(
    paragraph: spans.Paragraph, is_first: bool, has_anchor: bool, rules: _HeadRules
) -> bool:
    text = paragraph.text
    if len(text) > rules.max_note_characters:
        return False
    if has_anchor and rules.words.search(text):
        return True
    if rules.is_anywhere.match(text):
        return True
    is_evident = bool(has_anchor and rules.evidence.search(text))
    if not (is_first or is_evident):
        return False
    return (is_first and is_evident) or bool(rules.is_first.match(text))


def _passages(
    text: str, paragraphs: Sequence[spans.Paragraph], rules: _HeadRules
) -> Iterator[spans.Span]:
    starts = [one.start for one in paragraphs if rules.is_passage.match(text, one.start)]
    for passage in rules.passage:
        for start in starts:
            if found := passage.first.match(text, start):
                if last := passage.last.search(text, found.end(), start + passage.max_characters):
                    yield spans.with_blank_lines(text, start, last.end())
                break


def _near_line_start(text: str, position: int) -> int:
    """Returns the start of the line that contains `position`.

    In a very long line, returns `position` itself.
    """
    near = max(position - _MAX_BEFORE, 0)
    start = text.rfind("\n", near, position) + 1
    return start if start or not near else position


@functools.cache
def _rules() -> _Rules:
    return read_rules(read_toml(__package__, "notes.toml"), _Rules)
