"""Replaces `-{…}-`, MediaWiki's marks for text that differs between scripts, by the text for one variant.

The rules are in https://www.mediawiki.org/wiki/Writing_systems/Syntax. `-{zh-hans:A;zh-hant:B}-` becomes A or
B, and `-{A}-` becomes A. Marks with the flags H, A and - define conversion rules for other text. Marks
with the flag T define the title. Text outside of marks is converted only in Chinese (see `chinese`).

Parses the content of `-{…}-`, a mark for text that differs between the variants of Chinese.

The rules are in https://www.mediawiki.org/wiki/Writing_systems/Syntax and MediaWiki's ConverterRule. A mark
consists of flags, a bar, and conversion rules: `zh-cn:A;zh-tw:B` (both ways) or `A=>zh-tw:B` (one way). If
there is no text for the variant, MediaWiki displays an error; here the first text is used.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..marks import SECTION

# Variant → the name shown with the flags N and D. Order: that of MediaWiki's ZhConverter.
NAMES = {
    "zh": "原文",
    "zh-hans": "简体",
    "zh-hant": "繁體",
    "zh-cn": "大陆",
    "zh-hk": "香港",
    "zh-mo": "澳門",
    "zh-my": "大马",
    "zh-sg": "新加坡",
    "zh-tw": "臺灣",
}
_STANDARD_CODES = {
    "zh-hans-cn": "zh-cn",
    "zh-hans-my": "zh-my",
    "zh-hans-sg": "zh-sg",
    "zh-hant-hk": "zh-hk",
    "zh-hant-mo": "zh-mo",
    "zh-hant-tw": "zh-tw",
}
_CODE = "(?i:" + "|".join(sorted([*NAMES, *_STANDARD_CODES], reverse=True)) + ")"
_FLAGS = re.compile(r"([\s;A-Za-z-]*+)\|")
_FLAG_LETTERS = frozenset("ATRD-HN")
# A semicolon separates rules only before another rule, so `style="a;b"` and `&nbsp;` are not split.
_ENTITY_END = re.compile(r"(&[#a-zA-Z0-9]{1,32});")
_SEPARATOR = re.compile(rf";\s*+(?={_CODE}\s*:|[^;]*?=>\s*{_CODE}\s*:|\Z)")
_HELD_SEMICOLON = "\x01"

_BothWays = dict[str, str]  # variant → text
_OneWay = dict[str, dict[str, str]]  # variant → from → to


class Mark(NamedTuple):
    """The effect of a mark: the text that replaces it, and the rules that it adds or removes."""

    shown: str  # wikitext
    is_raw: bool  # `shown` is not converted
    added: Mapping[str, str] = {}  # rules for the text that follows: from → to
    removed: Mapping[str, str] = {}  # rules no longer valid
    title: str | None = None  # of the page


def _find_variant(code: str) -> str | None:
    code = code.strip().lower()
    code = _STANDARD_CODES.get(code, code)
    return code if code in NAMES else None


def _parse_rules(text: str) -> tuple[_BothWays, _OneWay]:
    both: _BothWays = {}
    one: _OneWay = {}
    held = _ENTITY_END.sub(rf"\1{_HELD_SEMICOLON}", text)
    for rule in _SEPARATOR.split(held):
        left, colon, right = rule.replace(_HELD_SEMICOLON, ";").partition(":")
        if not colon:
            continue
        source, arrow, code = left.rpartition("=>")
        variant = _find_variant(code)
        if variant is None:
            return {}, {}
        right = right.strip()
        if arrow and source.strip():
            one.setdefault(variant, {})[source.strip()] = right
        elif right and not arrow:
            both[variant] = right
    return both, one


def _parse_flags(text: str) -> tuple[set[str], str]:
    match = _FLAGS.match(text)
    if not match:
        return set(), text
    flags = {flag.strip() for flag in match[1].split(";")}
    return {flag for flag in flags if flag in _FLAG_LETTERS or flag in NAMES}, text[match.end() :]


def _choose_rule(both: _BothWays, one: _OneWay, variants: Sequence[str]) -> str:
    """Returns the text that a mark has for a variant.

    If the mark has no text for any of `variants`, returns any of its texts, or "" if it has none.

    Args:
        both: variant → text, from rules such as `zh-cn:A`.
        one: variant → {from: to}, from rules such as `A=>zh-tw:B`.
        variants: the wanted variant, its fallbacks, and "zh".
    """
    texts = [both[name] for name in variants if name in both and name != "zh"]
    texts += one.get(variants[0], {}).values()
    texts += both.values()
    texts += (text for pairs in one.values() for text in pairs.values())
    return texts[0] if texts else ""


def _pairs(both: _BothWays, one: _OneWay, variants: Sequence[str]) -> dict[str, str]:
    """Returns the conversion rules (from → to) that a mark defines for the wanted variant.

    Rules in `one` are returned if they are for this variant. `both` gives a rule from each of its texts to
    the text of the preferred variant. This is the first of `variants`, except "zh", that has a text in
    `both`. Without a preferred variant, `both` gives no rules.

    Args:
        both: variant → text, from rules such as `zh-cn:A`.
        one: variant → {from: to}, from rules such as `A=>zh-tw:B`.
        variants: the wanted variant, its fallbacks, and "zh".
    """
    own = next((both[name] for name in variants if name in both and name != "zh"), None)
    pairs = dict.fromkeys(both.values(), own) if own is not None else {}
    return {**pairs, **one.get(variants[0], {})}


_MAX_DESCRIBED = 1_000  # characters: a description repeats texts, and marks may be nested


def _describe(both: _BothWays, one: _OneWay) -> str:
    shown = "".join(f"{NAMES[name]}：{text}；" for name, text in both.items())
    for name, pairs in one.items():
        shown += "".join(f"{source}⇒{NAMES[name]}：{to}；" for source, to in pairs.items())
    return shown


def read_mark(inner: str, variants: Sequence[str]) -> Mark:
    """Parses a mark and returns its effect.

    Args:
        inner: the wikitext between the braces. Marks within it must have been replaced by their texts.
        variants: the wanted variant, its fallbacks, and "zh".
    """
    flags, text = _parse_flags(inner)
    if "R" in flags:
        return Mark(text, is_raw=True)
    if "N" in flags:
        return Mark(NAMES.get(_find_variant(text) or "", ""), is_raw=True)
    codes = flags & NAMES.keys()
    if codes and not flags & {"H", "-"}:  # `-{zh-cn;zh-tw|text}-`: converted only for these
        return Mark(text, is_raw=not codes & set(variants) - {"zh"})
    both, one = _parse_rules(text)
    if not both and not one:
        if flags & {"A", "H", "-"} and text:
            both = dict.fromkeys(NAMES, text)
        elif flags != {"T"}:
            return Mark(text, is_raw=True)
    if "-" in flags:
        return Mark("", is_raw=True, removed=_pairs(both, one, variants))
    return Mark(
        _shown(flags, both, one, variants),
        is_raw=True,
        added=_pairs(both, one, variants) if flags & {"A", "H"} else {},
        title=(_choose_rule(both, one, variants) or text) if "T" in flags else None,
    )


def _shown(flags: set[str], both: _BothWays, one: _OneWay, variants: Sequence[str]) -> str:
    if "D" in flags:
        described = _describe(both, one)
        return described if len(described) <= _MAX_DESCRIBED else ""
    return "" if "H" in flags or flags == {"T"} else _choose_rule(both, one, variants)


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
        if bar and _SILENT_FLAGS & {flag.strip() for flag in flags.split(";")}:
            return ""
        return _choose(content if bar else flags, self._variants)

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
            from .chinese import ChinesePage
        except ImportError as error:
            raise ValueError(
                f"Chinese needs the library zhconv-rs: pip install 'corpusmill[zh]' ({error}); the extra"
                " all does not contain it, as it is under the GPL"
            ) from None

        return functools.partial(ChinesePage, variants=tuple(variants))
    return functools.partial(PageVariants, variants=tuple(variants))
