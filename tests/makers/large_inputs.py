"""Large made-up inputs for benchmarks: a dump of many small items, and a folder of many books."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.makers.book_files import make_book

_ITEM = (
    '{{"type":"item","id":"Q{number}","labels":{{}},"claims":{{"P31":[{{"mainsnak":{{"snaktype":"value",'
    '"property":"P31","datavalue":{{"value":{{"entity-type":"item","numeric-id":{kind},"id":"Q{kind}"}},'
    '"type":"wikibase-entityid"}}}},"type":"statement","rank":"normal"}}]}},'
    '"sitelinks":{{"enwiki":{{"site":"enwiki","title":"Thing {number}","badges":[]}}}}}},\n'
)
_KINDS = 1000
_LINE_WORDS = 12
_PARAGRAPH_LINES = 8


def write_items(path: Path, count: int) -> None:
    """Writes an entity dump of items with one class and one page each."""
    with path.open("w", encoding="utf-8") as out:
        out.write("[\n")
        for number in range(1, count + 1):
            out.write(_ITEM.format(number=number, kind=number % _KINDS + 1))
        out.write("]\n")


def write_books(folder: Path, texts: Sequence[str], count: int, words: int) -> None:
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
