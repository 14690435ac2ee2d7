"""Defines the formatters of display patterns (see `patterns`), such as `number` in `{1:number}`.

A formatter is a function that is applied to the value of a template's argument.
"""

from collections.abc import Callable, Mapping

from corpusmill.transforms.wikitext.language import Language
from corpusmill.transforms.wikitext.marks import protect
from corpusmill.transforms.wikitext.templates.rendering import (
    first_upper,
    format_number,
    month_name,
    subscript,
    superscript,
)


def _hebrew_number(text: str, _: Language) -> str:
    """Marks Hebrew letters as a number: א → א', י"א → י"א, יא → י"א. Other text is returned unchanged."""
    if not text or not all("א" <= letter <= "ת" for letter in text):
        return text
    return f"{text}'" if len(text) == 1 else f'{text[:-1]}"{text[-1]}'


Formatter = Callable[[str, Language], str]

FORMATTERS: Mapping[str, Formatter] = {
    "number": lambda text, language: format_number(text, language.numbers),
    "lower": lambda text, _: text.lower(),
    "upper": lambda text, _: text.upper(),
    "first_upper": lambda text, _: first_upper(text),
    "superscript": lambda text, _: superscript(text),
    "subscript": lambda text, _: subscript(text),
    "month": month_name,
    "verbatim": lambda text, _: protect(text),
    "no_aside": lambda text, _: text.partition(" (")[0],
    "hebrew_number": _hebrew_number,
}
