"""Finds the positions in a cleaned text at which the wikitext had links to other pages.

The cleaner does not track links. So a page is cleaned twice. Before the second time, the character SIGN is
inserted before the visible text of each link in the wikitext. If the two cleaned texts differ only in these
signs, the signs show where the links are.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from . import language as tables
from .clean import CleanedPage, UncleanableError, WikitextCleaner
from .language import load_language, normalise_name
from .tags import split_verbatim

SIGN = "\ue000"  # private use: without meaning on any wiki, and not used by the cleaner

# Headings are skipped: their words decide whether a section is dropped. Only the start of a link is
# matched, so that its label may contain templates.
_LINK = re.compile(
    r"^=[^\n]*=[ \t]*$"
    r"|\[\[(?P<target>[^\[\]{}|\n]+)(?:(?P<bar>\|\s*+)(?=[^\[\]]+\]\])|(?=\]\]))"
    r"|(?P<call>\{\{\s*[Ww]\s*\|)(?P<arguments>[^\[\]{}]*)(?=\}\})",
    re.MULTILINE,
)

_Links = tuple[int, ...]  # offsets in a paragraph, in code points, ascending


class LinkedPage(NamedTuple):
    """A cleaned page, with the positions in its text at which links begin."""

    page: CleanedPage  # result of the cleaner, without signs
    # By section and paragraph; () also if the links of a paragraph are not known
    links: tuple[tuple[_Links, ...], ...]
    unknown: int  # number of paragraphs whose links are not known


def mark_links(wikitext: str) -> str:
    """Inserts SIGN before the visible text of each link to another page: `[[a|b]]`, `[[a]]`, `{{w|a|b}}`.

    Links to files, categories, other languages, other sites, and sections of the same page are unchanged.
    """
    return "".join(
        text if is_verbatim else _LINK.sub(_mark, text)
        for text, is_verbatim in split_verbatim(wikitext)
    )


def find_marks(text: str) -> tuple[str, list[int]]:
    """Removes each SIGN from a text. Returns the text and the positions at which the signs were.

    The positions are ascending offsets in code points, in the text without signs. Consecutive signs count as
    one. A sign at the end of the text is ignored, because its link has no visible text.
    """
    pieces = text.split(SIGN)
    plain = "".join(pieces)
    offsets = itertools.accumulate(map(len, pieces[:-1]))
    return plain, [offset for offset in dict.fromkeys(offsets) if offset < len(plain)]


def clean_with_links(cleaner: WikitextCleaner, wikitext: str, title: str) -> LinkedPage:
    """Cleans a page. Returns it with the positions of its links.

    Raises:
        UncleanableError: in the same cases as `WikitextCleaner.clean`.
    """
    page = cleaner.clean(wikitext, title)
    if SIGN in wikitext or any(SIGN in text for text in _paragraphs(page)):
        return _without_links(page, unknown=True)  # from &#xE000; in the wikitext
    marked = mark_links(wikitext)
    if marked == wikitext:
        return _without_links(page, unknown=False)
    try:
        of_marked = cleaner.clean(marked, title)
    except UncleanableError:  # the signs made the page too long
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
    return match["call"] + _mark_arguments(match["arguments"]) if match["call"] else match[0]


def _mark_link(link: str, target: str, bar: str | None) -> str:
    """Returns the beginning of a link with SIGN inserted before the visible text.

    Links that do not lead to another page are returned unchanged.

    Args:
      link: the wikitext of the link, up to its label or the closing brackets: "[[target|" or "[[target".
      target: the target of the link.
      bar: the "|" before the label; None if the link has no label.
    """
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
    """Returns the arguments of {{w|…}} with SIGN before the argument that is displayed.

    The label is displayed, or the title of the page if there is no label.
    """
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
    """Returns the prefixes of links that do not lead to a page of the wiki, such as "file" in `[[file:…]]`.

    They are the names of the namespaces for media, files and categories, and the codes of other languages.
    """
    language = load_language("en")
    namespaces = (tables.MEDIA_NAMESPACE, tables.FILE_NAMESPACE, tables.CATEGORY_NAMESPACE)
    names = (language.namespace_names(number, {}) for number in namespaces)
    return language.interlanguage_codes.union(*names)


def _paragraphs(page: CleanedPage) -> Iterator[str]:
    return (paragraph for section in page.sections for paragraph in section.paragraphs)


def _shape(page: CleanedPage) -> tuple[int, ...]:
    """Returns the number of paragraphs in each section of a page."""
    return tuple(len(section.paragraphs) for section in page.sections)


def _without_links(page: CleanedPage, *, unknown: bool) -> LinkedPage:
    shape = _shape(page)
    return LinkedPage(page, tuple(((),) * size for size in shape), sum(shape) if unknown else 0)
