"""Finds differences between the wikitext of a page and its text in the corpus.

In this module, "the text" is the text of the page in the corpus. The differences are missing words, added
words and holes. A slot is a part of a wikitext line that is not text, such as a template. A hole is a place
where a slot left nothing in the text.

The lines of the wikitext are found in the text by sequences of three words, and then aligned word by word.
The rules use punctuation, case and position. Only Japanese, which has no case and no spaces, has a rule of
its own: a list of particles. The module does not use the cleaner.
"""

import collections
import difflib
import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from . import holes
from .source_view import FILE, SLOT, TABLE, Line, Slot, SourceView, name_of

SHINGLE = 3  # words
LONG_SPACELESS = 5  # characters; a match of so many is not by chance
FAR = 500  # words of a quotation
NEAR = 12  # max. distance of a short match from a long match, in words
MAX_POSITIONS = 50  # maximum for a sequence of words that is looked up
MIN_LOST_WORDS = 10  # of a paragraph; shorter lines may be notes about the page
MIN_NOTE_WORDS = 25  # of a paragraph, to count as prose in a section that is not in the text
MIN_ADDED_WORDS = 4
MAX_LABEL = 3  # characters of a code of a language, or of the sign of a note
CONTEXT = 60  # characters shown on each side

_EMPTY = re.compile(
    r"[(（\[［]\s*[,;:،、，；：.\s–—-]*\s*[)）\]］]|[“„]\s*[”“]|«\s*»|「\s*」|『\s*』|《\s*》|\"\"|‘\s*’"
    r"|[(（]\s*[,;،、，；:](?!\))|[,;،、，；–—]\s*[)）]"
)
_QUOTED_NOTHING = re.compile(r'(?:^|(?<=[\s(]))"\s*"(?=[\s,.;:)]|$)')
_LOOSE = re.compile(
    r"(?<=[^\s\d])[ \u00a0]+[.,;،。、，।॥։](?=\s|$)|[,;،、，]\s*[.,;،。、，।](?!\.)|(?<![.…])\.\s+[.,](?!\.)"
)
_MARKUP = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|</?[a-z]+[ />]|'''|\bthumb\|")
_ASIDE = re.compile(r"[(（][^\w()（）]*[)）]")
_ASIDE_START, _ASIDE_END = re.compile(r"[(（][^\w)）]*$"), re.compile(r"[^\w(（]*[)）]")
_BRACKET = re.compile("[()（）]")
_NOT_QUOTED = re.compile(
    r"\.(?:jpe?g|png|svg|gif|tiff?|og[gv]|webm)\b|^[*#|]|\n[*#|]", re.IGNORECASE
)
_IMAGE = re.compile(r"\.(?:jpe?g|png|svg|gif|tiff?|webp)\b", re.IGNORECASE)
_NOTES_WITHIN = re.compile(r"<ref\b[^<>]*/>|<ref\b[^<>]*>.*?</ref\s*>|\{\{[^{}]*\}\}", re.DOTALL)
_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_TAG = re.compile(r"</?[a-z]+[^<>]*>|''+", re.IGNORECASE)
_QUOTATION_END = (*holes.SENTENCE_END, *holes.CLOSING)
_ENDS_OPEN = re.compile(r"[:：,;،、，；(（„“«「『–—]$|(?<=\s)[-=+×]$")
_ARMENIAN_END = re.compile("[\u0531-\u0587].{0,80}:$")
_BEGINS_LOOSE = re.compile(r"^[,;:.،、，。；)）」』»”।%]")


def compare(source: SourceView, paragraphs: Sequence[str]) -> holes.Comparison:
    """Compares the wikitext of a page with the paragraphs and headings of its text in the corpus.

    The lines of `source` and the `paragraphs` must be in the order of the page.
    """
    return _Comparison(source, paragraphs).run()


class _Gap(NamedTuple):
    """A finding with its position in the corpus text, before findings at the same position are merged."""

    rank: int
    paragraph: int
    offset: int  # in the text of the paragraph
    hole: holes.Hole


_Ends = tuple[int | None, int | None]  # words of the text before and after a place
_RANKS = list(holes.CLASSES)
_PATTERNS = ("empty-brackets", "punctuation", "no-beginning", "no-end", "before-block")
_CODE = "syntaxhighlight source pre code gallery imagemap timeline score graph mapframe".split()
_BLOCKS = {TABLE, FILE, *(f"<{name}>" for name in _CODE)}


class _Comparison:
    def __init__(self, source: SourceView, paragraphs: Sequence[str]):
        self.source = source
        self.paragraphs = paragraphs
        found = [holes.words_of(paragraph) for paragraph in paragraphs]
        self.words = [word for words in found for word in words]  # of all paragraphs
        self.paragraph_of = [number for number, words in enumerate(found) for _ in words]
        self.first_word = [0, *itertools.accumulate(map(len, found))]  # of each paragraph
        self.origin: dict[int, tuple[int, int]] = {}  # word → line and word there
        self.gaps: list[_Gap] = []
        self.uses: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
        self.lines = [_Source(number, line) for number, line in enumerate(source.lines)]
        self.repeated = collections.Counter(line.norms for line in self.lines)
        self.index = _index([word.norm for word in self.words])
        text = "\n".join(line.text for line in source.lines)
        templates = (slot.wikitext for slot in source.slots if not slot.is_note)
        self.literal = _spaced("\n".join((SLOT.sub(self._literal_slot, text), *templates)))
        self.ends = "".join(f"{_spaced(line.text)[-4:]} " for line in source.lines)
        self.joined = f" {' '.join(word.norm for word in self.words)} "
        self.source_words = self.found_words = 0

    def run(self) -> holes.Comparison:
        self._align_all()
        for line in self.lines:
            if line.kind in ("text", "list", "code"):
                self._check_line(line)
            elif line.kind == "slots":
                before = self.lines[line.number - 1].kind if line.number else "heading"
                self._check_quotation(line, before in ("heading", "slots"))
        for number, paragraph in enumerate(self.paragraphs):
            self._check_patterns(number, paragraph)
            self._check_ends(number, paragraph)
        self._check_added()
        return holes.Comparison(
            len(self.paragraphs),
            self.source_words,
            self.found_words,
            [gap.hole for gap in _merged(self.gaps)],
            {name: holes.Uses(*counts) for name, counts in self.uses.items()},
        )

    def _literal_slot(self, found: re.Match[str]) -> str:
        """Returns the text that replaces a slot when the wikitext is searched.

        A slot is a part of the wikitext that is not text. In the lines of the wikitext, one character
        represents each slot; `found` is a match of this character. Code and formulas are replaced by their
        content. For other slots, the character is returned unchanged.
        """
        slot = self.source.slot(found[0])
        code = re.match(r"<[^<>]*>(.*)</", slot.wikitext, re.DOTALL)
        return code[1] if code and not slot.is_note else found[0]

    # Alignment.

    def _align_all(self) -> None:
        """Aligns all lines of the wikitext with the text in the corpus, word by word.

        Each word of the corpus text is aligned only once. So the most reliable lines are aligned first: lines
        that are identical to a paragraph, and then long lines.
        """
        whole: dict[tuple[str, ...], list[int]] = {}
        for paragraph, (first, end) in enumerate(itertools.pairwise(self.first_word)):
            norms = tuple(word.norm for word in self.words[first:end])
            whole.setdefault(norms, []).append(paragraph)
        waiting = []
        for line in self.lines:
            if paragraphs := whole.get(line.norms):
                first = self.first_word[paragraphs.pop(0)]
                self._claim(line, {i: first + i for i in range(len(line.words))})
            elif len(line.words) >= SHINGLE:
                waiting.append(line)
        doubtful = []
        for line in sorted(waiting, key=lambda one: -len(one.words)):
            found = self._align(line)
            if len(found) >= 0.8 * len(line.words):
                self._claim(line, found)
            else:
                doubtful.append(line)
        for line in doubtful:
            self._claim(line, self._align(line))
        self._align_short_paragraphs()

    def _align_short_paragraphs(self) -> None:
        """Aligns paragraphs of one or two words in the corpus with longer lines of the wikitext.

        A paragraph is aligned if exactly one line begins with its words. Lines that are already aligned are
        not considered.
        """
        starts: dict[tuple[str, ...], list[_Source]] = {}
        for line in self.lines:
            if line.kind == "text" and len(line.words) > SHINGLE and not line.found:
                for size in range(1, SHINGLE):
                    starts.setdefault(line.norms[:size], []).append(line)
        for first, end in itertools.pairwise(self.first_word):
            norms = tuple(word.norm for word in self.words[first:end])
            lines = starts.get(norms, ())
            if len(lines) == 1 and first not in self.origin:
                self._claim(lines[0], {i: first + i for i in range(len(norms))})

    def _claim(self, line: "_Source", found: dict[int, int]) -> None:
        line.found = {i: j for i, j in found.items() if j not in self.origin}
        self.origin |= {j: (line.number, i) for i, j in line.found.items()}

    def _align(self, line: "_Source") -> dict[int, int]:
        """Aligns a line of the wikitext with the text in the corpus, word by word.

        Returns index of a word in the line → index of the word in the corpus text. Words of the corpus text
        that are already aligned with another line are not used.
        """
        norms = [word.norm for word in line.words]
        hits = [
            (i, j)
            for i in range(len(norms) - SHINGLE + 1)
            for j in self.index.get(tuple(norms[i : i + SHINGLE]), ())
            if j not in self.origin
        ]
        if not hits:
            return {}
        votes = collections.Counter((j - i) // 16 for i, j in hits)
        best = max(votes, key=lambda one: (votes[one] + votes.get(one + 1, 0), -one))
        slack = len(norms) // 2 + 30
        near = [(i, j) for i, j in hits if abs(j - i - best * 16) <= slack]
        low = max(min(j - i for i, j in near) - 3, 0)
        high = min(max(j + len(norms) - i for i, j in near) + 3, len(self.words))
        window = [f"\0{j}" if j in self.origin else self.words[j].norm for j in range(low, high)]
        matcher = difflib.SequenceMatcher(None, norms, window, autojunk=False)
        blocks = matcher.get_matching_blocks()[:-1]
        long = LONG_SPACELESS if line.is_spaceless else SHINGLE
        anchors = [j - i for i, j, size in blocks if size >= min(long, len(norms))]
        return {
            i + step: low + j + step
            for i, j, size in blocks
            # Single words occur anywhere, so they must be near a long match.
            if size >= long or any(abs(j - i - anchor) <= NEAR for anchor in anchors)
            for step in range(size)
        }

    # Lines of the source.

    def _check_line(self, line: "_Source") -> None:
        found = line.found
        prose = holes.is_prose(line.text, line.words)
        if prose and line.kind == "text":
            self.source_words += len(line.words)
            self.found_words += len(found)
        least = 0.3 if line.kind == "text" else 0.6
        if len(found) < max(least * len(line.words), min(SHINGLE, len(line.words))):
            words = len(line.words) / (1 + line.is_spaceless)
            is_lost = self._is_lost_section(line.number)
            is_long = words >= (MIN_NOTE_WORDS if is_lost else MIN_LOST_WORDS)
            if prose and is_long and line.kind == "text":
                name = self._name_of_lost_value(line)
                kind = "unknown-value" if name else "dropped-paragraph"
                shown = self.source.wikitext(line.text)[: 4 * CONTEXT]
                self._add(kind, name, shown, -1, 0, holes.MARK)
            return
        if len(line.words) >= SHINGLE or self.repeated[line.norms] == 1:
            self._check_slots(line)
        if prose and line.kind == "text":
            self._check_words(line)

    def _name_of_lost_value(self, line: "_Source") -> str:
        """Returns the name of a template in the part of a line that is missing in the corpus text.

        Exactly one part of the line must be missing. It must consist of whole sentences, or of everything in
        a pair of brackets. If it is the whole line, it must be a single sentence. In all other cases, and if
        the part has no template, returns "".
        """
        runs = list(_runs([i for i in range(len(line.words)) if i not in line.found]))
        is_long = not line.found and any(
            mark in line.plain.strip()[:-1] for mark in holes.SENTENCE_END
        )
        if len(runs) != 1 or is_long:
            return ""
        return name_of(self.source.slots_in(_value_of_whole_sentence(line, *runs[0])))

    def _is_lost_section(self, number: int) -> bool:
        """Returns True if a whole section is missing in the corpus text, such as a list of references.

        `number` is the index, among all lines of the wikitext, of a line of the section.
        """
        first = last = number
        while first and self.lines[first - 1].kind != "heading":
            first -= 1
        while last + 1 < len(self.lines) and self.lines[last + 1].kind != "heading":
            last += 1
        return first > 0 and not any(line.found for line in self.lines[first : last + 1])

    def _check_slots(self, line: "_Source") -> None:
        for after, places in line.slots.items():
            slots = ((place, self.source.slot(line.text[place])) for place in places)
            values = [(place, slot) for place, slot in slots if not slot.is_note]
            shown = self._is_filled(line, after) if values else None
            if shown is None:
                continue
            shown = shown or any(self._is_shown(slot, line, after) for _, slot in values)
            places_of_values = [place for place, _ in values if _may_be_value(line.text, place)]
            for place, slot in values:
                self.uses[slot.name][0 if shown else 1 if place in places_of_values else 2] += 1
            if not shown and places_of_values:
                place = places_of_values[0]
                name = self.source.slot(line.text[place]).name
                ends = left, right = line.found.get(after), line.found.get(after + 1)
                around = SLOT.sub("", line.between(after))
                is_aside = _ASIDE.search(around) and not _BRACKET.search(self._between(left, right))
                kind = "dropped-aside" if is_aside else "template"
                self._add_at_word(kind, name, line, place, ends)

    def _is_filled(self, line: "_Source", after: int) -> bool | None:
        """Returns True if the corpus text contains something in place of the slots between two words.

        Slots are parts of the wikitext that are not text, such as templates. Returns None if the answer is
        unknown, because one of the two words is not found in the corpus text.

        Args:
          line: the line of the wikitext.
          after: the index of the word before the slots.
        """
        left, right = line.found.get(after), line.found.get(after + 1)
        has_left, has_right = after >= 0, after + 1 < len(line.words)
        if (has_left and left is None) or (has_right and right is None):
            return None
        if left is not None and right is not None:
            is_apart = right - left != 1
        elif left is not None:
            is_apart = not self._is_of_another_line(line.number, left + 1, left)
        elif right is not None:
            is_apart = not self._is_of_another_line(line.number, right - 1, right)
        else:
            return None
        return is_apart or self._has_symbols(self._between(left, right), line, after)

    def _is_shown(self, slot: Slot, line: "_Source", after: int) -> bool:
        """Returns True if the corpus text contains an argument of a template near the template's position.

        This is checked because the alignment may miss such an argument if its words are repeated nearby.

        Args:
          slot: the template.
          line: the line of the wikitext that contains the template.
          after: the index of the word before the template.
        """
        word = line.found.get(after, line.found.get(after + 1))
        assert word is not None
        near = [one.norm for one in self.words[max(word - 40, 0) : word + 40]]
        here = [one.norm for one in line.words]
        for argument in slot.arguments:
            wanted = [one.norm for one in holes.words_of(_NOTES_WITHIN.sub("", argument))[:NEAR]]
            if wanted and _count(wanted, near) > _count(wanted, here):
                return True
        return False

    def _is_of_another_line(self, number: int, word: int, beside: int) -> bool:
        """Returns True if a word of the corpus text does not belong to a given line of the wikitext.

        This is the case if the word is in another paragraph than its neighbour, or is aligned with another
        line.

        Args:
          number: the index of the line among all lines of the wikitext.
          word: the index of the word in the corpus text.
          beside: the index of the neighbour of the word; this neighbour belongs to the line.
        """
        is_beside = self._is_in_same_paragraph(word, beside)
        return not is_beside or (word in self.origin and self.origin[word][0] != number)

    def _is_in_same_paragraph(self, word: int, other: int) -> bool:
        number = self.paragraph_of[other]
        return self.first_word[number] <= word < self.first_word[number + 1]

    def _between(self, left: int | None, right: int | None) -> str:
        beside = right if left is None else left
        assert beside is not None
        number = self.paragraph_of[beside]
        if right is not None and self.paragraph_of[right] != number:
            return ""
        text = self.paragraphs[number]
        before = beside - 1 if left is None else left
        after = beside + 1 if right is None else right
        start = self.words[before].end if before >= self.first_word[number] else 0
        end = self.words[after].start if after < self.first_word[number + 1] else len(text)
        return text[start:end]

    def _has_symbols(self, between: str, line: "_Source", after: int) -> bool:
        """Returns True if the corpus text has, between two words, characters that the wikitext lacks there.

        Slots in the wikitext, such as templates, are ignored.

        Args:
          between: the characters between the two words in the corpus text.
          line: the line of the wikitext with which these words are aligned.
          after: the index of the first of the two words in the line.
        """
        source = line.between(after)
        if between and not between.strip() and not SLOT.sub("", source):
            return True  # a space in place of the slot
        more = collections.Counter(between) - collections.Counter(source)
        return any(not one.isspace() for one in more)

    def _check_words(self, line: "_Source") -> None:
        missing = [i for i in range(len(line.words)) if i not in line.found]
        for first, last in _runs(missing):
            ends = left, right = line.found.get(first - 1), line.found.get(last + 1)
            if (left is None and first > 0) or (right is None and last + 1 < len(line.words)):
                continue
            region = line.between(first - 1, last + 1)
            if self._has_other_words(line, first, last):
                continue
            if (
                left is not None
                and last - first >= SHINGLE - 1
                and self._begins_paragraph(line.norms[first : last + 1], left)
            ):
                continue  # after a quotation
            place = line.words[first].start
            if first == last and holes.is_spaceless(line.text[place]):
                continue
            value = _value_of_whole_sentence(line, first, last)
            slots = [slot for slot in self.source.slots_in(value or region) if not slot.is_note]
            kind = "unknown-value" if value and slots else "dropped-words"
            self._add_at_word(kind, name_of(slots), line, place, ends)

    def _has_other_words(self, line: "_Source", first: int, last: int) -> bool:
        """Returns True if the corpus text has other words in place of missing words of a line.

        Args:
          line: the line of the wikitext.
          first: the index of the first missing word in the line.
          last: the index of the last missing word.
        """
        left, right = line.found.get(first - 1), line.found.get(last + 1)
        if left is not None and right is not None:
            there = "".join(word.norm for word in self.words[left + 1 : right])
            is_same = there == "".join(line.norms[first : last + 1])
            is_long = (right - left - 1) * 2 > last - first + 1
            has_slot = SLOT.search(line.between(first - 1, last + 1))
            return right - left > 1 and (is_same or is_long or bool(has_slot))
        for beside, edge in ((left, (left or 0) + 1), (right, (right or 0) - 1)):
            if beside is not None:
                return self._is_in_same_paragraph(edge, beside) and edge not in self.origin
        return False

    def _begins_paragraph(self, norms: Sequence[str], word: int) -> bool:
        """Returns True if one of the next paragraphs after a word of the corpus text begins with `norms`.

        Args:
          norms: normalised words.
          word: the index of the word in the corpus text. Only paragraphs that begin at most 500 words (FAR)
            after it are searched.
        """
        for number in range(self.paragraph_of[word] + 1, len(self.paragraphs)):
            start = self.first_word[number]
            if start > word + FAR:
                return False
            if norms == tuple(one.norm for one in self.words[start : start + len(norms)]):
                return True
        return False

    def _check_quotation(self, line: "_Source", is_first: bool) -> None:
        """Records a finding for each template in a line if the corpus text lacks the prose in the template.

        Args:
          line: a line of the wikitext that contains only templates.
          is_first: True if the line is at the beginning of the page, or the previous line is a heading or
            also contains only templates. In this case, templates with links are skipped: they are probably
            notes about the page.
        """
        for slot in self.source.slots_in(line.text):
            if slot.is_note or any(map(_NOT_QUOTED.search, slot.arguments)):
                continue
            if is_first and "[[" in slot.wikitext:  # a note about the page, above its text
                continue
            if len(slot.arguments[0] if slot.arguments else "") <= MAX_LABEL:
                continue  # an original beside its translation, "{{x|en|…}}", or a note, "{{x|A|…}}"
            for argument in slot.arguments:
                argument = _TAG.sub("", _LINK.sub(r"\1", _NOTES_WITHIN.sub("", argument))).strip()
                words = holes.words_of(argument)
                if "//" in argument or not holes.is_prose(argument, words):
                    continue
                if not argument.endswith(_QUOTATION_END):
                    continue
                is_spaceless = holes.is_spaceless(argument[words[0].start])
                size = LONG_SPACELESS * 2 if is_spaceless else SHINGLE
                starts = range(0, max(len(words) - size, 1), size)
                pieces = [" ".join(one.norm for one in words[i : i + size]) for i in starts]
                there = sum(f" {piece} " in self.joined for piece in pieces)
                if there < 0.3 * len(pieces):
                    shown = slot.wikitext[: 4 * CONTEXT]
                    self._add("dropped-quotation", slot.name, shown, -1, 0, holes.MARK)
                break

    # Paragraphs of the text.

    def _check_patterns(self, number: int, paragraph: str) -> None:
        for kind, pattern in (
            ("empty-brackets", _EMPTY),
            ("empty-brackets", _QUOTED_NOTHING),
            ("punctuation", _LOOSE),
            ("added-words", _MARKUP),
        ):
            for found in pattern.finditer(paragraph):
                if pattern is _MARKUP and found[0][0] == "<" and found[0] in self.literal:
                    continue  # shown by the author, as code
                if not self._is_in_source(paragraph, *found.span()):
                    self._add_in_text(kind, number, found.start())

    def _is_in_source(self, paragraph: str, start: int, end: int) -> bool:
        """Returns True if a part of a corpus paragraph is in the wikitext as it is, with no template inside.

        The part extends from the offset `start` to `end`.
        """
        here = paragraph[start:end]
        around = paragraph[max(start - 12, 0) : end], paragraph[start : end + 12]
        if any(_spaced(one) in self.literal for one in around if len(one) > len(here) + 1):
            return True
        return end == len(paragraph) and _spaced(f"{here}\n") in self.ends

    def _check_ends(self, number: int, paragraph: str) -> None:
        first = self.first_word[number]
        last = self.first_word[number + 1] - 1
        if last < first:
            return
        begin, end = self.origin.get(first), self.origin.get(last)
        if any(len(self.lines[one[0]].words) < SHINGLE for one in (begin, end) if one):
            return  # "where": the page may have several such lines
        if begin and self.lines[begin[0]].kind == "text":
            self._check_beginning(number, paragraph, *begin)
        is_open = bool(end and _ENDS_OPEN.search(paragraph))
        if end and self.lines[end[0]].kind != "text":  # an item: its list may go on
            is_open &= end[1] + 1 < len(self.lines[end[0]].words)
        if end and is_open and _ARMENIAN_END.search(paragraph):  # ":" for "։", if nothing follows
            is_open = any(one.kind == "list" for one in self.lines[end[0] + 1 : end[0] + 2])
        if end and is_open and not self._goes_on(*end, last + 1):
            kind = "before-block" if self._is_before_block(*end) else "no-end"
            self._add_in_text(kind, number, len(paragraph))

    def _goes_on(self, number: int, word: int, next_word: int) -> bool:
        """Returns True if the corpus text continues in the same way as the wikitext after a given word.

        Also returns True if it continues with words of a template or formula that follows this word. The
        template or formula may be on the same line, alone on a line, or at the beginning of the next line.

        Args:
          number: the index of the line among all lines of the wikitext.
          word: the index of a word in this line; the wikitext after it is compared.
          next_word: the index of the word at which the corpus text continues.
        """
        line = self.lines[number]
        if word + 1 < len(line.words) and line.found.get(word + 1) == next_word:
            return True
        if next_word >= len(self.words):
            return False
        end = self.first_word[self.paragraph_of[next_word] + 1]
        ahead = range(next_word, min(next_word + NEAR, end))
        if self._is_shown_ahead(line.between(word), ahead):
            return True
        if word + 1 < len(line.words):
            return False
        start = [self.words[j].norm for j in ahead[:2]]
        for following in range(number + 1, len(self.lines)):
            one = self.lines[following]
            if any(slot.name == TABLE for slot in self.source.slots_in(one.text)):
                return False
            if self._is_shown_ahead(one.text, ahead):
                return True
            if one.kind != "slots":
                return any(self.origin.get(j, (-1,))[0] == following for j in ahead) or (
                    start == [word.norm for word in one.words[: len(start)]]
                )
        return False

    def _is_before_block(self, number: int, word: int) -> bool:
        """Returns True if a table, an image or code follows a line of the wikitext.

        Returns False if `word` is not the last word of the line.

        Args:
          number: the index of the line among all lines of the wikitext.
          word: the index in the line of its last word that is in the corpus text.
        """
        line = self.lines[number]
        if word + 1 < len(line.words):
            return False
        ahead = [line.between(word)]
        for one in self.lines[number + 1 :]:
            if one.kind == "code":
                return True
            if one.words and one.kind != "heading":
                break
            ahead.append(one.text)
        slots = self.source.slots_in("".join(ahead))
        return any(slot.name in _BLOCKS or _IMAGE.search(slot.wikitext) for slot in slots)

    def _is_shown_ahead(self, text: str, ahead: Sequence[int]) -> bool:
        """Returns True if consecutive words of the corpus text may come from a template or formula.

        Args:
          text: the part of the wikitext that contains the template or formula.
          ahead: the indexes of the words in the corpus text.
        """
        values = [slot for slot in self.source.slots_in(text) if not slot.is_note]
        start = [self.words[j].norm for j in ahead[:2]]
        if any(_count(start, slot.norms) for slot in values):
            return True
        # The words may be spelled in another way. Then they are not aligned with any line.
        return bool(values) and ahead[0] not in self.origin

    def _check_beginning(self, number: int, paragraph: str, line_number: int, word: int) -> None:
        before = self.lines[line_number].between(word - 1)
        start = paragraph[0]
        is_lower = start.islower() or _is_particle(paragraph)
        if not is_lower and not _BEGINS_LOOSE.match(paragraph):
            return
        if word > 0:
            if is_lower and not before.strip() and word - 1 in self.lines[line_number].found:
                return  # a line that was cut into paragraphs
        elif not SLOT.search(before) and before.strip()[:1] in ("", start):
            return  # the author's own
        slots = self.source.slots_in(before)
        if word == 0 and slots and all(slot.is_note for slot in slots) and is_lower:
            return
        first = self.first_word[number]
        preceding = [one.norm for one in self.words[max(first - 2, 0) : first]]
        if word == 0 and any(preceding and _count(preceding, slot.norms) for slot in slots):
            return  # after a quotation, which is a paragraph of its own
        self._add_in_text("no-beginning", number, 0)

    def _check_added(self) -> None:
        """Records a finding for each run of words in the corpus text that comes from hidden wikitext.

        Hidden parts of the wikitext are not displayed on the page. A run of words comes from them if more
        than half of its sequences of three words occur in them, and nowhere else in the wikitext.
        """
        unmatched = [j for j in range(len(self.words)) if j not in self.origin]
        runs = [run for run in _runs(unmatched) if run[1] - run[0] + 1 >= MIN_ADDED_WORDS]
        if not runs:
            return
        shown = set(_index([word.norm for line in self.lines for word in line.words]))
        for slot in self.source.slots:
            if not slot.is_note and not slot.name.startswith("<"):
                shown |= set(_index([word.norm for word in holes.words_of(slot.wikitext)]))
        hidden = set()
        for text in self.source.hidden:
            hidden |= set(_index([word.norm for word in holes.words_of(text)]))
        for first, last in runs:
            pieces = set(_index([word.norm for word in self.words[first : last + 1]]))
            if len(pieces & hidden - shown) * 2 > len(pieces):
                self._add_in_text("added-words", self.paragraph_of[first], self.words[first].start)

    # Findings.

    def _add_in_text(self, kind: str, number: int, offset: int) -> None:
        paragraph = self.paragraphs[number]
        words = range(self.first_word[number], self.first_word[number + 1])
        near = [j for j in words if j in self.origin]
        source = name = ""
        if near:
            closest = min(near, key=lambda j: abs(self.words[j].start - offset))
            line_number, word = self.origin[closest]
            line = self.lines[line_number]
            is_before = self.words[closest].start < offset
            place = line.words[word].end if is_before else line.words[word].start
            source = self._around_source(line, place)
            slots = self.source.slots_in(line.between(word if is_before else word - 1))
            name = name_of(slots) or next((slot.name for slot in slots), "")
        self._add(kind, name, source, number, offset, _around(paragraph, offset))

    def _add_at_word(self, kind: str, name: str, line: "_Source", place: int, ends: _Ends) -> None:
        left, right = ends
        if left is not None:
            number, offset = self.paragraph_of[left], self.words[left].end
        elif right is not None:
            number, offset = self.paragraph_of[right], self.words[right].start
        else:
            number, offset = -1, 0
        text = _around(self.paragraphs[number], offset) if number >= 0 else holes.MARK
        self._add(kind, name, self._around_source(line, place), number, offset, text)

    def _around_source(self, line: "_Source", place: int) -> str:
        left = self.source.wikitext(line.text[max(place - CONTEXT, 0) : place])[-2 * CONTEXT :]
        right = self.source.wikitext(line.text[place : place + CONTEXT])[: 3 * CONTEXT]
        return left + right

    def _add(self, kind: str, name: str, source: str, number: int, offset: int, text: str) -> None:
        hole = holes.Hole(kind, name, source, text)
        self.gaps.append(_Gap(_RANKS.index(kind), number, offset, hole))


class _Source:
    """A line of the wikitext, with its words and the slots between them (templates, formulas and so on)."""

    def __init__(self, number: int, line: Line):
        self.number = number  # of the line
        self.found: dict[int, int] = {}  # word of the line → word of the text in the corpus
        self.kind = line.kind
        self.text = line.text
        self.plain = SLOT.sub("", line.text)
        self.words = holes.words_of(line.text)
        self.norms = tuple(word.norm for word in self.words)
        spaceless = sum(holes.is_spaceless(line.text[word.start]) for word in self.words)
        self.is_spaceless = 2 * spaceless > len(self.words)
        self.slots: dict[int, list[int]] = {}  # word before the slots, or -1 → places in the text
        after = -1
        for found in SLOT.finditer(line.text):
            while after + 1 < len(self.words) and self.words[after + 1].end <= found.start():
                after += 1
            self.slots.setdefault(after, []).append(found.start())

    def between(self, after: int, before: int | None = None) -> str:
        """Returns the part of the line between two words, with the indexes `after` and `before`.

        `before` is the next word, unless it is given. The part includes the characters that represent
        templates and other slots. If `after` is -1, it begins with the line, and if `before` is the number of
        words, it ends with the line.
        """
        before = after + 1 if before is None else before
        start = self.words[after].end if after >= 0 else 0
        end = self.words[before].start if before < len(self.words) else len(self.text)
        return self.text[start:end]


def _merged(gaps: Sequence[_Gap]) -> list[_Gap]:
    """Merges findings at nearly the same position. Returns one finding for each position.

    Of the merged findings, the one that is visible as an error in the corpus text is kept, for example empty
    brackets. If it names no template, it gets the template of the other finding.
    """
    kept: list[_Gap] = []
    for gap in sorted(gaps, key=lambda one: (one.paragraph, one.offset, one.rank)):
        last = kept[-1] if kept else None
        if last and -1 < gap.paragraph == last.paragraph and gap.offset - last.offset <= 4:
            ranked = sorted((last, gap), key=lambda one: (one.hole.kind not in _PATTERNS, one.rank))
            name = ranked[0].hole.template or ranked[1].hole.template
            hole = ranked[0].hole._replace(template=name)
            kept[-1] = ranked[0]._replace(offset=gap.offset, hole=hole)
        else:
            kept.append(gap)
    return kept


def _index(norms: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Returns each sequence of 3 words (SHINGLE) in a text → the indexes of the words at which it begins.

    `norms` are the normalised words of the text, in order.
    """
    index: dict[tuple[str, ...], list[int]] = {}
    for start in range(len(norms) - SHINGLE + 1):
        places = index.setdefault(tuple(norms[start : start + SHINGLE]), [])
        if len(places) < MAX_POSITIONS:
            places.append(start)
    return index


def _count(wanted: Sequence[str], words: Sequence[str]) -> int:
    """Returns the number of times that the sequence `wanted` occurs in `words`."""
    size = len(wanted)
    return sum(
        list(words[start : start + size]) == list(wanted)
        for start in range(len(words) - size + 1)
        if words[start] == wanted[0]
    )


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields (first number, last number) for each run of consecutive numbers."""
    for _, run in itertools.groupby(enumerate(numbers), key=lambda one: one[1] - one[0]):
        of_run = [number for _, number in run]
        yield of_run[0], of_run[-1]


def _value_of_whole_sentence(line: "_Source", first: int, last: int) -> str:
    """Returns the slots among the missing words of a line that may stand for a word or a number.

    A slot is a part of the line that is not text, such as a template. The line has one character for each
    slot, and the result consists of these characters. The result is "" unless the missing words are whole
    sentences, or everything in a pair of brackets.

    If the word after the missing words is equal to the first missing word, it is unknown which of the two
    equal words is missing. So the run of words that begins and ends one word later is also tried.

    Args:
      line: the line of the wikitext.
      first: the index of the first word that is missing in the corpus text.
      last: the index of the last word that is missing.
    """
    words = line.words
    while not _is_whole(line, first, last):
        if last + 1 == len(words) or words[first].norm != words[last + 1].norm:
            return ""
        first, last = first + 1, last + 1
    start = words[first - 1].end if first else 0
    end = words[last + 1].start if last + 1 < len(words) else len(line.text)
    places = (found.start() for found in SLOT.finditer(line.text, start, end))
    return "".join(
        line.text[place]
        for place in places
        if _may_be_value(line.text, place) or _follows_comma(line.text, place)
    )


def _follows_comma(text: str, place: int) -> bool:
    """Returns True if a slot, such as a template, is between a comma or similar sign and a letter.

    `text` is the line of the wikitext, and `place` the offset of the slot.
    """
    return text[:place][-1:] in tuple(holes.CLAUSE_END) and holes.is_letter(text[place + 1 :][:1])


def _is_whole(line: "_Source", first: int, last: int) -> bool:
    before, after = (SLOT.sub("", line.between(word)).strip() for word in (first - 1, last))
    is_start = not first or any(mark in before for mark in holes.SENTENCE_END)
    is_end = last + 1 == len(line.words) or any(mark in after for mark in holes.SENTENCE_END)
    is_aside = _ASIDE_START.search(before) and _ASIDE_END.match(after)
    return bool(is_aside) or (is_start and is_end)


def _may_be_value(text: str, place: int) -> bool:
    """Returns True if a slot, such as a template, may stand for a word or a number.

    Returns False if it can only be a note, such as a footnote mark. This is judged from the text around the
    slot. `text` is the line of the wikitext, and `place` the offset of the slot.
    """
    left, right = SLOT.sub("", text[:place]), SLOT.sub("", text[place:])
    near_left, near_right = left[-1:], right[:1]
    word_left, word_right = left.rstrip()[-1:], right.lstrip()[:1]
    if not word_left:
        is_inside = word_right.islower() or word_right in holes.CLAUSE_END + holes.CLOSING
        return bool(word_right) and (is_inside or _is_particle(right.lstrip()))
    if word_left in holes.SENTENCE_END and not (word_right.islower() and near_left == " "):
        return False
    if near_left == word_left and word_left in holes.CLAUSE_END + holes.CLOSING:
        return False
    if near_left in holes.OPENING or near_left.isspace() or unicodedata.category(near_left) == "Sc":
        return True
    if not word_right:
        return False
    if not holes.is_spaceless(near_left):
        return holes.is_letter(near_right)
    if near_right and near_right not in holes.SENTENCE_END + holes.CLAUSE_END + holes.CLOSING:
        return True
    return near_left in "はがをにのとで"


_PARTICLES = re.compile("(?:は|が|を|に|の|と|も|で|へ|や|から|まで|より)(?![あ-んー])")


def _is_particle(text: str) -> bool:
    """Returns True if a Japanese text begins with a particle, so that a word must precede it."""
    return bool(_PARTICLES.match(text))


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _around(text: str, offset: int) -> str:
    return text[max(offset - CONTEXT, 0) : offset] + holes.MARK + text[offset : offset + CONTEXT]
