"""Reads the template pages of a dump: the aliases and definitions of templates.

Only definitions that can produce a part of a sentence are used. A definition that only calls a Lua module is
not used, nor is one with tables or boxes. https://www.mediawiki.org/wiki/Help:Templates explains which
parts of a template page are transcluded.
"""

import collections
import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikitext.extensions import strip_extensions
from corpusmill.transforms.wikitext.language import normalise_name
from corpusmill.transforms.wikitext.marks import drop_noncharacters

MAX_DEFINITION = 256 * 1024  # characters; tables of a country's municipalities have 100,000
ENGLISH_TEMPLATE = "Template:"  # prefix of titles of templates in the English Wikipedia

Kind = Literal["alias", "definition"]


class TemplateFact(NamedTuple):
    """A fact about a template of a wiki: an alias or a definition."""

    name: str  # normalised, without its namespace
    kind: Kind
    value: str  # the name of the template, or the wikitext of the definition ("" for a note)


class WikiTemplates(NamedTuple):
    """A wiki's own template aliases and definitions, and the headings whose sections the cleaner drops.

    Template names and headings are normalised. Template names have no namespace.
    """

    aliases: Mapping[str, str] = {}  # redirects, and local names of templates of the tables
    definitions: Mapping[str, str] = {}  # name → wikitext that replaces the template, or ""
    headings: Mapping[
        str, bool
    ] = {}  # headings of dropped sections → True if dropped at levels 1 and 2 only


NO_TEMPLATES = WikiTemplates()

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ONLY = re.compile(r"<onlyinclude\s*>(.*?)</onlyinclude\s*>", re.DOTALL | re.IGNORECASE)
_NOT_INCLUDED = re.compile(
    r"<noinclude\s*/>|<noinclude\s*>.*?(?:</noinclude\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_INCLUDED = re.compile(r"</?includeonly\s*/?>", re.IGNORECASE)
# Blocks, boxes and parts that are not printed
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
    """Returns the part of a template page that is transcluded into the pages that use the template."""
    text = _COMMENT.sub("", drop_noncharacters(wikitext))
    only = _ONLY.findall(text)
    if only:
        return "".join(only)
    return _INCLUDED.sub("", _NOT_INCLUDED.sub("", text))


def is_fit_for_prose(definition: str) -> bool:
    """Returns True if the wikitext of a definition looks as if it can produce a part of a sentence."""
    return (
        len(definition) <= MAX_DEFINITION
        and bool(_WORD.search(definition))
        and not _UNFIT.search(definition)
        and (not _BLOCK.match(definition) or bool(_QUOTED.search(definition)))
        and (not _MODULE.search(definition) or bool(_BRANCH.search(definition)))
    )


def shows_nothing(definition: str) -> bool:
    """Returns True if a template's definition adds no words to a sentence.

    Such a template produces nothing, or only a footnote, a footnote mark or a category. A sentence is still
    complete without it.
    """
    shown = _LONE_LINK.sub("", strip_extensions(definition)).strip()
    return not shown or bool(_FOOTNOTE_MARK.fullmatch(shown))


def read_template(page: Page) -> TemplateFact | None:
    """Returns the alias or definition on a page of the template namespace.

    Returns None if the page has no alias, and no definition that can be used.
    """
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
    """Returns a fact that makes a template's local name an alias of its English name, or None.

    `english` and `local` are the titles of a Wikidata item's pages in the English Wikipedia and in the local
    wiki. Returns None if the item is not about a template, or if the names are equal.

    Aliases are needed because the language tables use the template names of the English Wikipedia. Template
    definitions that were copied from the English Wikipedia mostly use these names, too.
    """
    if not english.startswith(ENGLISH_TEMPLATE) or ":" not in local:
        return None
    name, value = _without_namespace(local), _without_namespace(english)
    return TemplateFact(name, "alias", value) if name != value else None


def count_calls(wikitext: str) -> collections.Counter[str]:
    """Returns how often each template is called in a wikitext: normalised template name → number of calls."""
    calls = collections.Counter(_CALL.findall(wikitext))
    counts: collections.Counter[str] = collections.Counter()
    for name, uses in calls.items():
        counts[normalise_name(name)] += uses
    return counts


def collect(facts: Iterable[TemplateFact]) -> WikiTemplates:
    """Collects facts about a wiki's templates into tables.

    If a template has several aliases or several definitions, the one that sorts first is used. So the result
    does not depend on the order of the facts.
    """
    tables: dict[Kind, dict[str, str]] = {"alias": {}, "definition": {}}
    for fact in sorted(facts, reverse=True):
        tables[fact.kind][fact.name] = fact.value
    return WikiTemplates(tables["alias"], tables["definition"])
