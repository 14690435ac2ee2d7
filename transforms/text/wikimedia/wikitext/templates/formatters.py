"""What display patterns may do to the text of an argument: `{1:number}`, `{2:lower}`, …"""

from collections.abc import Callable

from transforms.text.wikimedia.language import Language
from transforms.text.wikimedia.wikitext.marks import protect
from transforms.text.wikimedia.wikitext.templates.dates import month_name
from transforms.text.wikimedia.wikitext.templates.rendering import (
    first_upper,
    format_number,
    subscript,
    superscript,
)


def formatters_of(language: Language) -> dict[str, Callable[[str], str]]:
    """Return the formatters that display patterns may name."""
    return {
        "number": lambda text: format_number(text, language.numbers),
        "lower": str.lower,
        "upper": str.upper,
        "first_upper": first_upper,
        "superscript": superscript,
        "subscript": subscript,
        "month": lambda text: month_name(text, language),
        "verbatim": protect,
        "no_aside": lambda text: text.partition(" (")[0],
        "hebrew_number": _hebrew_number,
    }


def _hebrew_number(text: str) -> str:
    """Mark Hebrew letters as a number: א → א', י"א → י"א, יא → י"א. Other text stays as it is."""
    if not text or not all("א" <= letter <= "ת" for letter in text):
        return text
    return f"{text}'" if len(text) == 1 else f'{text[:-1]}"{text[-1]}'
