"""Show one variant of `-{…}-`, MediaWiki's marks for text that differs between scripts.

Rules: https://www.mediawiki.org/wiki/Writing_systems/Syntax. `-{zh-hans:A;zh-hant:B}-` shows the
variant asked for, `-{A}-` its text; with the flags H, T, A and - it sets rules for other text.
"""

import re
from collections.abc import Sequence

_MARK = re.compile(r"-\{(?!\{)([^{}]*)\}-")
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


def show_variants(text: str, variants: Sequence[str]) -> str:
    """Replace every mark by the first of these variants it holds, else by its first text."""
    if "-{" not in text:
        return text

    def show(match: re.Match[str]) -> str:
        flags, bar, content = match[1].partition("|")
        if not bar:
            return _choose(flags, variants)
        if _SILENT_FLAGS & {flag.strip() for flag in flags.split(";")}:
            return ""
        return _choose(content, variants)

    return _MARK.sub(show, text)
