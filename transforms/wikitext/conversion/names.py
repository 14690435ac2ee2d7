"""Renders `{{convert}}` in wikis that write units in their own language: "3,776米（12,388英尺）"."""

import functools
import re

from corpusmill.transforms.wikitext.conversion.convert import convert_to_english_symbols
from corpusmill.transforms.wikitext.templates.patterns import Arguments
from corpusmill.transforms.wikitext.templates.rendering import Page


@functools.cache
def _symbol_pattern(symbols: tuple[str, ...], ends: str) -> re.Pattern[str]:
    longest_first = sorted(symbols, key=len, reverse=True)
    return re.compile(rf" ({'|'.join(map(re.escape, longest_first))})(?![^\s{ends}])")


def convert_to_symbols(arguments: Arguments, page: Page) -> str:
    """Expands `{{convert|3776|m|ft}}` in wikis with unit symbols of their own: "३,७७६ मी (१२,३८८ फूट)"."""
    shown = convert_to_english_symbols(arguments, page)
    names = _names(page)
    if not names:
        return shown
    pattern = _symbol_pattern(
        tuple(names), "();,–×±"
    )  # not part of a quotient: "km/h" is a unit of its own
    return pattern.sub(lambda match: f" {names[match[1]]}", shown)


def convert_to_names(arguments: Arguments, page: Page) -> str:
    """Expands `{{convert|3776|m|ft}}` in wikis that use the names of units: "3,776米（12,388英尺）"."""
    shown = convert_to_english_symbols(arguments, page)
    names = _names(page)
    if not names:
        return shown
    pattern = _symbol_pattern(tuple(names), "();,–×±/")
    shown = pattern.sub(lambda match: names[match[1]], shown)
    return re.sub(r" ?\(", "（", shown).replace(")", "）")


def _names(page: Page) -> dict[str, str]:
    return {
        phrase.removeprefix("unit "): name
        for phrase, name in page.language.phrases.items()
        if phrase.startswith("unit ")
    }
