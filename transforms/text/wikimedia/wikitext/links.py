"""Replace links by the text a reader sees.

Letters after a link (its trail) belong to it on the page; in plain text they simply follow.
"""

import re
from collections.abc import Mapping, Sequence

from transforms.text.wikimedia.language import (
    CATEGORY_NAMESPACE,
    FILE_NAMESPACE,
    MEDIA_NAMESPACE,
    Language,
    normalise_name,
)
from transforms.text.wikimedia.wikitext.marks import HOLE, SECTION

# The one group is what is shown, so that joining the pieces of a split replaces all links at once.
# A line may end before the bar: MediaWiki makes no link of that, but what it shows is no text.
_PIPED = re.compile(rf"\[\[[^\[\]{{}}|:\n]++\n?+\|([^\[\]{{}}{SECTION}]*)\]\]")
_PLAIN = re.compile(r"\[\[([^\[\]{}|:\n]+)\]\]")
# What is left by now: targets with a colon, and labels that hold single brackets. A file's caption
# may be such a label; `]]]` closes a label that ends in a bracket.
_ANY = re.compile(
    r"\[\[([^\[\]{}|\n]++)"
    rf"(?:\|([^\[\]{SECTION}]*+(?:(?:\[(?!\[)|\](?!\]))[^\[\]{SECTION}]*+)*+))?\]\](\](?!\]))?"
)
_FILE_NAME = re.compile(
    r"\.(?:jpe?g|png|svg|gif|tiff?|webp|xcf|ogg|oga|ogv|webm|mp3|mp4|wav|midi?|flac|pdf|djvu|stl)$",
    re.IGNORECASE,
)
_ADDRESS = r"[^\s\[\]<>\"']*+(?:'(?!')[^\s\[\]<>\"']*+)*+"  # ends before italics
_EXTERNAL_BARE = re.compile(rf"\[(?i:https?:|ftps?:)?//{_ADDRESS}[ \t]*+\]")
_EXTERNAL_LABELLED = re.compile(
    r"\[(?:(?i:https?:|ftps?:|ircs?:|gopher:|mms:|git:|svn:)?//|mailto:|news:|tel:)"
    rf"{_ADDRESS}[ \t]*+([^\[\]\n]*+)\]"
)
_LOST_BRACKETS = re.compile(r"\[\[|\]\]")


def show_simple_links(text: str) -> str:
    """Replace `[[target]]` and `[[target|label]]` whose target has no colon."""
    if "[[" not in text:
        return text
    return "".join(_PLAIN.split("".join(_PIPED.split(text))))


def show_external_links(text: str) -> str:
    """Replace `[http://… label]` by the label, and one without a label by nothing."""
    if "[" not in text:
        return text
    return "".join(_EXTERNAL_LABELLED.split(_EXTERNAL_BARE.sub(HOLE, text)))


class LinkTexts:
    """Shows links whose target has a prefix: files, categories, other wikis, odd titles."""

    def __init__(
        self,
        language: Language,
        namespaces: Mapping[int, Sequence[str]],
    ) -> None:
        categories = language.namespace_names(CATEGORY_NAMESPACE, namespaces)
        self._hidden = categories | language.interlanguage_codes
        self._files = language.namespace_names(FILE_NAMESPACE, namespaces)
        names = "|".join(map(re.escape, self._files))
        self._unclosed_file = re.compile(rf"\[\[ ?(?i:{names}) ?:[^\n]*")
        self._media = language.namespace_names(MEDIA_NAMESPACE, namespaces)

    def _show(self, match: re.Match[str]) -> str:
        target, label = match[1].strip(), match[2]
        bracket = match[3] or ""
        if target.startswith(":"):
            return (label or target[1:].lstrip(":")) + bracket
        prefix, colon, _ = target.partition(":")
        if colon:
            prefix = normalise_name(prefix)
            if prefix in self._files or (prefix not in self._media and _FILE_NAME.search(target)):
                return HOLE
            if prefix in self._hidden:
                return bracket
        return (label or target) + bracket

    def show(self, text: str) -> str:
        """Replace all links that hold no braces."""
        for _ in range(3):  # links in labels, links in captions, files in captions
            if "[[" not in text:
                return text
            text = show_simple_links(text)
            text = _ANY.sub(self._show, text)
        return text

    def drop_unclosed(self, text: str) -> str:
        """Remove what made no link: double brackets, and an unclosed file with its line."""
        if "[" not in text and "]" not in text:
            return text
        if "[[" in text:
            text = self._unclosed_file.sub(HOLE, text)
        return _LOST_BRACKETS.sub("", text)
