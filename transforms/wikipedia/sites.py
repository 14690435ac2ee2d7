"""Loads the settings of the English wikis from which sentences are taken, such as Wikinews.

The settings are TOML files. `languages/en.toml` has the settings of the cleaner that all these wikis share,
such as the headings of dropped sections and the texts of templates. `sites/<name>.toml` adds settings for
one wiki, and has the rules that select its articles. Goyal et al. 2022, section 3.1, names Wikinews,
Wikijunior and Wikivoyage as the sources of FLORES-101.
"""

import dataclasses
import functools
import re
import urllib.parse
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..files.records import DOMAINS, Page, Reason
from ..wikitext.clean import WikitextCleaner
from ..wikitext.language import (
    Language,
    add_tables,
    load_language,
    normalise_name,
    normalise_names,
    read_table,
)
from ..wikitext.tags import drop_verbatim
from ..wikitext.templates.definitions import NO_TEMPLATES, WikiTemplates
from .screening import ARTICLE_NAMESPACE, PageScreening, find_template

# Characters that MediaWiki's wfUrlencode does not encode, besides letters, digits and "-_.".
_UNQUOTED = ";@$!*(),/~:"
_CATEGORY = re.compile(r"\[\[\s*category\s*:([^\[\]{}|\n]+)(?:\|[^\[\]]*)?\]\]", re.IGNORECASE)

_PICTURE_TYPE = r"\.(?:jpe?g|png|svg|gif|tiff?|webp|xcf)\b"
_PICTURE = rf"[^|{{}}\[\]<>\n=]*{_PICTURE_TYPE}"
_FILE_LINK = re.compile(rf"\[\[\s*(?:file|image)\s*:{_PICTURE}\s*([|\]][^\[\]]*)", re.IGNORECASE)
_WIDTH = re.compile(r"\|\s*x?([0-9]+)(?:x[0-9]*)?\s*px\s*(?=[|\]]|$)")
_MIN_PICTURE_PX = 50  # flags and signs in a line of text are smaller
_FRAMED = re.compile(r"\|\s*(?:thumb|thumbnail|frame|framed)\b")
_GALLERY = re.compile(r"<gallery\b[^<>]*>([^<]*)", re.IGNORECASE)
_IN_GALLERY = re.compile(_PICTURE_TYPE, re.IGNORECASE)
_TEMPLATE_OR_PICTURE = re.compile(
    rf"\{{\{{\s*([^|{{}}\[\]<>]*)|\}}\}}|([|=]\s*+{_PICTURE}\s*(?=[|}}\n]))", re.IGNORECASE
)


class _Required(NamedTuple):
    """The templates and categories that mark an article. A page must have at least one of them."""

    reason: str  # reason to reject a page that has none; "" if nothing is required
    templates: frozenset[str]
    categories: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Site:
    """A wiki from which sentences are taken. The names of templates and categories are normalised.

    A site has only tables and no state, so it can be shared and pickled.
    """

    name: str  # of DOMAINS
    dbname: str  # "enwikinews"
    address: str  # of its pages, up to the title: "https://en.wikinews.org/wiki/"
    language: Language
    templates: WikiTemplates  # templates that the site's tables define by wikitext: {{km|5}}
    namespaces: tuple[int, ...]  # of articles
    title_prefix: str  # of the titles of all articles: "Wikijunior:", or ""
    drops_covers: bool  # a page that is a table of contents of its subpages is not an article
    required: _Required
    unwanted_templates: Mapping[str, frozenset[str]]  # reason of rejection → templates
    unwanted_titles: Mapping[str, str]  # reason of rejection → regex, case ignored
    pictureless_templates: frozenset[str]  # templates whose pictures the page does not show

    def url_of(self, title: str) -> str:
        """Returns the URL of a page, encoded as by MediaWiki.

        For example, `'` is encoded as %27, but `:` and `,` are not encoded.
        """
        return self.address + urllib.parse.quote(title.replace(" ", "_"), safe=_UNQUOTED)

    def cleaner(
        self, namespaces: Mapping[int, Sequence[str]], of_wiki: WikiTemplates = NO_TEMPLATES
    ) -> WikitextCleaner:
        """Returns a cleaner for the site's pages.

        Args:
            namespaces: number of each namespace → its names, from the head of the dump.
            of_wiki: the template definitions in the dump. Definitions in the site's tables take precedence.
        """
        definitions = {**of_wiki.definitions, **self.templates.definitions}
        templates = WikiTemplates(of_wiki.aliases, definitions)
        return WikitextCleaner(self.language, namespaces, templates)

    def reason_to_reject(self, page: Page) -> Reason | None:
        """Returns the first reason to reject the page, or None if the page is an article."""
        return next(self._reasons(page), None)

    def _reasons(self, page: Page) -> Iterator[Reason]:
        if page.namespace not in self.namespaces:
            yield Reason("other-namespace", str(page.namespace))
        # The namespace was checked above: articles of Wikijunior have a namespace of their own.
        screening = PageScreening(self.language, uses_template_names=True)
        if reason := screening.reason_to_reject(page._replace(namespace=ARTICLE_NAMESPACE)):
            yield reason
        for slug, pattern in self.unwanted_titles.items():
            if found := re.search(pattern, page.title, re.IGNORECASE):
                yield Reason(slug, f"title {found[0]!r}")
        if not page.title.startswith(self.title_prefix):
            yield Reason("other-book", f"not in {self.title_prefix}")
        text = drop_verbatim(page.text)  # {{publish}} in a comment does not publish the page
        for slug, names in self.unwanted_templates.items():
            if name := find_template(text, names):
                yield Reason(slug, f"template {name}")
        if self.required.reason and not self._has_required(text):
            yield Reason(self.required.reason)
        if self.drops_covers and "/" not in page.title:
            # The table of contents of a book links to or transcludes its own subpages.
            name = re.escape(page.title).replace(r"\ ", "[ _]")
            subpage = rf"(?:\[\[|\{{\{{)\s*:?\s*(?:{name})?/[^\s|\]}}]"
            if re.search(subpage, text, re.IGNORECASE):
                yield Reason("book-cover")

    def _has_required(self, text: str) -> bool:
        if find_template(text, self.required.templates):
            return True
        return not self.required.categories.isdisjoint(map(normalise_name, categories_of(text)))

    def has_image(self, wikitext: str) -> bool:
        """Returns True if a page contains a picture.

        Icons do not count. Banners do not count either, because every page of Wikivoyage has one. FLORES-101
        seems not to count them: 60 of the 176 Wikivoyage articles in the released dev and devtest are
        marked as having no picture.
        """
        text = drop_verbatim(wikitext)
        if any(map(_IN_GALLERY.search, _GALLERY.findall(text))):
            return True
        if any(_is_large(options) for options in _FILE_LINK.findall(text)):
            return True
        return _has_picture_in_template(text, self.pictureless_templates)


def categories_of(wikitext: str) -> tuple[str, ...]:
    """Returns the categories of a page in the order of its wikitext, without sort keys."""
    names = (
        " ".join(name.replace("_", " ").split())
        for name in _CATEGORY.findall(drop_verbatim(wikitext))
    )
    return tuple(dict.fromkeys(filter(None, names)))


def _is_large(options: str) -> bool:
    width = _WIDTH.search(options)
    return bool(not width or int(width[1]) >= _MIN_PICTURE_PX or _FRAMED.search(options))


def _has_picture_in_template(text: str, pictureless: Collection[str]) -> bool:
    """Returns True if a template call in a page has the file name of a picture as an argument.

    Calls of the templates in `pictureless` are ignored.
    """
    within: list[str] = []
    for match in _TEMPLATE_OR_PICTURE.finditer(text):
        if match[1] is not None:
            within.append(normalise_name(match[1]))
        elif match[2] is None:
            del within[-1:]
        elif within and within[-1] not in pictureless:
            return True
    return False


@functools.cache
def load_site(name: str, *, all_books: bool = False) -> Site:
    """Returns the site with the given name.

    Args:
        name: one of DOMAINS.
        all_books: True to use all of Wikibooks, not only Wikijunior. The paper (Goyal et al. 2022) names
          only Wikijunior, but 107 of the 179 Wikibooks articles in the released dev and devtest of
          FLORES-101 are from other books.

    Raises:
        ValueError: there is no such site, or `all_books` is True but the site has no books.
    """
    if name not in DOMAINS:
        raise ValueError(f"unknown site {name!r}; expected one of {', '.join(DOMAINS)}")
    tables = read_table("sites", name)
    if all_books:
        if "title_prefix" not in tables:
            raise ValueError(f"{name} has no books; all_books can only be used with wikibooks")
        tables["title_prefix"] = ""
    required = tables.get("required", {})
    definitions = {normalise_name(key): text for key, text in tables.get("definitions", {}).items()}
    return Site(
        name=name,
        dbname=tables["dbname"],
        address=tables["address"],
        language=_language_of(tables, definitions),
        templates=WikiTemplates(definitions=definitions),
        namespaces=tuple(tables["namespaces"]),
        title_prefix=tables.get("title_prefix", ""),
        drops_covers=tables.get("drops_covers", False),
        required=_Required(
            required.get("reason", ""),
            normalise_names(required.get("templates", ())),
            normalise_names(required.get("categories", ())),
        ),
        unwanted_templates={
            slug: normalise_names(names) for slug, names in tables["unwanted_templates"].items()
        },
        unwanted_titles=tables["unwanted_titles"],
        pictureless_templates=normalise_names(tables.get("pictureless_templates", ())),
    )


def _language_of(tables: Mapping[str, Any], definitions: Collection[str]) -> Language:
    """Returns the language tables of English, extended by the entries of a site's own tables.

    Args:
        tables: the tables of the site.
        definitions: names of the templates that the site defines by wikitext. The result has no entries for
          these templates, because an entry would be used instead of the definition.
    """
    added = {
        key: tables[key]
        for key in ("dropped_headings", "silent_templates", "templates")
        if key in tables
    }
    language = add_tables(load_language("en"), added)
    prefixes = tuple(prefix.casefold() for prefix in tables.get("silent_prefixes", ()))
    templates = {key: text for key, text in language.templates.items() if key not in definitions}
    return dataclasses.replace(
        language,
        templates=templates,
        silent_prefixes=language.silent_prefixes + prefixes,
        interlanguage_codes=language.interlanguage_codes
        | normalise_names(tables.get("sidebar_links", ())),
    )
