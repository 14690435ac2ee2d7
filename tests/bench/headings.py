"""Headings learned from real dumps, beside those that people listed.

    CORPUSMILL_DATA=… python -m tests.bench.headings [DUMP.xml.bz2 …]

Of the wikis with tables of their own, in the samples: how many of the learned headings people listed, too,
and how many of those that people listed, and that have MIN_SECTIONS sections, were learned. What differs is
listed. Dumps that are named are only listed, with their counts.
"""

import bz2
import collections
import pathlib
import re
import sys
from collections.abc import Iterator

from tests.tools.real_data import DATA
from transforms.records import Page
from transforms.text.wikimedia.language import load_language
from transforms.text.wikimedia.mediawiki_xml import parse_page
from transforms.text.wikimedia.screening import ARTICLE_NAMESPACE
from transforms.text.wikimedia.wikitext.section_kinds import (
    MIN_SECTIONS,
    HeadingCounts,
    LearnedHeading,
    add_counts,
    count_headings,
    learn_headings,
)

DUMPS = {
    code: f"{code}wiki-20230501-pages-articles-multistream.xml.bz2"
    for code in ("el", "ja", "uk", "vi")
}
DUMPS["en"] = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)


def read_articles(path: pathlib.Path) -> Iterator[Page]:
    """Yield the articles of a dump."""
    for match in _PAGE.finditer(bz2.decompress(path.read_bytes())):
        page = parse_page(match[0])
        if page.namespace == ARTICLE_NAMESPACE and not page.is_redirect:
            yield page


def learn(path: pathlib.Path) -> tuple[list[LearnedHeading], dict[str, HeadingCounts]]:
    """Return what is learned from a dump, and the counts of all headings."""
    counts = collections.defaultdict(list)
    for page in read_articles(path):
        for key, one in count_headings(page.title, page.text):
            counts[key].append(one)
    table = {key: add_counts(ones) for key, ones in counts.items()}
    everywhere = collections.defaultdict(list)
    for key, one in table.items():
        everywhere[key.name].append(one)
    return learn_headings(table.items()), {
        name: add_counts(ones) for name, ones in everywhere.items()
    }


def compare(code: str, path: pathlib.Path) -> tuple[int, int, int, int, int]:
    """Print what differs. Return headings learned, right, listed, and sections of those listed and found."""
    language = load_language(code)
    listed = language.dropped_headings | language.dropped_top_headings
    learned, counts = learn(path)
    names = {heading.name for heading in learned}
    frequent = {name for name in listed & counts.keys() if counts[name].sections >= MIN_SECTIONS}
    for name in sorted(names ^ frequent):
        print(
            f"{code}\t{'learned only' if name in names else 'listed only'}\t{name}\t{counts[name]}"
        )
    sections = sum(counts[name].sections for name in listed & counts.keys())
    found = sum(counts[name].sections for name in listed & names)
    return len(names), len(names & listed), len(frequent), sections, found


def main() -> None:
    """Compare the samples, or list what is learned from the dumps that are named."""
    for path in map(pathlib.Path, sys.argv[1:]):
        for heading in learn(path)[0]:
            print(heading.name, heading.is_top_only, *heading.counts, sep="\t")
    if sys.argv[1:]:
        return
    rows = [(code, *compare(code, DATA / "wikipedia" / name)) for code, name in DUMPS.items()]
    for code, learned, right, frequent, sections, found in rows:
        print(
            f"{code}: {learned} learned, {right} of them listed; {frequent} listed with"
            f" {MIN_SECTIONS} sections, {right} learned;"
            f" {found} of {sections} sections ({found / sections:.0%})"
        )


if __name__ == "__main__":
    main()
