"""Reads the template pages of a dump: the other names of templates, and the text that each shows.

Only definitions that can be in a sentence are of use: plain wikitext, without tables and boxes, and
not Lua alone. What a page transcludes: https://www.mediawiki.org/wiki/Help:Templates.
"""

import collections
import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from transforms.records import Page
from transforms.text.wikimedia.language import normalise_name
from transforms.text.wikimedia.wikitext.extensions import strip_extensions
from transforms.text.wikimedia.wikitext.marks import drop_noncharacters

MAX_DEFINITION = 256 * 1024  # characters; tables of a country's municipalities have 100,000
ENGLISH_TEMPLATE = "Template:"  # so begin titles of templates in the English Wikipedia

Kind = Literal["alias", "definition"]


class TemplateFact(NamedTuple):
    """One thing that is known of a template of a wiki."""

    name: str  # normalised, without its namespace
    kind: Kind
    value: str  # of an alias: the name it stands for; of a definition: its wikitext, "" for a note


class WikiTemplates(NamedTuple):
    """The wiki's own definitions of templates, and headings. All names are normalised, without namespace."""

    aliases: Mapping[str, str] = {}  # redirects, and local names of templates of the tables
    definitions: Mapping[str, str] = {}  # wikitext that stands where the template stands, or ""
    headings: Mapping[
        str, bool
    ] = {}  # of sections that are dropped → whether at level 1 and 2 only


NO_TEMPLATES = WikiTemplates()

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ONLY = re.compile(r"<onlyinclude\s*>(.*?)</onlyinclude\s*>", re.DOTALL | re.IGNORECASE)
_NOT_INCLUDED = re.compile(
    r"<noinclude\s*/>|<noinclude\s*>.*?(?:</noinclude\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_INCLUDED = re.compile(r"</?includeonly\s*/?>", re.IGNORECASE)
# Blocks and boxes, and what is not printed
_UNFIT = re.compile(
    r"\{\||</?(?:table|tr|td|gallery|imagemap|math|score|timeline|categorytree|inputbox)\b"
    r"|\b(?:navbox|infobox|[a-z]*mbox|stub)\b|\A[*#:;|!=]|\[https?:",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"\s*<(?:div|center|ul|ol|dl|h[1-6]|hr)\b", re.IGNORECASE)
_QUOTED = re.compile(r"<(?:blockquote|poem)\b", re.IGNORECASE)
_MODULE = re.compile(r"#invoke\s*:", re.IGNORECASE)
_BRANCH = re.compile(r"#(?:if|switch)", re.IGNORECASE)
_FOOTNOTE_MARK = re.compile(r"\s*<sup\b.*</sup\s*>\s*", re.DOTALL | re.IGNORECASE)
_LINK_TARGET = re.compile(r"\[\[([^\[\]{}|#<>\n]{1,255})")
_LONE_LINK = re.compile(r"\[\[[^\[\]|{}:]+:[^\[\]|]*(?:\|[^\[\]]*)?\]\]\s*\Z")
_CALL = re.compile(r"\{\{\s*([^|{}<>\[\]#:\n]{1,255})")
_WORD = re.compile(r"\w")


def transcluded(wikitext: str) -> str:
    """Return the part of a template page that appears where the template is used."""
    text = _COMMENT.sub("", drop_noncharacters(wikitext))
    only = _ONLY.findall(text)
    if only:
        return "".join(only)
    return _INCLUDED.sub("", _NOT_INCLUDED.sub("", text))


def is_fit_for_prose(definition: str) -> bool:
    """Returns True if a definition may become a part of a sentence, as far as its text shows."""
    return (
        len(definition) <= MAX_DEFINITION
        and bool(_WORD.search(definition))
        and not _UNFIT.search(definition)
        and (not _BLOCK.match(definition) or bool(_QUOTED.search(definition)))
        and (not _MODULE.search(definition) or bool(_BRANCH.search(definition)))
    )


def shows_nothing(definition: str) -> bool:
    """Returns True if a definition is a note, a mark or a category, which leaves no gap in a sentence."""
    shown = _LONE_LINK.sub("", strip_extensions(definition)).strip()
    return not shown or bool(_FOOTNOTE_MARK.fullmatch(shown))


def read_template(page: Page) -> TemplateFact | None:
    """Return what a page of the template namespace says, or None where that is of no use."""
    name = _without_namespace(page.title)
    if page.is_redirect:
        target = _LINK_TARGET.search(page.text)
        title = page.redirect_target or (target[1] if target else "")
        return TemplateFact(name, "alias", _without_namespace(title)) if title else None
    if page.content_model != "wikitext" or len(page.text) > 8 * MAX_DEFINITION:
        return None
    definition = transcluded(page.text).strip()
    if definition and shows_nothing(definition):
        return TemplateFact(name, "definition", "")
    return TemplateFact(name, "definition", definition) if is_fit_for_prose(definition) else None


def _without_namespace(title: str) -> str:
    return normalise_name(title.partition(":")[2] or title)


def sitelink_alias(english: str, local: str) -> TemplateFact | None:
    """Return the local name of the template that an item is about, as an alias of its English name.

    Takes the titles of the item's pages in the English Wikipedia and in the wiki. None where the item
    is about something else, or the names are the same. The tables name templates as the English
    Wikipedia does, and so do most of those that other wikis took over.
    """
    if not english.startswith(ENGLISH_TEMPLATE) or ":" not in local:
        return None
    name, value = _without_namespace(local), _without_namespace(english)
    return TemplateFact(name, "alias", value) if name != value else None


def count_calls(wikitext: str) -> collections.Counter[str]:
    """Return how often each template is called in a text, by normalised name."""
    calls = collections.Counter(_CALL.findall(wikitext))
    counts: collections.Counter[str] = collections.Counter()
    for name, uses in calls.items():
        counts[normalise_name(name)] += uses
    return counts


def collect(facts: Iterable[TemplateFact]) -> WikiTemplates:
    """Put facts together. If two are about one name, the smaller value counts: a rule beats chance."""
    tables: dict[Kind, dict[str, str]] = {"alias": {}, "definition": {}}
    for fact in sorted(facts, reverse=True):
        tables[fact.kind][fact.name] = fact.value
    return WikiTemplates(tables["alias"], tables["definition"])
