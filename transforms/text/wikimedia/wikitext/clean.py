"""Turn the wikitext of an article into the running text a reader sees.

The passes, each linear in the page: comments and extension tags go; tables go; the page is cut
at its headings and sections without prose go; links, templates, tags, and apostrophes are
replaced by their text; lines become paragraphs; holes are closed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from transforms.text.wikimedia.language import Language, normalise_name
from transforms.text.wikimedia.wikitext.blocks import strip_tables
from transforms.text.wikimedia.wikitext.extensions import strip_extensions
from transforms.text.wikimedia.wikitext.links import LinkTexts, show_external_links
from transforms.text.wikimedia.wikitext.marks import HOLE, drop_noncharacters, restore
from transforms.text.wikimedia.wikitext.paragraphs import drop_preformatted, split_paragraphs
from transforms.text.wikimedia.wikitext.rendering import Page
from transforms.text.wikimedia.wikitext.sections import Section, drop_sections, split_sections
from transforms.text.wikimedia.wikitext.tags import strip_tags
from transforms.text.wikimedia.wikitext.templates import TemplateTexts, TooDeepError
from transforms.text.wikimedia.wikitext.tidy import tidy
from transforms.text.wikimedia.wikitext.variants import show_variants

# MediaWiki saves no page above 2 MiB of UTF-8 ($wgMaxArticleSize), so none with more code points.
MAX_CHARACTERS = 2 * 1024 * 1024

_MARKUP = re.compile(r"[\[{<'&]")
_MARKUP_SIGNS = re.compile(r"[\[\]{}<>|]")
_SWITCH = re.compile(r"__[^\W\d_a-z]+(?:_[^\W\d_a-z]+)*__")


class CleanedPage(NamedTuple):
    """The prose of a page."""

    sections: tuple[Section, ...]
    unrendered: dict[str, int]  # templates in running text that left nothing, by normalised name


class UncleanableError(ValueError):
    """A page that cannot be cleaned within bounds. `reason` is a slug: "too-long", "too-deep"."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class WikitextCleaner:
    """Cleans the pages of one wiki. Holds tables only: safe to share, cheap to pickle."""

    def __init__(self, language: Language, namespaces: Mapping[int, Sequence[str]]) -> None:
        self._language = language
        self._namespaces = {number: tuple(names) for number, names in namespaces.items()}
        self._links = LinkTexts(namespaces, language.file_names, language.interlanguage_codes)
        self._templates = TemplateTexts(language, namespaces, self._links.show)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._language, self._namespaces)

    def clean(self, wikitext: str, title: str) -> CleanedPage:
        """Return the sections of a page that hold prose.

        Raises:
            UncleanableError: the page is longer than MAX_CHARACTERS, or its templates are nested
                deeper than MediaWiki expands them.
        """
        if len(wikitext) > MAX_CHARACTERS:
            raise UncleanableError("too-long", f"{len(wikitext)} characters")
        page = Page(title, self._language)
        unrendered: dict[str, int] = {}
        text = drop_noncharacters(wikitext)
        text = strip_tables(strip_extensions(text))
        sections: list[Section] = []
        try:
            for raw in drop_sections(split_sections(text), self._is_dropped):
                paragraphs = tuple(self._paragraphs(raw.body, page, unrendered))
                if paragraphs:
                    sections.append(Section(self._heading(raw.heading, page), paragraphs))
        except TooDeepError as error:
            raise UncleanableError("too-deep", str(error)) from error
        return CleanedPage(tuple(sections), unrendered)

    def _is_dropped(self, heading: str, level: int) -> bool:
        name = normalise_name(heading)
        if _MARKUP.search(name):
            name = normalise_name(self._heading(heading, Page("", self._language)))
        name = name.rstrip(" :.")
        if name in self._language.dropped_headings:
            return True
        return level <= 2 and name in self._language.dropped_top_headings

    def _heading(self, heading: str, page: Page) -> str:
        if not heading:
            return ""
        # The hole keeps "#MeToo" from being read as a list.
        shown = " ".join(self._paragraphs(HOLE + heading, page, {}))
        return shown or _MARKUP_SIGNS.sub("", restore(heading)).strip()

    def _paragraphs(self, wikitext: str, page: Page, unrendered: dict[str, int]) -> list[str]:
        text = show_external_links(wikitext)
        text = show_variants(text, self._language.variants)
        text = self._links.show(text)
        if "{{" in text or "}}" in text:
            text = self._templates.expand(text, page, unrendered)
            text = show_variants(text, self._language.variants)
            text = self._links.show(text)
        text = self._links.drop_unclosed(text)
        text = strip_tags(drop_preformatted(text))
        if "__" in text:
            text = _SWITCH.sub("", text)
        paragraphs = "\n".join(split_paragraphs(text))
        return [line for line in restore(tidy(paragraphs)).split("\n") if line]
