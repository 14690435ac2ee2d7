"""Shows one variant of `-{…}-`, MediaWiki's marks for text that differs between scripts.

Rules: https://www.mediawiki.org/wiki/Writing_systems/Syntax. `-{zh-hans:A;zh-hant:B}-` shows the
variant asked for, `-{A}-` its text; with the flags H, T, A and - it sets rules for other text.
Only Chinese is converted between its variants: see `chinese`.
"""

import functools
import re
from collections.abc import Callable, Sequence

from transforms.text.wikimedia.wikitext.marks import SECTION

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
        current.append(part)  # a semicolon within a text parts nothing
    if not choices:
        return text
    chosen = next((name for name in variants if name in choices), next(iter(choices)))
    return ";".join(choices[chosen]).strip().removesuffix(";")


class PageVariants:
    """The marks of one page, in a language that is shown as it is written.

    Attributes:
        text: the wikitext of the page, to be read instead of the one given.
    """

    def __init__(self, text: str, variants: Sequence[str]) -> None:
        self.text = text
        self._variants = variants

    def show(self, text: str) -> str:
        """Replaces the marks of a part of the page; what they show is kept from `convert`.

        A mark shows the text of the first variant it holds, or the first of its texts.
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
        """Returns a part of the page, whose links and templates are shown, in the variant."""
        return text

    def convert_title(self, title: str) -> str:
        """Returns the title of the page as its heading shows it."""
        return title


def conversion_library(variants: Sequence[str]) -> str:
    """Returns the distribution whose tables convert between the variants of a language, or ""."""
    return "zhconv-rs" if variants and variants[0] in ("zh-cn", "zh-tw") else ""


def variants_reader(variants: Sequence[str]) -> Callable[[str], PageVariants]:
    """Returns what reads the wikitext of a page, for a language with these variants, best first.

    Raises:
        ValueError: the library that converts them is not installed.
    """
    if conversion_library(variants):
        # Its tables are under the GPL, so it is no requirement of the package.
        try:
            from transforms.text.wikimedia.wikitext.variants.chinese import ChinesePage
        except ImportError as error:
            raise ValueError(
                f"Chinese is converted by zhconv-rs: pip install 'corpusmill[zh]' ({error})"
            ) from None

        return functools.partial(ChinesePage, variants=tuple(variants))
    return functools.partial(PageVariants, variants=tuple(variants))
