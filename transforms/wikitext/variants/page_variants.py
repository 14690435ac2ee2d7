"""Replaces `-{…}-`, MediaWiki's marks for text that differs between scripts, by the text for one variant.

The rules are in https://www.mediawiki.org/wiki/Writing_systems/Syntax. `-{zh-hans:A;zh-hant:B}-` becomes A or
B, and `-{A}-` becomes A. Marks with the flags H, A and - define conversion rules for other text. Marks
with the flag T define the title. Text outside of marks is converted only in Chinese (see `chinese`).
"""

import functools
import re
from collections.abc import Callable, Sequence

from corpusmill.transforms.wikitext.marks import SECTION

_MARK = re.compile(rf"-\{{(?!\{{)([^{{}}{SECTION}]*)\}}-")
_VARIANT = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,5}){0,2}")
_SILENT_FLAGS = frozenset("HT-D")


def _choose(text: str, variants: Sequence[str]) -> str:
    choices: dict[str, list[str]] = {}
    current: list[str] = []
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        if colon and _VARIANT.fullmatch(name.strip()):
            current = choices.setdefault(name.strip(), [])
            part = value
        current.append(part)  # the semicolon is part of a text
    if not choices:
        return text
    chosen = next((name for name in variants if name in choices), next(iter(choices)))
    return ";".join(choices[chosen]).strip().removesuffix(";")


class PageVariants:
    """Replaces the marks `-{…}-` on one page by their text for the wanted variant.

    Text outside of marks is not converted, except by the subclass ChinesePage.

    Attributes:
        text: the wikitext to clean. It may differ from the original wikitext of the page, because marks may
            already be replaced.
    """

    def __init__(self, text: str, variants: Sequence[str]) -> None:
        self.text = text
        self._variants = variants

    def show(self, text: str) -> str:
        """Replaces each mark `-{…}-` in a part of the page by its text.

        If a mark has texts for several variants, the text for the preferred variant is used. If it has no
        text for any of the language's variants, its first text is used.

        `convert` does not change the texts of marks, except for marks that list variants without their own
        texts, such as `-{zh-cn;zh-tw|A}-`: A is converted for these variants.
        """
        return _MARK.sub(self._shown, text) if "-{" in text else text

    def _shown(self, mark: re.Match[str]) -> str:
        flags, bar, content = mark[1].partition("|")
        if not bar:
            return _choose(flags, self._variants)
        if _SILENT_FLAGS & {flag.strip() for flag in flags.split(";")}:
            return ""
        return _choose(content, self._variants)

    def convert(self, text: str) -> str:
        """Converts a part of the page to the wanted variant. Its links and templates are already replaced.

        This class returns the part unchanged. The subclass ChinesePage converts it.
        """
        return text

    def convert_title(self, title: str) -> str:
        """Returns the title of the page as it is displayed above the page."""
        return title


def conversion_library(variants: Sequence[str]) -> str:
    """Returns the name of the library that converts between a language's variants.

    Returns "" if the language needs no library.
    """
    return "zhconv-rs" if variants and variants[0] in ("zh-cn", "zh-tw") else ""


def variants_reader(variants: Sequence[str]) -> Callable[[str], PageVariants]:
    """Returns a function that creates the PageVariants of a page from its wikitext.

    `variants` are the language's variants in order of preference.

    Raises:
        ValueError: the library that converts between the variants is not installed.
    """
    if conversion_library(variants):
        # The tables of zhconv-rs are under the GPL, so the package does not require it.
        try:
            from corpusmill.transforms.wikitext.variants.chinese import ChinesePage
        except ImportError as error:
            raise ValueError(
                f"Chinese needs the library zhconv-rs: pip install 'corpusmill[zh]' ({error}); the extra"
                " all does not contain it, as it is under the GPL"
            ) from None

        return functools.partial(ChinesePage, variants=tuple(variants))
    return functools.partial(PageVariants, variants=tuple(variants))
