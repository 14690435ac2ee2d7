"""Replace links by the text a reader sees.

Letters after a link (its trail) belong to it on the page; in plain text they simply follow.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from transforms.text.wikimedia.language import normalise_name
from transforms.text.wikimedia.wikitext.marks import HOLE

# The one group is what is shown, so that joining the pieces of a split replaces all links at once.
_PIPED = re.compile(r"\[\[[^\[\]{}|:\n]+\|([^\[\]{}]*)\]\]")
_PLAIN = re.compile(r"\[\[([^\[\]{}|:\n]+)\]\]")
# What is left by now: targets with a colon, and labels that hold single brackets. A file's caption
# may be such a label; `]]]` closes a label that ends in a bracket.
_ANY = re.compile(
    r"\[\[([^\[\]{}|\n]++)"
    r"(?:\|([^\[\]]*+(?:(?:\[(?!\[)|\](?!\]))[^\[\]]*+)*+))?\]\](\](?!\]))?"
)
_FILE_NAME = re.compile(
    r"\.(?:jpe?g|png|svg|gif|tiff?|webp|xcf|ogg|oga|ogv|webm|mp3|mp4|wav|midi?|flac|pdf|djvu|stl)$",
    re.IGNORECASE,
)
_EXTERNAL_BARE = re.compile(r"\[(?i:https?:|ftps?:)?//[^\s\[\]<>\"]*+[ \t]*+\]")
_EXTERNAL_LABELLED = re.compile(
    r"\[(?:(?i:https?:|ftps?:|ircs?:|gopher:|mms:|git:|svn:)?//|(?i:mailto:|news:|tel:))"
    r"[^\s\[\]<>\"]*+[ \t]*+([^\[\]\n]*+)\]"
)
_LOST_BRACKETS = re.compile(r"\[\[|\]\]")

_FILE = 6
_MEDIA = -2
_CATEGORY = 14


def show_simple_links(text: str) -> str:
    """Replace `[[target]]` and `[[target|label]]` whose target has no colon."""
    if "[[" not in text:
        return text
    return "".join(_PLAIN.split("".join(_PIPED.split(text))))


def show_external_links(text: str) -> str:
    """Replace `[http://… label]` by the label, and one without a label by nothing."""
    if "//" not in text and ":" not in text:
        return text
    return "".join(_EXTERNAL_LABELLED.split(_EXTERNAL_BARE.sub(HOLE, text)))


class LinkTexts:
    """Shows links whose target has a prefix: files, categories, other wikis, odd titles."""

    def __init__(
        self,
        namespaces: Mapping[int, Sequence[str]],
        file_names: Collection[str],
        interlanguage_codes: Collection[str],
    ) -> None:
        self._hidden = {normalise_name(name) for name in namespaces.get(_CATEGORY, ())}
        self._hidden.add("category")
        self._hidden.update(interlanguage_codes)
        self._files = {normalise_name(name) for name in namespaces.get(_FILE, ())}
        self._files.update(file_names)
        names = "|".join(map(re.escape, self._files))
        self._unclosed_file = re.compile(rf"\[\[ ?(?i:{names}) ?:[^\n]*")
        self._media = {normalise_name(name) for name in namespaces.get(_MEDIA, ())} | {"media"}

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
        if "[[" in text:
            text = self._unclosed_file.sub(HOLE, text)
        return _LOST_BRACKETS.sub("", text) if "[[" in text or "]]" in text else text
