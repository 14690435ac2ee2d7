"""Prints how often CLDR and MediaWiki agree with the tables that people made, and where they do not.

python -m tests.tools.cldr_agreement
"""

import collections
from collections.abc import Iterator

from corpusmill.transforms.wikitext import wikis
from corpusmill.transforms.wikitext.language import Language, load_language
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, mediawiki_table

_LOCALES = {"zh-cn": "zh-hans", "zh-tw": "zh-hant", "tl": "fil", "no": "nb"}
_SHOWN = 8  # examples a row


def compare(code: str) -> Iterator[tuple[str, object, object]]:
    """(what, in our table, in the other) for one language."""
    ours, locale = load_language(code), _LOCALES.get(code, code)
    of_wiki = mediawiki_table(code.partition("-")[0])
    written = of_wiki.get("numbers", {})
    numbers = {**wikis.numbers_of([locale], native="digits" in written), **written}
    for field in ("group", "decimal", "group_size"):
        yield f"numbers: {field}", _plain(getattr(ours.numbers, field)), _plain(numbers[field])
    least = numbers.get("min_grouped_digits", 4)
    yield "numbers: min_grouped_digits", ours.numbers.min_grouped_digits, least
    yield "numbers: digits", ours.numbers.digits, numbers.get("digits", "0123456789")
    months = wikis.months_of(locale)
    yield "months, CLDR", ours.months, months
    yield "months, MediaWiki", ours.months, tuple(of_wiki["months"])
    dates = wikis.dates_of(locale, months)
    yield "date", ours.date, dates.get("day")
    yield "month and year", ours.phrases["month_year"], dates.get("month")
    yield from _names(ours, locale)


def _names(ours: Language, locale: str) -> Iterator[tuple[str, object, object]]:
    theirs = wikis.languages_of(locale)
    for code in sorted(ours.language_names.keys() & theirs.keys()):
        yield "names of languages", ours.language_names[code], theirs[code]


def _plain(mark: object) -> object:
    return mark.replace("\u00a0", " ").replace("\u202f", " ") if isinstance(mark, str) else mark


def main() -> None:
    agreeing: collections.Counter[str] = collections.Counter()
    differing: dict[str, list[tuple[str, object, object]]] = {}
    for code in LANGUAGE_CODES:
        for what, ours, theirs in compare(code):
            agreeing[what] += ours == theirs
            differing.setdefault(what, [])
            if ours != theirs:
                differing[what].append((code, ours, theirs))
    for what, found in differing.items():
        languages = len({code for code, _, _ in found})
        print(f"{what}: {agreeing[what]} agree, {len(found)} differ, in {languages} languages")
        for code, ours, theirs in found[:_SHOWN]:
            print(f"  {code}: {ours!r} here, {theirs!r} there"[:200])


if __name__ == "__main__":
    main()
