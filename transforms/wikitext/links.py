"""Replaces links by their visible text.

MediaWiki displays letters that directly follow a link as part of the link. They need no special handling in
plain text.
"""

import contextlib
import re
import urllib.parse
from collections.abc import Mapping, Sequence

from .language import CATEGORY_NAMESPACE, FILE_NAMESPACE, MEDIA_NAMESPACE, Language, normalise_name
from .marks import HOLE, PROTECTED_BAR, SECTION, SEPARATOR, protect
from .tags import decode_entities

# The only group is the shown text, so joining the pieces of a split replaces all links at once. A line
# may end before the bar: MediaWiki does not make a link of that, but shows markup that is not text.
_PIPED = re.compile(rf"\[\[[^\[\]{{}}|:\n]++\n?+\|([^\[\]{{}}{SECTION}]++)\]\]")
_PLAIN = re.compile(r"\[\[([^\[\]{}|:\n]++)\]\]")
_AFTER_WORD = tuple(".,;:!?)»”。、")
# [[a{{!}}b]], after the template has become a bar
_BARRED = re.compile(rf"(\[\[[^\[\]{{}}|\n{PROTECTED_BAR}]++){PROTECTED_BAR}")
# [[http://example.com text]] is an external link between brackets.
_DOUBLE = re.compile(
    r"\[(\[(?:(?i:https?:|ftps?:))?//[^\s\[\]{}|]++)\|?"
    r"([^\[\]{}|\n]*+(?:\[\[[^\[\]{}\n]*+\]\])?)\]\]"
)
_ODD_OPENING = re.compile(r"\[\[(\||\[|//|http)")
_NO_TARGET = re.compile(r"\[\[(\|[^\[\]{}|\n]++)\]\]")
_MANY_BRACKETS = re.compile(
    rf"(?<!\[)(\[{{3,}}+)(?:{SEPARATOR}(\[\[))?([^\[\]{{}}:\n]++)(\]{{3,}}+)"
)
# The links that are left: targets with a colon, and labels with single brackets, such as captions of
# files. `]]]` closes a label that ends in a bracket.
_ANY = re.compile(
    r"\[\[([^\[\]{}|\n]++)"
    rf"(?:\|([^\[\]{SECTION}]*+(?:(?:\[(?!\[)|\](?!\]))[^\[\]{SECTION}]*+)*+))?\]\](\](?!\]))?"
)
_ODD_TARGET = re.compile(r"''|[%<>&\x1f]|^\.{1,2}/")
_ODD_SIGNS = ("''", "%", "<", ">", "&", "./", "\x1f")  # every odd target has at least one
_NO_TITLE = re.compile(r"[\x00-\x1f\x7f\[\]{}|<>]|%[0-9A-Fa-f]{2}|&\w+;|^\.{1,2}/")
_FILE_NAME = re.compile(
    r"\.(?:jpe?g|png|svg|gif|tiff?|webp|xcf|ogg|oga|ogv|webm|mp3|mp4|wav|midi?|flac|pdf|djvu|stl)$",
    re.IGNORECASE,
)
_NO_ADDRESS = rf"\s\x00-\x1f\x7f\[\]<>\"'{SEPARATOR}"
_ADDRESS = rf"[^{_NO_ADDRESS}]*+(?:'(?!')[^{_NO_ADDRESS}]*+)*+"  # ends before italics
_EXTERNAL_BARE = re.compile(rf"\[(?i:https?:|ftps?:)?//{_ADDRESS}[ \t]*+\]")
_EXTERNAL_LABELLED = re.compile(
    r"\[(?:(?i:https?:|ftps?:|ircs?:|gopher:|mms:|git:|svn:)?//|mailto:|news:|tel:)"
    rf"{_ADDRESS}[ \t]*+((?:[^\[\]\n<\x00-\x08]++|<(?:/?\w[^<>\n]*+>)?)*+(?:\[(?!\[)[^\[\]\n]*+)?)\]"
)
_NO_LINK = re.compile(r"\[\[([^\[\]|\n\ufdef]*[^\W_][^\[\]|\n\ufdef]*+)\]\]")
_LOST_BRACKETS = re.compile(r"\[\[|\]\]")
_LEFT, _RIGHT = protect("["), protect("]")


def show_simple_links(text: str) -> str:
    """Replaces `[[target]]` and `[[target|label]]` by their visible text, unless the target has a colon."""
    if "[[" not in text:
        return text
    pieces = _PLAIN.split("".join(_PIPED.split(text)))
    targets = "\n".join([*pieces[1::2], ""])
    if " \n" in targets:
        _drop_blanks_at_end(pieces)
    if any(sign in targets for sign in _ODD_SIGNS):
        pieces[1::2] = [
            _show_target(target) if _ODD_TARGET.search(target) else target
            for target in pieces[1::2]
        ]
    return "".join(pieces)


def _drop_blanks_at_end(pieces: list[str]) -> None:
    """Removes the spaces at the end of a link's text if punctuation follows.

    Every second item of `pieces` is the text of a link. The list is modified in place.
    """
    for i in range(1, len(pieces), 2):
        if pieces[i].endswith(" ") and pieces[i + 1].startswith(_AFTER_WORD):
            pieces[i] = pieces[i].rstrip()


def _show_target(target: str) -> str:
    """Returns the target of a link without label as the page displays it.

    Characters written as `%41` are decoded. Apostrophes are kept as text. If the target cannot be the title
    of a page, it is not a link, so the brackets are kept as text, too.
    """
    written = shown = decode_entities(target)
    with contextlib.suppress(UnicodeDecodeError):
        shown = urllib.parse.unquote(written, errors="strict")
    title = shown.partition("#")[0].strip()
    return protect(f"[[{written}]]" if _NO_TITLE.search(title) else shown.replace("\n", " "))


def show_external_links(text: str) -> str:
    """Replaces `[http://… label]` by its label, and removes links without a label."""
    if "[" not in text:
        return text
    return "".join(_EXTERNAL_LABELLED.split(_EXTERNAL_BARE.sub(HOLE, text)))


def _show_double(match: re.Match[str]) -> str:
    label = match[2].strip()
    return f"{_LEFT}{label}{_RIGHT}" if label else HOLE


def _show_brackets(match: re.Match[str]) -> str:
    """Converts a link in extra brackets, `[[[[A]]]]`, to a link between brackets that are plain text.

    A text in an odd number of brackets, such as `[[[A]]]`, is not a link. All its brackets are plain text.
    """
    opening, link, content, closing = match.groups()
    count = len(opening)
    if len(closing) - (2 if link else 0) != count:
        return match[0]  # a typing error
    if link:
        content = f"[[{content}]]"
    elif count % 2 == 0:
        content, count = f"[[{content}]]", count - 2
    else:
        content = content.replace("|", PROTECTED_BAR)
    return f"{_LEFT * count}{content}{_RIGHT * count}"


def _drop_lost_brackets(line: str) -> str:
    """Removes from a line the double brackets (`[[` or `]]`) that belong to no link.

    Single brackets of the line may already be marked as plain text. If such a bracket has no partner, the
    double brackets are kept as plain text, because one of them may contain the partner.
    """
    is_meant = line.count(_LEFT) != line.count(_RIGHT)
    return _LOST_BRACKETS.sub(lambda match: protect(match[0]) if is_meant else "", line)


class LinkTexts:
    """Replaces links that `show_simple_links` does not handle.

    These are links whose target has a prefix (files, categories, other wikis) or an unusual title.
    """

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
        names = "|".join(map(re.escape, categories))
        self._row_of_categories = re.compile(
            rf"\n[^\n\[\]{{}}*#:;|{SECTION}]{{2,40}}:?[' \t]*+"
            rf"\[\[:(?i:{names})[ _]*:[^\[\]\n]*+\]\][^\w\n]*+(?=\n)"
        )
        self._media = language.namespace_names(MEDIA_NAMESPACE, namespaces)
        self._prefixes = {normalise_name(name) for names in namespaces.values() for name in names}
        self._prefixes.add("project")

    def _show(self, match: re.Match[str]) -> str:
        target, label = match[1].strip(), match[2]
        bracket = match[3] or ""
        if target.startswith(":"):
            return (label or target[1:].lstrip(":")) + bracket
        prefix, colon, rest = target.partition(":")
        if colon:
            prefix = normalise_name(prefix)
            if prefix in self._files or (prefix not in self._media and _FILE_NAME.search(target)):
                return HOLE
            if prefix in self._hidden:
                return bracket
            if prefix in self._prefixes and not rest.partition("#")[0].strip():
                return protect(match[0])
        if label:
            return protect(label + bracket) if "[" in label and "//" in label else label + bracket
        if label is not None:
            return protect(match[0])
        return (_show_target(target) if _ODD_TARGET.search(target) else target) + bracket

    def show(self, text: str) -> str:
        """Replaces all links by their visible text, except links that contain braces."""
        if "[[" not in text:
            return text
        odd = set(_ODD_OPENING.findall(text))
        if "|" in odd:
            text = _NO_TARGET.sub(rf"{_LEFT * 2}\1{_RIGHT * 2}".replace("|", PROTECTED_BAR), text)
        if "[" in odd:
            text = _MANY_BRACKETS.sub(_show_brackets, text)
        for _ in range(3):  # links in labels, links in captions, files in captions
            if "[[" not in text:
                return text
            if PROTECTED_BAR in text:
                text = _BARRED.sub(r"\1|", text)
            if "http" in odd or "//" in odd:
                text = _DOUBLE.sub(_show_double, text)
            text = show_simple_links(text)
            text = _ANY.sub(self._show, text)
        return text

    def drop_rows_of_categories(self, text: str) -> str:
        """Removes lines that only refer to a category, such as "''See also [[:Category:Births]]''"."""
        return self._row_of_categories.sub("\n", text) if "[[:" in text else text

    def drop_unclosed(self, text: str) -> str:
        """Removes brackets without a partner. An unclosed file link is removed with the rest of its line."""
        if "[" not in text and "]" not in text:
            return text
        if "[[" in text:
            text = self._unclosed_file.sub(HOLE, text)
            text = _NO_LINK.sub(lambda match: protect(f"[[{match[1]}]]"), text)
        if "[[" not in text and "]]" not in text:
            return text
        if _LEFT not in text and _RIGHT not in text:
            return _LOST_BRACKETS.sub("", text)
        return "\n".join([_drop_lost_brackets(line) for line in text.split("\n")])
