"""Draws templates that no wiki has, with arguments of many shapes, and writes the text of the cleaner.

    python -m tests.tools.unknown_templates --seed 51 [--count 500] > unknown.tsv

Names and arguments of 12 languages are in unknown_templates.toml. A reader can then see whether a text says
something that the source does not. Columns: language, wikitext, text, and the evidence: "guess", "hole",
"unknown value", "table", or "nothing" for a template that leaves no gap.
"""

import argparse
import pathlib
import random
import tomllib
from typing import Any

from corpusmill.transforms.wikitext.clean import CleanedPage, WikitextCleaner
from corpusmill.transforms.wikitext.language import load_language

WORDS = pathlib.Path(__file__).with_suffix(".toml")
NUMBERS = ("0", "2", "3", "4.5", "12", "45", "60", "-7", "300", "8849", "1,200", "50%")
YEARS = ("1812", "1901", "1945", "1999", "2024")
CODES = ("de", "en", "FRA", "USA", "NO", "s", "m", "km", "kg", "N", "E", "A4")
NAMED = ("y", "p", "text", "lang", "date", "abbr", "size", "nome")
NAMES = (
    "score",
    "rating",
    "brn",
    "ta",
    "mv",
    "abc",
    "val2",
    "ort",
    "geo2",
    "h2h",
    "tm",
    "kv",
    "Ef",
    "no2",
)
MOST_ARGUMENTS = 5


def draw(chance: random.Random, words: dict[str, dict[str, Any]]) -> tuple[str, str]:
    """Returns the code of a language, and a sentence with a template."""
    code = chance.choice(sorted(words))
    local = words[code]
    kinds = (NUMBERS, YEARS, CODES, local["words"], local["names"])
    arguments = [
        chance.choice(chance.choice(kinds)) for _ in range(chance.randint(1, MOST_ARGUMENTS))
    ]
    if chance.random() < 0.2:
        arguments[-1] = f"{chance.choice(NAMED)}={arguments[-1]}"
    name = chance.choice((*NAMES, *local["templates"]))
    template = "{{" + "|".join((name, *arguments)) + "}}"
    return code, chance.choice(local["sentences"]).replace("@", template)


def evidence(page: CleanedPage, text: str, without: str) -> str:
    """Returns on what evidence the text of a page with one template is made."""
    for name, counts in (
        ("guess", page.guessed),
        ("hole", page.unrendered),
        ("unknown value", page.unknown),
    ):
        if counts:
            return name
    return "nothing" if text == without else "table"


def shown(page: CleanedPage) -> str:
    """Returns the paragraphs of a page in one line."""
    return " / ".join(text for section in page.sections for text in section.paragraphs)


def main() -> None:
    """Draws and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=500)
    args = parser.parse_args()
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    cleaners = {code: WikitextCleaner(load_language(code), {}) for code in words}
    chance = random.Random(args.seed)
    for number in range(args.count):
        code, wikitext = draw(chance, words)
        page = cleaners[code].clean(wikitext, "")
        start, end = wikitext.index("{{"), wikitext.index("}}") + 2
        without = shown(cleaners[code].clean(wikitext[:start] + wikitext[end:], ""))
        text = shown(page)
        print(number, code, wikitext, text, evidence(page, text, without), sep="\t")


if __name__ == "__main__":
    main()
