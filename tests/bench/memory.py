"""Measures the memory of builds on the in-process runner by input size.

    python -m tests.bench.memory wiki40b|entities|pg19 SIZE … [--limit MB] [--workers N] [--flags "FLAG …"]

Makes an input of each size (MB of XML, thousands of items, books) and builds it with the command line.
Prints time, core-seconds, and the peak memory of all processes: the sum of their proportional set sizes
(PSS), without the file cache. With --limit, which needs root, the processes run in a control group (version
1) with this memory limit, which includes the file cache.
"""

import argparse
import bz2
import itertools
import pathlib
import random
import re
import tempfile
from collections.abc import Iterator, Sequence

from tests.bench import harness
from tests.makers.book_files import make_book
from tests.tools.real_data import DATA

REAL_DUMP = DATA / "wikipedia" / "elwiki-20230501-pages-articles-multistream.xml.bz2"
SAMPLE_BOOKS = pathlib.Path(__file__).parents[2] / "pipelines" / "samples" / "gutenberg" / "texts"
BOOK_WORDS = 20_000
_ITEM = (
    '{{"type":"item","id":"Q{number}","labels":{{}},"claims":{{"P31":[{{"mainsnak":{{"snaktype":"value",'
    '"property":"P31","datavalue":{{"value":{{"entity-type":"item","numeric-id":{kind},"id":"Q{kind}"}},'
    '"type":"wikibase-entityid"}}}},"type":"statement","rank":"normal"}}]}},'
    '"sitelinks":{{"enwiki":{{"site":"enwiki","title":"Thing {number}","badges":[]}}}}}},\n'
)
_KINDS = 1000
_LINE_WORDS = 12
_PARAGRAPH_LINES = 8
# Words in running text; those beside markup may be names of templates.
_WORD_END = re.compile(r"(?<=[^\W\d_] )[^\W\d_A-Z]{7,}(?=[ ,.])")
_ARTICLE_TITLE = re.compile(r"</title>(?=\s*<ns>0<)")
_PAGE_ID = re.compile(r"<id>(\d+)")
_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
_MARK = "\ue000"  # stands where a copy has its own letters


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", choices=("wiki40b", "entities", "pg19"))
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--limit", type=int, default=0, help="MB that the processes may take")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--flags", default="", help="more flags of the build, in one argument")
    settings = parser.parse_args()
    harness.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        for size in settings.sizes:
            place = pathlib.Path(folder, str(size))
            place.mkdir()
            command = [*make_input(settings.corpus, place, size), *settings.flags.split()]
            command += ["--workers", str(settings.workers), "--output", str(place / "built")]
            run = harness.build([*harness.COMMAND, *command], place / "log", settings.limit)
            print(f"{settings.corpus} {size:7,}: {run}", flush=True)


def make_input(corpus: str, folder: pathlib.Path, size: int) -> list[str]:
    """Makes the input of one size; gives the command that builds it."""
    if corpus == "wiki40b":
        dump = folder / "elwiki-20261101-pages-articles-multistream.xml.bz2"
        write_dump(dump, size * 10**6)
        return ["wiki40b", "--language", "el", "--vocabulary-size", "0", "--dump", str(dump)]
    if corpus == "entities":
        items = folder / "wikidata-20261101-all.json"
        write_items(items, size * 1000)
        return ["entities", "--dump", str(items)]
    books = folder / "books"
    books.mkdir()
    texts = [path.read_text("utf-8") for path in sorted(SAMPLE_BOOKS.glob("900[0-1]*.txt"))]
    write_books(books, texts, size, BOOK_WORDS)
    return ["pg19", "--members", "hash", "--dump-date", "20261101", "--books", str(books)]


def write_dump(path: pathlib.Path, size: int) -> None:
    """Writes a multistream dump with at least so many bytes of XML: copies of the pages of the real one with
    other ids, titles and words.
    """
    xml = bz2.decompress(REAL_DUMP.read_bytes()).decode("utf-8")
    pages = re.findall(r"  <page>.*?</page>\n", xml, re.DOTALL)
    step = max(int(found[1]) for page in pages if (found := _PAGE_ID.search(page))) + 1
    marked = [_ARTICLE_TITLE.sub(f" {_MARK}</title>", page) for page in pages]
    marked = [_WORD_END.sub(lambda word: word[0] + _MARK, page) for page in marked]
    with path.open("wb") as out:
        out.write(bz2.compress(xml[: xml.index("  <page>")].encode("utf-8")))
        for number in itertools.count():
            copied = _copy(marked, number, step).encode("utf-8")
            out.write(bz2.compress(copied))
            size -= len(copied)
            if size <= 0:
                break
        out.write(bz2.compress(xml[xml.rindex("</mediawiki>") :].encode("utf-8")))


def _copy(pages: Sequence[str], number: int, step: int) -> str:
    letters = "".join(_LETTERS[number // 24**place % 24] for place in range(3)) if number else ""
    copied = "".join(
        _PAGE_ID.sub(lambda found: f"<id>{int(found[1]) + number * step}", page, count=1)
        for page in pages
    )
    return copied.replace(_MARK, letters)


def write_items(path: pathlib.Path, count: int) -> None:
    """Writes an entity dump of items with one class and one page each."""
    with path.open("w", encoding="utf-8") as out:
        out.write("[\n")
        for number in range(1, count + 1):
            out.write(_ITEM.format(number=number, kind=number % _KINDS + 1))
        out.write("]\n")


def write_books(folder: pathlib.Path, texts: Sequence[str], count: int, words: int) -> None:
    """Writes books of so many words, drawn by seeded chance from sentences of the texts."""
    sentences = [one for text in texts for one in text.replace("\n", " ").split(". ")]
    for number in range(1, count + 1):
        chance = random.Random(number)
        drawn: list[str] = []
        while len(drawn) < words:
            drawn += f"{sentences[int(chance.random() * len(sentences))].strip()}.".split()
        lines = [" ".join(line) for line in _batched(drawn, _LINE_WORDS)]
        text = "\n\n".join("\n".join(part) for part in _batched(lines, _PARAGRAPH_LINES))
        published = f"London: Marrow, {1800 + number % 100}"
        made = make_book(text, number, f"Tale {number}", original_publication=published)
        (folder / f"{number}-0.txt").write_bytes(made)


def _batched(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (values[at : at + size] for at in range(0, len(values), size))


if __name__ == "__main__":
    main()
