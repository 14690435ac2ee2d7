"""Tell which places of a cleaned text were links to other pages.

The cleaner keeps no track of links. So a page is cleaned twice, the second time with a sign at the start
of what every link shows; where the two differ in the signs alone, the signs say where the links are.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from transforms.text.wikimedia.language import (
    CATEGORY_NAMESPACE,
    FILE_NAMESPACE,
    MEDIA_NAMESPACE,
    load_language,
    normalise_name,
)
from transforms.text.wikimedia.verbatim import split_verbatim
from transforms.text.wikimedia.wikitext.clean import CleanedPage, UncleanableError, WikitextCleaner

SIGN = "\ue000"  # of private use: it means nothing on any wiki, and no pass of the cleaner knows it

# Headings are passed over: their words decide whether a section is dropped. Only the start of a link is
# matched, so that its label may hold templates.
_LINK = re.compile(
    r"^=[^\n]*=[ \t]*$"
    r"|\[\[(?P<target>[^\[\]{}|\n]+)(?:(?P<bar>\|\s*+)(?=[^\[\]]+\]\])|(?=\]\]))"
    r"|(?P<call>\{\{\s*[Ww]\s*\|)(?P<arguments>[^\[\]{}]*)(?=\}\})",
    re.MULTILINE,
)

_Links = tuple[int, ...]  # offsets in a paragraph, in code points, ascending


class LinkedPage(NamedTuple):
    """A cleaned page, and where in it links begin."""

    page: CleanedPage  # as the cleaner gives it, without signs
    links: tuple[
        tuple[_Links, ...], ...
    ]  # by section and paragraph; () also where none can be told
    unknown: int  # paragraphs of which it cannot be told whether they hold links


def mark_links(wikitext: str) -> str:
    """Put SIGN at the start of what each link to another page shows: `[[a|b]]`, `[[a]]`, `{{w|a|b}}`.

    Files, categories, links to the same page in other languages, external links, and links within the
    page stay as they are.
    """
    return "".join(
        text if is_verbatim else _LINK.sub(_mark, text)
        for text, is_verbatim in split_verbatim(wikitext)
    )


def find_marks(text: str) -> tuple[str, list[int]]:
    """Return a text without its signs, and their places in it.

    The offsets are in code points and ascend; signs that only signs part count as one, and one at the end
    of the text is before a link that shows nothing.
    """
    pieces = text.split(SIGN)
    plain = "".join(pieces)
    offsets = itertools.accumulate(map(len, pieces[:-1]))
    return plain, [offset for offset in dict.fromkeys(offsets) if offset < len(plain)]


def clean_with_links(cleaner: WikitextCleaner, wikitext: str, title: str) -> LinkedPage:
    """Clean a page and find its links.

    Raises:
        UncleanableError: see WikitextCleaner.clean.
    """
    page = cleaner.clean(wikitext, title)
    if SIGN in wikitext or any(SIGN in text for text in _paragraphs(page)):
        return _without_links(page, unknown=True)  # &#xE000; is seen in the cleaned text only
    marked = mark_links(wikitext)
    if marked == wikitext:
        return _without_links(page, unknown=False)
    try:
        of_marked = cleaner.clean(marked, title)
    except UncleanableError:  # the signs have made the page too long
        return _without_links(page, unknown=True)
    if _shape(of_marked) != _shape(page):
        return _without_links(page, unknown=True)
    links: list[_Links] = []
    unknown = 0
    for text, with_signs in zip(_paragraphs(page), _paragraphs(of_marked), strict=True):
        plain, offsets = find_marks(with_signs)
        links.append(tuple(offsets) if plain == text else ())
        unknown += plain != text
    rest = iter(links)
    by_section = tuple(tuple(itertools.islice(rest, size)) for size in _shape(page))
    return LinkedPage(page, by_section, unknown)


def _mark(match: re.Match[str]) -> str:
    if match["target"]:
        return _mark_link(match[0], match["target"], match["bar"])
    if match["call"]:
        return match["call"] + _mark_arguments(match["arguments"])
    return match[0]


def _mark_link(link: str, target: str, bar: str | None) -> str:
    """Return the start of a link, up to its label, with the sign; or as it is."""
    name = target.strip()
    prefix, colon, _ = name.partition(":")
    if not name or name.startswith("#") or (colon and normalise_name(prefix) in _not_pages()):
        return link
    if bar:
        return f"{link}{SIGN}"
    if colon:
        shown = name[1:].lstrip(":") if name.startswith(":") else name
        return f"{link}|{SIGN}{shown}"
    blanks = target[: len(target) - len(target.lstrip())]
    return f"{link}|{blanks}{SIGN}{target.lstrip()}"


def _mark_arguments(arguments: str) -> str:
    """Return the arguments of {{w|…}} with the sign in the one that is shown: the label or the page."""
    parts = arguments.split("|")
    positional = [i for i, part in enumerate(parts) if "=" not in part][:2]
    shown = [i for i in positional if parts[i].strip()]
    if shown:
        part = parts[shown[-1]]
        start = len(part) - len(part.lstrip())
        parts[shown[-1]] = f"{part[:start]}{SIGN}{part[start:]}"
    return "|".join(parts)


@functools.cache
def _not_pages() -> frozenset[str]:
    """The prefixes of links that show a file or nothing."""
    language = load_language("en")
    namespaces = (MEDIA_NAMESPACE, FILE_NAMESPACE, CATEGORY_NAMESPACE)
    names = (language.namespace_names(number, {}) for number in namespaces)
    return language.interlanguage_codes.union(*names)


def _paragraphs(page: CleanedPage) -> Iterator[str]:
    return (paragraph for section in page.sections for paragraph in section.paragraphs)


def _shape(page: CleanedPage) -> tuple[int, ...]:
    """Returns the number of paragraphs in each section."""
    return tuple(len(section.paragraphs) for section in page.sections)


def _without_links(page: CleanedPage, *, unknown: bool) -> LinkedPage:
    shape = _shape(page)
    return LinkedPage(page, tuple(((),) * size for size in shape), sum(shape) if unknown else 0)
