"""Makes large dumps of a small real one: copies of its pages with other ids, titles and words."""

import bz2
import itertools
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Words in running text; those beside markup may be names of templates.
_WORD_END = re.compile(r"(?<=[^\W\d_] )[^\W\d_A-Z]{7,}(?=[ ,.])")
_ARTICLE_TITLE = re.compile(r"</title>(?=\s*<ns>0<)")
_PAGE_ID = re.compile(r"<id>(\d+)")
_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
_WORKERS = 2
_MARK = "\ue000"  # stands where a copy has its own letters


def write_large_dumps(dump: Path, paths: Mapping[Path, int]) -> None:
    """Writes multistream dumps; the smaller ones are the beginnings of the largest, and each ends whole.

    Args:
      dump: .xml.bz2.
      paths: path → bytes of XML, at least.
    """
    xml = bz2.decompress(dump.read_bytes()).decode("utf-8")
    head, tail = xml[: xml.index("  <page>")], xml[xml.rindex("</mediawiki>") :]
    pages = re.findall(r"  <page>.*?</page>\n", xml, re.DOTALL)
    step = max(int(found[1]) for page in pages if (found := _PAGE_ID.search(page))) + 1
    marked = [_ARTICLE_TITLE.sub(f" {_MARK}</title>", page) for page in pages]
    marked = [_WORD_END.sub(lambda word: word[0] + _MARK, page) for page in marked]
    written = dict.fromkeys(paths, 0)
    for path in paths:
        path.write_bytes(bz2.compress(head.encode("utf-8")))
    with ProcessPoolExecutor(_WORKERS, initializer=_pages.extend, initargs=(marked,)) as pool:
        for first in itertools.count(0, _WORKERS):
            numbers = range(first, first + _WORKERS)
            for size, stream in pool.map(_packed_copy, numbers, [step] * _WORKERS):
                for path in _unfinished(paths, written):
                    with path.open("ab") as out:
                        out.write(stream)
                    written[path] += size
            if not any(_unfinished(paths, written)):
                break
    for path in paths:
        with path.open("ab") as out:
            out.write(bz2.compress(tail.encode("utf-8")))


def _unfinished(paths: Mapping[Path, int], written: Mapping[Path, int]) -> Iterator[Path]:
    return (path for path, size in paths.items() if written[path] < size)


_pages: list[str] = []  # of this process


def _packed_copy(number: int, step: int) -> tuple[int, bytes]:
    letters = "".join(_LETTERS[number // 24**place % 24] for place in range(3)) if number else ""
    copied = "".join(
        _PAGE_ID.sub(lambda found: f"<id>{int(found[1]) + number * step}", page, count=1)
        for page in _pages
    )
    data = copied.replace(_MARK, letters).encode("utf-8")
    return len(data), bz2.compress(data)
