"""Compares the headings learned from real dumps with the headings listed by people.

    CORPUSMILL_DATA=… python -m tests.bench.headings [CODE=DUMP …]

Prints for each wiki the precision (share of the learned headings that people listed) and the recall (share of
the listed headings with enough sections that were learned), and lists the differences. For wikis without
listed headings, all learned headings are listed.

Without arguments, the dumps are the samples on which the thresholds were chosen. Each sample is then also
measured with the thresholds that are best for the other samples. If several are best, the worst and the
median result are printed.
"""

import collections
import itertools
import pathlib
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia.mediawiki_xml import parse_page
from corpusmill.transforms.wikipedia.read_dumps import plan_units, read_good_pages
from corpusmill.transforms.wikipedia.screening import ARTICLE_NAMESPACE
from corpusmill.transforms.wikitext.language import has_own_tables, load_language
from corpusmill.transforms.wikitext.sections import (
    THRESHOLDS,
    HeadingCounts,
    HeadingKey,
    Thresholds,
    add_counts,
    count_headings,
    learn_headings,
)
from tests.tools.real_data import DATA

DUMPS = {
    code: f"{code}wiki-20230501-pages-articles-multistream.xml.bz2"
    for code in ("el", "ja", "uk", "vi")
}
DUMPS["en"] = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"

SHARES = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
REFERRING = (0.1, 0.2, 0.3, 0.4, 0.5)
GRID = [
    Thresholds(min_without_prose=prose, min_closing=closing, min_referring=referring)
    for prose, closing, referring in itertools.product(SHARES, SHARES, REFERRING)
]


class Wiki(NamedTuple):
    """The counts of a dump."""

    code: str
    articles: int
    counts: Mapping[HeadingKey, HeadingCounts]

    def sections(self) -> dict[str, int]:
        """Heading → sections at all levels."""
        sections = collections.Counter[str]()
        for key, one in self.counts.items():
            sections[key.name] += one.sections
        return sections

    def listed(self) -> frozenset[str]:
        """The headings in the tables of this wiki."""
        language = load_language(self.code)
        return language.dropped_headings | language.dropped_top_headings

    def learned(self, least: Thresholds = THRESHOLDS) -> set[str]:
        """The headings that are learned."""
        return {heading.name for heading in learn_headings(self.counts.items(), least)}


class Score(NamedTuple):
    """Headings."""

    learned: int
    right: int  # of these in the table
    frequent: int  # in the table, with enough sections

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.learned + self.frequent)


def read_articles(path: pathlib.Path) -> Iterator[Page]:
    """Yield the articles of a dump, also of one that is cut."""
    for unit in plan_units(str(path), stripes=1):
        for xml in read_good_pages(unit, "keep-good", "bench"):
            page = parse_page(xml)
            if page.namespace == ARTICLE_NAMESPACE and not page.is_redirect:
                yield page


def count(code: str, path: pathlib.Path) -> Wiki:
    """Count what stands under the headings of a dump."""
    counts = collections.defaultdict(list)
    articles = 0
    for page in read_articles(path):
        articles += 1
        for key, one in count_headings(page.title, page.text):
            counts[key].append(one)
    return Wiki(code, articles, {key: add_counts(ones) for key, ones in counts.items()})


def score(wiki: Wiki, least: Thresholds = THRESHOLDS) -> Score:
    """Compare what is learned with the table of the wiki."""
    learned, listed, sections = wiki.learned(least), wiki.listed(), wiki.sections()
    frequent = {name for name in listed if sections.get(name, 0) >= least.min_sections}
    return Score(len(learned), len(learned & listed), len(frequent))


def print_differences(wiki: Wiki) -> None:
    """List what is learned and not listed, and what is listed, frequent, and not learned."""
    learned, sections = wiki.learned(), wiki.sections()
    frequent = {name for name in wiki.listed() if sections.get(name, 0) >= THRESHOLDS.min_sections}
    for key, one in sorted(wiki.counts.items()):
        if key.name in learned ^ frequent:
            print(wiki.code, "learned" if key.name in learned else "missed", *key, *one, sep="\t")


def print_score(wiki: Wiki) -> None:
    """Print a line of figures."""
    learned, right, frequent = score(wiki)
    print(f"{wiki.code}: {wiki.articles:,} articles; {learned} headings learned", end="")
    if has_own_tables(wiki.code):
        names, sections = wiki.learned(), wiki.sections()
        of_listed = {name: sections.get(name, 0) for name in wiki.listed()}
        found = sum(of_listed[name] for name in names & of_listed.keys())
        listed = sum(of_listed.values())
        print(f", {right} of them listed; {frequent} listed and frequent", end="")
        print(f"; {found} of {listed} sections ({found / listed:.0%})", end="")
    print()


def hold_out(code: str, scores: Mapping[str, Sequence[Score]]) -> list[Score]:
    """Return the scores of a wiki by the thresholds that are best for the others, the worst first.

    Args:
        code: the wiki.
        scores: code → score by each of GRID.
    """
    others = [of_other for other, of_other in scores.items() if other != code]
    means = [
        round(statistics.mean(score.f1 for score in of_all), 9)
        for of_all in zip(*others, strict=True)
    ]
    by_best = [one for one, mean in zip(scores[code], means, strict=True) if mean == max(means)]
    return sorted(by_best, key=lambda one: one.f1)


def main() -> None:
    """Compare the samples, or what is learned from the dumps that are named."""
    given = dict(one.split("=", 1) for one in sys.argv[1:])
    dumps = {code: pathlib.Path(path) for code, path in given.items()}
    chosen_by = {code: DATA / "wikipedia" / name for code, name in DUMPS.items()}
    wikis = [count(code, path) for code, path in (dumps or chosen_by).items()]
    for wiki in wikis:
        print_differences(wiki)
    for wiki in wikis:
        print_score(wiki)
    if not dumps:
        scores = {wiki.code: [score(wiki, least) for least in GRID] for wiki in wikis}
        for code in scores:
            by_best = hold_out(code, scores)
            print(
                f"{code}, by the {len(by_best)} of {len(GRID)} thresholds that are best for the others:"
            )
            print(f"    the worst {by_best[0]}")
            print(f"    the median {by_best[len(by_best) // 2]}")


if __name__ == "__main__":
    main()
