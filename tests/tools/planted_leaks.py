"""Evaluation items that leaked into real prose, and stock texts that many documents share with other items.

    CORPUSMILL_DATA=… python -m tests.tools.planted_leaks [--seeds N] [--texts K] [--documents N]

For each seed, 60 items are written into one document each, in the ways of LEAKS. Four kinds of stock text
(STOCK: a quotation, a template of instructions, the first clause of a contract, an identity) are written into
40 documents each; for each stock text there is an item that contains it with text of its own. The items are
searched for, and the numbers of leaks and stock documents in each tier are printed. The set depends only on
the seed, the number of documents and K, the number of different stock texts of a kind (by default it
depends on the seed). The documents are parts of real books, and the leaked items are real news and sentences
of FLORES.
"""

import argparse
import gzip
import html
import json
import pathlib
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pyarrow.parquet as pq

from corpusmill.pipelines.inspect.contamination import find_contamination
from corpusmill.pipelines.inspect.inspect_commands import Search
from tests.tools.case_tables import read_tables
from tests.tools.real_data import DATA
from tests.tools.real_gutenberg import read_bodies

STOCK_DOCUMENTS, ABSENT = 40, 500
_WORDS = "quartz velvet marmalade obelisk zephyr tundra cobalt lagoon harbour ledger".split()
_VOWEL_SIGNS = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"
_QUOTES = str.maketrans({'"': "“", "'": "’", "-": "–", ",": " ,"})
_TURKISH = str.maketrans({"i": "İ", "ı": "I"})
_CODE = """def merge(left: list[int], right: list[int]) -> list[int]:
    result, first, second = [], 0, 0
    while first < len(left) and second < len(right):
        smaller = left[first] <= right[second]
        result.append(left[first] if smaller else right[second])"""


class Planted(NamedTuple):
    """A set of items and documents. A kind is a key of LEAKS or STOCK; "" for items that are nowhere."""

    items: list[tuple[str, str, str]]  # id, kind, text
    documents: list[str]
    truth: dict[int, tuple[str, str]]  # document → (id, kind) of the item whose text is in it


def change(text: str, chance: random.Random) -> str:
    """Other words for one in ten."""
    words = text.split()
    for place in chance.sample(range(len(words)), max(len(words) // 10, 1)):
        words[place] = chance.choice(_WORDS)
    return " ".join(words)


def mark_up(text: str, chance: random.Random) -> str:
    """HTML, with all that is not ASCII, and quotation marks, as entities, and a word in bold."""
    words = html.escape(text.replace(" - ", " – ")).split()
    place = chance.randrange(len(words))
    words[place] = f"<b>{words[place]}</b>"
    written = "".join(c if ord(c) < 128 else f"&#{ord(c)};" for c in "&nbsp;".join(words))
    return f"<p>{written}</p>"


def wrap(text: str, chance: random.Random) -> str:
    """Lines of a few words, as in a mail."""
    words = text.split()
    return "\n> ".join(" ".join(words[at : at + 5]) for at in range(0, len(words), 5))


def sprinkle(signs: str, share: float) -> Callable[[str, random.Random], str]:
    """Returns a function that writes one of `signs` after some letters that stand inside words."""

    def write(text: str, chance: random.Random) -> str:
        pairs = zip(text, f"{text[1:]} ", strict=True)
        return "".join(
            c + (chance.choice(signs) if (c + d).isalpha() and chance.random() < share else "")
            for c, d in pairs
        )

    return write


def full_width(text: str, _: random.Random) -> str:
    """Latin letters as wide as Han."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def without(text: str, chance: random.Random) -> str:
    """Without two words, at different places."""
    words = text.split()
    for _ in range(2):
        del words[chance.randrange(len(words))]
    return " ".join(words)


def same(text: str, _: random.Random) -> str:
    """The text."""
    return text


LEAKS: dict[str, tuple[int, str, Callable[[str, random.Random], str]]] = {
    "verbatim": (6, "news", same),
    "long": (2, "two news", same),
    "capitals": (3, "news", lambda text, _: text.upper()),
    "no punctuation": (3, "news", lambda text, _: "".join(c for c in text if c.isalnum() or c == " ")),
    "other quotes": (2, "news", lambda text, _: f"“{text.translate(_QUOTES)}”"),
    "lines": (3, "news", wrap),
    "soft hyphens": (2, "news", sprinkle("\u00ad", 0.2)),
    "full width": (2, "news", full_width),
    "10 % changed": (10, "news", change),
    "10 % changed, long": (4, "two news", change),
    "two words left out": (2, "two news", without),
    "HTML": (5, "news", mark_up),
    "Chinese": (2, "zho_simpl", same),
    "Japanese": (2, "jpn", same),
    "Khmer": (2, "khm_Khmr", same),
    "Hindi": (1, "hin", same),
    "Arabic": (1, "ara", same),
    "vowel signs": (2, "ara", sprinkle(_VOWEL_SIGNS, 0.6)),
    "tatweel": (2, "ara", sprinkle("\u0640", 0.1)),
    "Turkish capitals": (3, "tur", lambda text, _: text.translate(_TURKISH).upper()),
    "code": (1, "code", same),
}  # fmt: skip
"""Kind → how many items, where they are from, and how they are written into a document."""

STOCK = read_tables("stock_texts")
"""Kind → texts that documents share, each with the item that contains it."""


def read_lines(name: str) -> list[str]:
    """Sentences of real news, or of a language of FLORES."""
    if "news" in name:
        paths = sorted((DATA / "news").glob("*.gz"))[:2]
        text = b"".join(gzip.decompress(path.read_bytes()) for path in paths).decode("utf-8")
        return [line for line in dict.fromkeys(text.splitlines()) if 16 <= len(line.split()) <= 40]
    path = next((DATA / "flores").glob(f"*/devtest/{name}.devtest"))
    lines = map(str.strip, path.read_text("utf-8").splitlines())
    return [line for line in lines if len(line.encode()) >= 120]


def plant(seed: int, count: int, texts: int = 0) -> Planted:
    """Makes the set of a seed. See the module docstring."""
    chance = random.Random(seed)
    pools = {
        name: read_lines(name) for _, name, _ in LEAKS.values() if name not in ("two news", "code")
    }
    for lines in pools.values():
        chance.shuffle(lines)
    pools["two news"] = [" ".join(pools["news"].pop() for _ in range(2)) for _ in range(20)]
    pools["code"] = [_CODE]
    parts = [
        body[at : at + 4000]
        for body in read_bodies(60).values()
        for at in range(0, len(body), 4000)
    ]
    documents = chance.sample(parts, count)
    free = chance.sample(range(count), count)
    items, truth = [], {}

    def add(kind: str, text: str, writings: Iterable[str]) -> None:
        items.append((f"{len(items):04}", kind, text))
        for written in writings:
            number = free.pop()
            blanks = [at for at, c in enumerate(documents[number]) if c == " "]
            at = chance.choice(blanks)
            documents[number] = f"{documents[number][:at]} {written} {documents[number][at:]}"
            truth[number] = items[-1][0], kind

    for kind, (number, name, write) in LEAKS.items():
        for text in [pools[name].pop() for _ in range(number)]:
            add(kind, text, [write(text, chance)])
    for kind, stock in STOCK.items():
        used = chance.sample(stock, min(texts or 1 + seed % 3, len(stock)))
        for place, one in enumerate(used):
            shared = one["text"]
            text = one["item"].replace("{news}", pools["news"].pop()).replace("{}", shared)
            size = len(range(place, STOCK_DOCUMENTS, len(used)))
            # A template goes on with another task.
            add(kind, text, [f"{shared} {pools['news'].pop()}" for _ in range(size)])
    for text in (pools["news"].pop() for _ in range(ABSENT)):
        add("", text, [])
    return Planted(items, documents, truth)


def write_set(made: Planted, folder: pathlib.Path) -> None:
    """Writes items.jsonl, documents.jsonl and truth.jsonl."""
    rows = {
        "items": [{"id": name, "text": text} for name, _, text in made.items],
        "documents": [{"id": str(at), "text": text} for at, text in enumerate(made.documents)],
        "truth": [{"document": str(at), "id": name, "kind": kind} for at, (name, kind) in made.truth.items()],
    }  # fmt: skip
    for name, of_file in rows.items():
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in of_file)
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")


def search(made: Planted, folder: pathlib.Path) -> dict[str, Counter[str]]:
    """Returns for each kind how many documents are in which tier; other hits are of the kind "elsewhere"."""
    folder.mkdir(parents=True)
    write_set(made, folder)
    train, items, output = (
        str(folder / one) for one in ("documents.jsonl", "items.jsonl", "found")
    )
    find_contamination(Search([train], [items]), output, workers=1)
    hits = [row for file in folder.glob("found/hits-*") for row in pq.read_table(file).to_pylist()]
    tiers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for hit in hits:
        tiers[hit["document"], hit["item"]].add(hit["tier"])
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for number, (item, kind) in made.truth.items():
        found = tiers.pop((str(number), item), {"no hit"})
        totals[kind][min(found, key="copied partly common no hit".find)] += 1
    for some in tiers.values():
        totals["elsewhere"].update(some)
    return totals


def main() -> None:
    """Prints for each kind the number of documents in each tier."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for flag, default in (("--seeds", 3), ("--texts", 0), ("--documents", 3000)):
        parser.add_argument(flag, type=int, default=default)
    parser.add_argument("--keep", help="folder to which the sets are written")
    settings = parser.parse_args()
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in range(settings.seeds):
        with tempfile.TemporaryDirectory(prefix="planted-leaks-") as name:
            made = plant(seed, settings.documents, settings.texts)
            for kind, counts in search(
                made, pathlib.Path(settings.keep or name) / str(seed)
            ).items():
                totals[kind] += counts
    for kind, counts in totals.items():
        print(f"{kind:20}", dict(sorted(counts.items())))
    for name, kinds in (("leaks", LEAKS), ("stock texts", STOCK)):
        print(f"{name:20}", dict(sum((totals[kind] for kind in kinds), Counter())))


if __name__ == "__main__":
    main()
