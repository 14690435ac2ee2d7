"""Measures the share of planted holes in the text of real pages that an audit finds, per class.

    CORPUSMILL_DATA=… python -m tests.bench.audit [--holes 200] [--classes CLASS …] [--seed 0] [--missed]

Pages of seven dumps are cleaned. For each hole a random page is damaged in one place, in its text or its
source, so that words are missing or superfluous. A hole is found in a class if the damaged page has a finding
of this class in that place that the undamaged page does not have.
"""

import argparse
import bz2
import collections
import functools
import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from corpusmill.transforms.wikipedia.mediawiki_xml import parse_page, parse_siteinfo
from corpusmill.transforms.wikipedia.screening import PageScreening
from corpusmill.transforms.wikitext.audit.find_holes import compare
from corpusmill.transforms.wikitext.audit.holes import (
    CLASSES,
    SENTENCE_END,
    Hole,
    counts_as_hole,
    is_prose,
    is_spaceless,
    words_of,
)
from corpusmill.transforms.wikitext.audit.source_view import view_source
from corpusmill.transforms.wikitext.clean import WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from tests.tools.real_data import DATA

DUMPS = {
    code: f"{code}wiki-20230501-pages-articles-multistream.xml.bz2"
    for code in ("uk", "vi", "el", "ja", "hy", "mr")
}
DUMPS["en"] = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
HIDDEN = ("file", "image", "media", "category")
MAX_CHARACTERS = 150_000  # of a page: thousands of comparisons are made
TRIES = 5_000  # pages looked at for a place to plant a hole in

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_BRACKETS = re.compile(r"[(（]([^()（）]+)[)）]|[“„]([^“”„]+)[”“]|«([^«»]+)»|「([^「」]+)」")


class Source(NamedTuple):
    """A page, and its text as the corpus has it."""

    title: str
    wikitext: str
    lines: list[str]  # paragraphs and headings
    hidden_namespaces: frozenset[str]

    def holes(self) -> list[Hole]:
        found = compare(view_source(self.wikitext, self.hidden_namespaces), self.lines)
        return [hole for hole in found.holes if counts_as_hole(hole, found.uses)]

    def edited(self, number: int, line: str) -> "Source":
        return self._replace(lines=[*self.lines[:number], line, *self.lines[number + 1 :]])


def load(code: str) -> list[Source]:
    """Cleans the pages of a dump."""
    data = bz2.decompress((DATA / "wikipedia" / DUMPS[code]).read_bytes())
    language, info = load_language(code), parse_siteinfo(data)
    screening = PageScreening(language, uses_template_names=True)
    cleaner = WikitextCleaner(language, info.namespaces)
    names = [name.casefold() for number in (-2, 6, 14) for name in info.namespaces.get(number, ())]
    pages = []
    for xml in _PAGE.findall(data):
        page = parse_page(xml)
        if len(page.text) <= MAX_CHARACTERS and not screening.reason_to_reject(page):
            sections = cleaner.clean(page.text, page.title).sections
            lines = [text for one in sections for text in (one.heading, *one.paragraphs) if text]
            pages.append(Source(page.title, page.text, lines, frozenset((*HIDDEN, *names))))
    return pages


Planter = Callable[[Source, int, random.Random], Source | None]


def _phrase(line: str, chance: random.Random, most: int = 4) -> tuple[int, int] | None:
    """Start and end of some words that follow each other, with a space or a like character before them."""
    words = words_of(line)
    if not is_prose(line, words):
        return None
    first = chance.randrange(1, len(words))
    spaceless = is_spaceless(line[words[first].start])
    size = chance.randint(2, 6) if spaceless else chance.randint(1, most)
    last = min(first + size, len(words)) - 1
    start, end = words[first].start, words[last].end
    if (not spaceless and line[start - 1] != " ") or re.search(r"[^\w\s]", line[start:end]):
        return None
    return start, end


def _without(line: str, start: int, end: int) -> str:
    """The line without a part, and with one space where there were two."""
    left, right = line[:start], line[end:]
    if left.endswith(" ") and (not right or right[0] in " .,;:)։।"):
        left = left.rstrip()
    return left + right


def plant_template(page: Source, number: int, chance: random.Random) -> Source | None:
    """A phrase becomes a template that is not shown."""
    line = page.lines[number]
    if not (phrase := _phrase(line, chance)):
        return None
    around = line[max(phrase[0] - 12, 0) : phrase[0]], line[phrase[1] : phrase[1] + 12]
    words = line[slice(*phrase)]
    if page.wikitext.count(words.join(around)) != 1:
        return None
    wikitext = page.wikitext.replace(words.join(around), "{{planted|qx}}".join(around))
    return page._replace(wikitext=wikitext).edited(number, _without(line, *phrase))


def plant_dropped_aside(page: Source, number: int, chance: random.Random) -> Source | None:
    """Turns the words in brackets into a template that is not shown, and removes the brackets."""
    line = page.lines[number]
    found = [one for one in re.finditer(r" ?[(（]([^()（）]+)[)）]", line) if words_of(one[1])]
    if not found or not is_prose(line, words_of(line)):
        return None
    one = chance.choice(found)
    if page.wikitext.count(f"({one[1]})") != 1:
        return None
    wikitext = page.wikitext.replace(f"({one[1]})", "({{planted|qx}})")
    rest = line[: one.start()] + line[one.end() :]
    return page._replace(wikitext=wikitext).edited(number, rest)


def plant_empty_brackets(page: Source, number: int, chance: random.Random) -> Source | None:
    """Brackets or quotation marks lose what is in them."""
    line = page.lines[number]
    found = [one for one in _BRACKETS.finditer(line) if words_of(one[0])]
    if not found:
        return None
    one = chance.choice(found)
    return page.edited(number, line[: one.start() + 1] + line[one.end() - 1 :])


def plant_punctuation(page: Source, number: int, chance: random.Random) -> Source | None:
    """A space comes before a stop or a comma, or a second comma after one."""
    line = page.lines[number]
    found = [
        one.start() for one in re.finditer(r"(?<=\w)[.,;،。、।](?=\s|$)|(?<=\w)[。、](?=\w)", line)
    ]
    found = [place for place in found if not line[place - 1].isdigit()]
    if not found:
        return None
    place = chance.choice(found)
    if (line[place] in "。、" and place + 1 < len(line)) or chance.random() < 0.3:
        return (
            page.edited(number, f"{line[: place + 1]}{line[place]}{line[place + 1 :]}")
            if (line[place] in ",、،;")
            else None
        )
    return page.edited(number, f"{line[:place]} {line[place:]}")


def plant_no_beginning(page: Source, number: int, chance: random.Random) -> Source | None:
    """A paragraph loses its first words; of what is left a reader sees that something is missing."""
    line = page.lines[number]
    words = words_of(line)
    if not is_prose(line, words):
        return None
    for word in words[1:12]:
        rest = line[word.start :]
        if rest[0].islower() or re.match("[はがをにのと](?![あ-ん])", rest):
            return page.edited(number, rest)
    found = re.match(r"[^,;、]{2,60}(?=[,;、])", line)
    return page.edited(number, line[found.end() :]) if found else None


def plant_no_end(page: Source, number: int, chance: random.Random) -> Source | None:
    """A paragraph ends after a colon, a comma or an opening bracket."""
    line = page.lines[number]
    if not is_prose(line, words_of(line)):
        return None
    found = [
        one.end() for one in re.finditer(r"(?<=\w)[:：,、،](?=\s|\w)|(?<=[\s\w])[(（](?=\w)", line)
    ]
    found = [end for end in found if len(line) - end > 15]
    return page.edited(number, line[: chance.choice(found)]) if found else None


def plant_before_block(page: Source, number: int, chance: random.Random) -> Source | None:
    """A paragraph ends after a colon, before a table or an indented image."""
    line = page.lines[number]
    if line[-1] not in SENTENCE_END or page.wikitext.count(f"\n{line}\n") != 1:
        return None
    block = chance.choice(("{|\n| x\n|}", ":[[File:A.png|9px]]"))
    wikitext = page.wikitext.replace(f"\n{line}\n", f"\n{line[:-1]}:\n{block}\n")
    return page._replace(wikitext=wikitext).edited(number, f"{line[:-1]}:")


def plant_dropped_words(page: Source, number: int, chance: random.Random) -> Source | None:
    """A phrase is missing."""
    line = page.lines[number]
    phrase = _phrase(line, chance, 6)
    return page.edited(number, _without(line, *phrase)) if phrase else None


def plant_unknown_value(page: Source, number: int, chance: random.Random) -> Source | None:
    """A sentence with a template is missing."""
    line = page.lines[number]
    ends = [one.end() for one in re.finditer(r"[.!?]\s+(?=[^\W\d_a-z])|[。।։](?=\s*\w)", line)]
    if not ends or not (phrase := _phrase(line, chance)):
        return None
    start = max((end for end in ends if end <= phrase[0]), default=0)
    end = min((end for end in ends if end >= phrase[1]), default=len(line))
    sentence = line[start:end]
    if page.wikitext.count(sentence.strip()) != 1 or end - start == len(line):
        return None
    if re.search(rf"^[*#:; |!].*{re.escape(sentence.strip())}", page.wikitext, re.MULTILINE):
        return None
    left, right = line[start : phrase[0]], line[phrase[1] : end]
    wikitext = page.wikitext.replace(sentence.strip(), f"{left}{{{{planted|qx}}}}{right}".strip())
    return page._replace(wikitext=wikitext).edited(number, (line[:start] + line[end:]).strip())


def plant_dropped_paragraph(page: Source, number: int, chance: random.Random) -> Source | None:
    """A paragraph is missing."""
    line = page.lines[number]
    found = re.search(rf"^.*{re.escape(line[:25])}", page.wikitext, re.MULTILINE)
    if not is_prose(line, words_of(line)) or not found or found[0][0] in "*#:; |!<{":
        return None
    return page._replace(lines=[*page.lines[:number], *page.lines[number + 1 :]])


def plant_dropped_quotation(page: Source, number: int, chance: random.Random) -> Source | None:
    """A paragraph stands in a template, which is not shown."""
    line = page.lines[number]
    if not is_prose(line, words_of(line)) or line[-1] not in SENTENCE_END:
        return None
    if page.wikitext.count(f"\n{line}\n") != 1:
        return None
    wikitext = page.wikitext.replace(f"\n{line}\n", f"\n{{{{planted|1={line}|2=Somebody}}}}\n")
    page = page._replace(wikitext=wikitext)
    return page._replace(lines=[*page.lines[:number], *page.lines[number + 1 :]])


@functools.cache
def hidden_texts(wikitext: str, hidden_namespaces: frozenset[str]) -> list[str]:
    """Pieces of captions, references and tables."""
    hidden = view_source(wikitext, hidden_namespaces).hidden
    return [text for one in hidden for text in re.findall(r"[^\[\]{}|<>=/]{30,}", one)]


def plant_added_words(page: Source, number: int, chance: random.Random) -> Source | None:
    """A caption, a part of a reference, or a piece of markup stands in a paragraph."""
    line = page.lines[number]
    if not (phrase := _phrase(line, chance)):
        return None
    added = chance.choice(("[[", "}}", "{|", "</div>", "'''"))
    if chance.random() < 0.75:
        if not (texts := hidden_texts(page.wikitext, page.hidden_namespaces)):
            return None
        added = chance.choice(texts).strip()
    return page.edited(number, f"{line[: phrase[0]]}{added} {line[phrase[0] :]}")


PLANTERS: dict[str, Planter] = {
    kind: globals()[f"plant_{kind.replace('-', '_')}"] for kind in CLASSES
}


def plant(kind: str, pages: Sequence[Source], chance: random.Random) -> tuple[Source, Source, int]:
    """A page, the page with a hole of the class, and the number of the line that has it."""
    for _ in range(TRIES):
        page = chance.choice(pages)
        if not page.lines:
            continue
        number = chance.randrange(len(page.lines))
        if planted := PLANTERS[kind](page, number, chance):
            return page, planted, number
    raise ValueError(f"no page has a place for {kind}")


def main() -> None:
    """Plants and counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--holes", type=int, default=200, help="of each class, all languages together"
    )
    parser.add_argument("--classes", nargs="+", choices=CLASSES, default=list(CLASSES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--missed", action="store_true", help="print the holes that were not found")
    settings = parser.parse_args()
    wikis = {code: load(code) for code in DUMPS}
    tally: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for kind in settings.classes:
        chance = random.Random(f"{settings.seed} {kind}")
        for number in range(settings.holes):
            code = list(wikis)[number % len(wikis)]
            page, planted, place = plant(kind, wikis[code], chance)
            new = collections.Counter(planted.holes()) - collections.Counter(page.holes())
            kinds = {hole.kind for hole in new}
            if any(hole.template == "Planted" for hole in new):
                kinds.add(kind)  # also where empty brackets are left of it
            tally[kind, code, "planted"] += 1
            tally[kind, code, "in class"] += kind in kinds
            tally[kind, code, "found"] += bool(kinds)
            if settings.missed and kind not in kinds:
                line = page.lines[place][:150]
                print("missed", kind, code, page.title, sorted(kinds), repr(line), sep="\t")
    print("| class | planted | found in its class | found in any | " + " | ".join(wikis) + " |")
    print("|---|---:|---:|---:|" + "---:|" * len(wikis))
    for kind in settings.classes:
        sums = [
            sum(tally[kind, code, what] for code in wikis)
            for what in ("planted", "in class", "found")
        ]
        shares = [
            f"{tally[kind, code, 'in class']}/{tally[kind, code, 'planted']}" for code in wikis
        ]
        shown = (sums[0], f"{sums[1] / sums[0]:.1%}", f"{sums[2] / sums[0]:.1%}", *shares)
        print(f"| {kind} | " + " | ".join(map(str, shown)) + " |")


if __name__ == "__main__":
    main()
