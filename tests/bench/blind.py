"""Measures the cleaner on the blind sets (tests/blind): texts that were not used to write its rules.

    python -m tests.bench.blind [--set paragraphs-1] [--show]

Prints for each set and language the number of right texts, ignoring white space. `--show` prints the wrong
texts, with their wikitext and the expected text. Template definitions of the wikis' dumps are not used, only
the tables of templates.
"""

import argparse
import collections
import difflib
import functools
import hashlib
import json
import lzma
import pathlib
from typing import Any

from corpusmill.transforms.wikitext.clean import CleanedPage, WikitextCleaner
from corpusmill.transforms.wikitext.language import Language, load_language
from corpusmill.transforms.wikitext.variants.page_variants import variants_reader

CORPORA = {"zh": "zh-cn"}
"""Wiki → its corpus, where it has more than one. What is expected is converted to its variant, too."""

FOLDER = pathlib.Path(__file__).parents[1] / "blind"


def main() -> None:
    """Scores and prints."""
    sums = dict(line.split()[::-1] for line in (FOLDER / "SHA256SUMS").open(encoding="ascii"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [name.removesuffix(".jsonl") for name in sums]
    parser.add_argument("--set", nargs="+", choices=names, default=names)
    parser.add_argument("--show", action="store_true", help="print what is not right")
    settings = parser.parse_args()
    for name in settings.set:
        data = lzma.decompress((FOLDER / f"{name}.jsonl.xz").read_bytes())
        if hashlib.sha256(data).hexdigest() != sums[f"{name}.jsonl"]:
            raise SystemExit(f"{name} is not the set of SHA256SUMS")
        score(name, [json.loads(line) for line in data.decode("utf-8").splitlines()], settings.show)


def score(name: str, records: list[dict[str, Any]], shows: bool) -> None:
    """Prints the scores of a set, by language and in all."""
    total: collections.Counter[str] = collections.Counter()
    right: collections.Counter[str] = collections.Counter()
    for record in records:
        code = record["language"]
        language, cleaner = load(CORPORA.get(code, code))
        convert = variants_reader(language.variants)("").convert
        text = shown(cleaner.clean(record["wikitext"], record["title"]))
        is_right = text in (spaced(convert(one)) for one in record["expected"])
        total[code] += 1
        right[code] += is_right
        if shows and not is_right:
            expected = spaced(convert(record["expected"][0]))
            print(f"\n{record['id']} {record['title']}\n< {record['wikitext']}")
            print(f"= {expected}\n> {text}\n! {differences(expected, text)}")
    each = ", ".join(f"{code} {right[code]}/{total[code]}" for code in total)
    share = 100 * right.total() / total.total()
    print(f"{name}: {right.total()} of {total.total()} right, {share:.1f} %: {each}")


@functools.cache
def load(code: str) -> tuple[Language, WikitextCleaner]:
    """The tables of a corpus, and its cleaner."""
    language = load_language(code)
    return language, WikitextCleaner(language, language.namespaces)


def shown(page: CleanedPage) -> str:
    """Headings and paragraphs."""
    texts = [text for section in page.sections for text in (section.heading, *section.paragraphs)]
    return spaced(" ".join(texts))


def spaced(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def differences(expected: str, text: str) -> str:
    """Returns the words that only one of the texts has, as `[expected → found]`."""
    matcher = difflib.SequenceMatcher(None, expected, text, autojunk=False)
    found = (
        f"[{expected[a:b]} → {text[c:d]}]"
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    )
    return " ".join(found)


if __name__ == "__main__":
    main()
