"""Measures the wrong and missing links to Wikidata if tables of another date are used.

    python -m tests.bench.links [--share 0.01] [--dumps FILE …]

Takes the titles of real dumps, gives each article an artificial item, and changes a share of the articles in
each way between two dates (see tests/makers/changed_wikis.py). Each method then links the pages with the
transforms of a build, and the links are compared with the right ones. The result is reproducible: every n-th
article is changed.
"""

import argparse
import pathlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from corpusmill.transforms.files.markup import make_table
from corpusmill.transforms.wikipedia.mediawiki_xml import parse_page
from corpusmill.transforms.wikipedia.read_dumps import plan_units, read_good_pages
from tests.makers.changed_wikis import CHANGES, METHODS, Wiki, find_faults
from tests.tools.real_data import DATA

WIKIS = ("elwiki", "ukwiki", "viwiki", "jawiki")
UNCHANGED = "unchanged"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    name = "wikipedia/{}-20230501-pages-articles-multistream.xml.bz2"
    dumps = [str(DATA / name.format(wiki)) for wiki in WIKIS]
    parser.add_argument("--dumps", nargs="+", default=dumps, help="pages-articles")
    parser.add_argument("--share", type=float, default=0.01, help="of articles, of each kind")
    settings = parser.parse_args()
    titles = sorted({title for path in settings.dumps for title in article_titles(path)})
    each = max(2, round(len(titles) * settings.share))
    wiki = make_wiki(titles, each)
    print(f"{len(titles)} titles, {each} of each kind of change")
    faults = {}
    with tempfile.TemporaryDirectory() as folder:
        for method in METHODS:
            below = pathlib.Path(folder, method.name)
            below.mkdir()
            found = find_faults(wiki, method, below)
            faults[method.name] = Counter((one.kind, bool(one.linked)) for one in found)
    changed = dict.fromkeys((kind for kind in CHANGES if kind != UNCHANGED), each)
    print("\n".join(make_table(["change", *faults], rows(faults, changed))))


def article_titles(path: str) -> Iterator[str]:
    """The titles of the articles of a dump."""
    for unit in plan_units(path, 1):
        for xml in read_good_pages(unit, "fail", "bench"):
            page = parse_page(xml)
            if not page.namespace and not page.is_redirect:
                yield page.title


def make_wiki(titles: Sequence[str], each: int) -> Wiki:
    """A wiki of the titles, so many of them changed in each way."""
    wiki = Wiki()
    kinds = [kind for kind in CHANGES if kind != UNCHANGED]
    parts = [titles[number :: len(kinds)] for number in range(len(kinds))]
    for kind, part in zip(kinds, parts, strict=True):
        wiki.change(kind, part[:each])
        wiki.change(UNCHANGED, part[each:])
    return wiki


def rows(
    faults: Mapping[str, Counter[tuple[str, bool]]], pages: Mapping[str, int]
) -> Iterator[list[str]]:
    """For each kind of change, wrong + missing links per 100 changed articles by each method.

    Args:
      faults: method → (kind, whether there is a wrong link) → how many.
      pages: kind → articles that were changed.
    """
    for kind, changed in pages.items():
        shares = (
            [round(100 * of_method[kind, is_wrong] / changed) for is_wrong in (True, False)]
            for of_method in faults.values()
        )
        yield [kind, *(f"{wrong} + {missing}" for wrong, missing in shares)]


if __name__ == "__main__":
    main()
