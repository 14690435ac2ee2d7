"""Compares the cleaner with other cleaners on one core: speed, cost by page size, and words kept.

    CORPUSMILL_DATA=… python -m tests.bench.wikitext [--rounds N] [--damage-tool ../shared/tools/damage.py]

The others are wikiextractor (as with --no-templates) and mwparserfromhell's `strip_code`. MB are of wikitext
in UTF-8; the best round counts. Run it on an idle machine.

Words are compared twice: those of the whole page, and those of the page without the parts that corpusmill
leaves out on purpose (lists, indented lines, the sections dropped by `languages/*.toml`, formulas), so that
only running text is compared.
"""

import argparse
import bz2
import logging
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import mwparserfromhell
from wikiextractor.extract import Extractor

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia.mediawiki_xml import parse_page, parse_siteinfo
from corpusmill.transforms.wikipedia.screening import PageScreening
from corpusmill.transforms.wikitext.clean import CleanedPage, WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.sections import drop_sections, split_sections
from tests.tools.real_data import DATA

DUMPS = {
    "en": "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2",
    "uk": "ukwiki-20230501-pages-articles-multistream.xml.bz2",
    "vi": "viwiki-20230501-pages-articles-multistream.xml.bz2",
    "el": "elwiki-20230501-pages-articles-multistream.xml.bz2",
}
PAGE_BYTES = (10_000, 100_000, 1_000_000, 10_000_000)
BYTES_PER_SIZE = 10_000_000
MIN_PARAGRAPH = 40  # characters, as in damage.py

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_LIST_LINE = re.compile(r"^[*#:;].*$", re.MULTILINE)
_FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)


class Wiki(NamedTuple):
    """The articles of a sample dump, and the cleaner of its language."""

    code: str
    cleaner: WikitextCleaner
    articles: list[Page]

    @property
    def megabytes(self) -> float:
        return sum(len(page.text.encode()) for page in self.articles) / 1e6

    def clean(self, page: Page) -> CleanedPage:
        return self.cleaner.clean(page.text, page.title)

    def paragraphs(self, page: Page) -> list[str]:
        return [text for section in self.clean(page).sections for text in section.paragraphs]

    def running_text(self, wikitext: str) -> str:
        """The wikitext without lists, dropped sections and formulas."""
        text = _LIST_LINE.sub("", _FORMULA.sub("", wikitext))
        kept = drop_sections(split_sections(text), self.cleaner.is_dropped)
        return "\n".join(
            f"{'=' * one.level}{one.heading}{'=' * one.level}\n{one.body}" for one in kept
        )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--damage-tool", type=pathlib.Path, help="counts paragraphs where markup was cut out badly"
    )
    settings = parser.parse_args()
    rounds = settings.rounds
    logging.disable(logging.CRITICAL)  # wikiextractor tells of every odd template
    wikis = [load_wiki(code) for code in DUMPS]
    print_speeds(wikis, rounds)
    print_cost_by_size(wikis, rounds)
    print_words(wikis)
    if settings.damage_tool:
        print_damage(wikis, settings.damage_tool)


def load_wiki(code: str) -> Wiki:
    """Reads the articles that a build would clean."""
    data = bz2.decompress((DATA / "wikipedia" / DUMPS[code]).read_bytes())
    language = load_language(code)
    screening = PageScreening(language, uses_template_names=True)
    pages = (parse_page(xml) for xml in _PAGE.findall(data))
    articles = [page for page in pages if not screening.reason_to_reject(page)]
    cleaner = WikitextCleaner(language, parse_siteinfo(data).namespaces)
    return Wiki(code, cleaner, articles)


def print_speeds(wikis: Sequence[Wiki], rounds: int) -> None:
    """MB/s of each cleaner on each wiki."""
    print("wiki     MB   corpusmill  wikiextractor         strip_code      (MB/s of wikitext)")
    for wiki in wikis:
        ours, extractor, strip = (
            wiki.megabytes / best_seconds(clean, wiki.articles, rounds)
            for clean in (wiki.clean, extract, strip_code)
        )
        print(
            f"{wiki.code}   {wiki.megabytes:6.1f}   {ours:8.1f}   {extractor:8.1f}"
            f" ({ours / extractor:4.2f} x)   {strip:8.2f} ({ours / strip:4.1f} x)"
        )


def best_seconds(clean: Callable[[Page], object], pages: Sequence[Page], rounds: int) -> float:
    """The processor time of the fastest round over all pages."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for page in pages:
            clean(page)
        times.append(time.process_time() - start)
    return min(times)


def extract(page: Page) -> list[str]:
    """The page by wikiextractor, as with --no-templates."""
    extractor = Extractor(page.page_id, page.revision_id, "", page.title, [])
    lines: list[str] = extractor.clean_text(page.text, expand_templates=False, html_safe=False)
    return lines


def strip_code(page: Page) -> str:
    """The page by mwparserfromhell."""
    return str(mwparserfromhell.parse(page.text).strip_code())


def print_cost_by_size(wikis: Sequence[Wiki], rounds: int) -> None:
    """Seconds per MB for pages of ever more of the same text."""
    print("\npage bytes  seconds per MB, by wiki")
    for size in PAGE_BYTES:
        costs = []
        for wiki in wikis:
            pages = pages_of_size(wiki, size)
            megabytes = sum(len(page.text.encode()) for page in pages) / 1e6
            costs.append(best_seconds(wiki.clean, pages, rounds) / megabytes)
        shown = "   ".join(
            f"{wiki.code} {cost:.4f}" for wiki, cost in zip(wikis, costs, strict=True)
        )
        print(f"{size:10,}  {shown}")


def pages_of_size(wiki: Wiki, size: int) -> list[Page]:
    """About BYTES_PER_SIZE of the wiki's text in pages of one size, cut at blank lines."""
    text = "\n\n".join(page.text for page in wiki.articles)
    text *= -(-BYTES_PER_SIZE // len(text.encode()))
    per_character = len(text.encode()) / len(text)
    step = int(size / per_character)
    count = max(BYTES_PER_SIZE // size, 1)
    starts = [text.find("\n\n", number * step) for number in range(count)]
    pieces = [text[start : start + step] for start in starts]
    return [wiki.articles[0]._replace(text=piece) for piece in pieces]


def print_words(wikis: Sequence[Wiki]) -> None:
    """Words in paragraphs per article: of whole pages, and of what both take for running text."""
    print("\n      whole pages               running text alone         (words per article)")
    print("wiki  corpusmill wikiextractor  corpusmill wikiextractor")
    for wiki in wikis:
        plain = [page._replace(text=wiki.running_text(page.text)) for page in wiki.articles]
        counts = [
            sum(count_words(clean(page)) for page in pages) / len(pages)
            for pages in (wiki.articles, plain)
            for clean in (wiki.paragraphs, extract)
        ]
        print(
            f"{wiki.code}    {counts[0]:10.1f} {counts[1]:13.1f}  {counts[2]:10.1f} {counts[3]:13.1f}"
        )


def print_damage(wikis: Sequence[Wiki], tool: pathlib.Path) -> None:
    """Prints the findings of the tool in the paragraphs of ours and of wikiextractor's."""
    print("\ndamaged paragraphs")
    with tempfile.TemporaryDirectory() as folder:
        for wiki in wikis:
            for name, clean in (("corpusmill", wiki.paragraphs), ("wikiextractor", extract)):
                path = pathlib.Path(folder) / f"{wiki.code}-{name}.txt"
                lines = (line for page in wiki.articles for line in clean(page))
                path.write_text("\n".join(lines), encoding="utf-8")
                command = [sys.executable, str(tool), str(path)]
                found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                print(f"{wiki.code}  {name:13}  {found.splitlines()[0]}")


def count_words(lines: Iterable[str]) -> int:
    """Words between white space, in lines long enough to be paragraphs."""
    return sum(len(line.split()) for line in lines if len(line) >= MIN_PARAGRAPH)


if __name__ == "__main__":
    main()
