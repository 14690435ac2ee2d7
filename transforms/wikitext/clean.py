"""Converts the wikitext of an article to the running text that is visible on the page.

The cleaner makes several passes. Each pass takes time linear in the length of the page:

  1. Comments and extension tags are removed.
  2. Tables are removed.
  3. The page is split at its headings. Sections without prose are dropped.
  4. Links, templates and tags are replaced by their text.
  5. Lines are joined to paragraphs. Apostrophes that mark bold and italics are removed.
  6. Spaces and punctuation that are left over around templates without text are removed.

Most passes run over many sections at once, which is faster than one section at a time.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from . import paragraphs
from .language import Language, normalise_name
from .links import LinkTexts, show_external_links
from .lists import ListRule, join_rows, keep_lists, mark_lists, mark_tables, render_markdown
from .marks import GUARD, SECTION, UNKNOWN, drop_noncharacters, restore
from .sections import (
    RawSection,
    Section,
    drop_sections,
    in_batches,
    name_of_heading,
    split_sections,
)
from .tags import drop_switches, strip_extensions, strip_tables, strip_tags
from .templates.definitions import NO_TEMPLATES, WikiTemplates
from .templates.expand import Expansion, TemplateTexts, TooDeepError
from .templates.lookup import TemplateTable
from .templates.patterns import Page
from .variants.page_variants import PageVariants, variants_reader
from .wikis import quotation_marks

# MediaWiki saves no page larger than 2 MiB ($wgMaxArticleSize). A text eight times as long is not an article.
MAX_CHARACTERS = 16 * 1024 * 1024
# Size of a batch of sections that the passes process together: longer texts do not fit processor caches.
BATCH_CHARACTERS = 128 * 1024
# Number and maximum length of headings for which is_dropped is cached.
_MAX_HEADINGS = 4_096
_MAX_HEADING = 100

_MARKUP = re.compile(r"[\[{<'&\ufdd0-\ufdef]")
_MARKUP_AHEAD = re.compile(r"\n(?=\[|\{\{|<|-\{)")
_MARKUP_SIGNS = re.compile(r"[\[\]{}<>|]")


class CleanedPage(NamedTuple):
    """A cleaned page: its title, the prose of its sections, and counts of templates whose text is unknown."""

    sections: tuple[Section, ...]
    unrendered: dict[str, int]  # normalised name → templates in running text that left no text
    title: str  # of the page, in the script and words of the corpus
    guessed: Mapping[str, int] = {}  # normalised name → templates whose text was guessed
    unknown: Mapping[str, int] = {}  # normalised name → templates with a value that cannot be known
    dropped: Sequence[str] = ()  # sentences and asides dropped because of such a value


class UncleanableError(ValueError):
    """Raised if a page cannot be cleaned.

    `reason` is "too-long" if the page is too long, "too-deep" if its templates are nested too deeply, and
    "tangled" if the boundaries of its sections were lost. `detail` describes the error.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class WikitextCleaner:
    """Cleans the pages of one wiki.

    A cleaner has only tables and no state, so it can be shared between pages and is cheap to pickle.
    """

    def __init__(
        self,
        language: Language,
        namespaces: Mapping[int, Sequence[str]],
        of_wiki: WikiTemplates = NO_TEMPLATES,
    ) -> None:
        """Prepares the tables of one wiki.

        Args:
            language: the tables of the wiki's language.
            namespaces: number of each namespace → its names.
            of_wiki: the template definitions in the wiki's dump.

        Raises:
            ValueError: the language tables contain an invalid display pattern (the text of a template, with
                placeholders for its arguments).
        """
        self._language = language
        self._of_wiki = of_wiki
        self._namespaces = {number: tuple(names) for number, names in namespaces.items()}
        self._links = LinkTexts(language, namespaces)
        table = TemplateTable(language, namespaces, of_wiki)
        self._templates = TemplateTexts(table, self._links.show)
        announcing = language.list_announcements
        self._lists = ListRule(language.lists, re.compile(announcing) if announcing else None)
        self._quotation_marks = quotation_marks(language.code)
        self._read_variants = variants_reader(language.variants)
        self._is_known_dropped = functools.lru_cache(_MAX_HEADINGS)(self.is_dropped)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._language, self._namespaces, self._of_wiki)

    def clean(self, wikitext: str, title: str) -> CleanedPage:
        """Cleans a page. Returns its title and those sections that have prose.

        Raises:
            UncleanableError: the page is longer than MAX_CHARACTERS, its templates are nested deeper than
                MediaWiki expands them, or the boundaries of its sections are lost during cleaning.
        """
        if len(wikitext) > MAX_CHARACTERS:
            raise UncleanableError("too-long", f"{len(wikitext)} characters")
        page = Page(drop_noncharacters(title), self._language)
        expansion = Expansion({})
        variants = self._read_variants(strip_extensions(drop_noncharacters(wikitext)))
        text = paragraphs.protect_bars(strip_tables(variants.text))
        # The same heading may occur a thousand times in a page, and in many pages.
        kept = drop_sections(split_sections(text), functools.cache(self._is_dropped))
        sections: list[Section] = []
        try:
            for batch in in_batches(kept, BATCH_CHARACTERS):
                sections += self._show(batch, page, expansion, variants)
        except TooDeepError as error:
            raise UncleanableError("too-deep", str(error)) from error
        return CleanedPage(
            tuple(section for section in sections if section.paragraphs),
            expansion.unrendered,
            variants.convert_title(title),
            expansion.guessed,
            expansion.unknown,
            expansion.dropped,
        )

    def markdown(self, wikitext: str, title: str) -> str:
        """Returns a page as Markdown, including its lists and tables.

        Raises:
            UncleanableError: in the same cases as `clean`.
        """
        page = Page(drop_noncharacters(title), self._language)
        variants = self._read_variants(strip_extensions(drop_noncharacters(wikitext)))
        text = mark_tables(variants.text)
        kept = drop_sections(split_sections(text), functools.cache(self._is_dropped))
        shown: list[tuple[int, Section]] = []
        for batch in in_batches(kept, BATCH_CHARACTERS):
            sections = self._show(batch, page, Expansion({}), variants, markdown=True)
            shown += zip((one.level for one in batch), sections, strict=True)
        return render_markdown(variants.convert_title(title), shown)

    def _is_dropped(self, heading: str, level: int) -> bool:
        is_dropped = self._is_known_dropped if len(heading) <= _MAX_HEADING else self.is_dropped
        return is_dropped(heading, level)

    def is_dropped(self, heading: str, level: int) -> bool:
        """Returns True if the section under a heading is to be dropped.

        Such sections contain references, links or a gallery.
        """
        name = self.shown_name(heading, level)
        if name in self._language.dropped_headings or self._of_wiki.headings.get(name) is False:
            return True
        at_top = self._language.dropped_top_headings
        return level <= 2 and (name in at_top or name in self._of_wiki.headings)

    def shown_name(self, heading: str, level: int) -> str:
        """Returns the normalised name of a heading without its markup.

        `level` is the level of the heading, from 1 to 6. The language tables list the headings of dropped
        sections in the form of the result.
        """
        name = normalise_name(heading)
        if _MARKUP.search(name):
            variants = self._read_variants(heading)
            raw = RawSection(variants.text, level, "")
            page = Page("", self._language)
            name = normalise_name(self._show([raw], page, Expansion({}), variants)[0].heading)
        return name_of_heading(name)

    def _mark(self, section: RawSection) -> str:
        """Returns the heading and wikitext of a section, after the mark SECTION.

        Sections are joined and cleaned together. The mark shows where each section begins. Lines that only
        refer to a category are removed.
        """
        marked = f"\n\n{SECTION}{section.heading}\n\n{section.body}\n"
        return self._links.drop_rows_of_categories(marked) if section.level else marked

    def _show(
        self,
        sections: Sequence[RawSection],
        page: Page,
        expansion: Expansion,
        variants: PageVariants,
        *,
        markdown: bool = False,
    ) -> list[Section]:
        """Cleans sections of a page by several passes over all of them at once.

        Returns one cleaned section for each given section. Some may have no paragraphs.

        Args:
          sections: the sections to clean.
          page: the page that contains the sections.
          expansion: receives the counts of templates whose text is guessed, missing or unknown, and the
            sentences that are dropped because of unknown values.
          variants: converts text to a variant of the language, such as traditional Chinese.
          markdown: True to also keep lists, as paragraphs with the marks that `render_markdown` converts.
        """
        if markdown:
            sections = [one._replace(body=mark_lists(one.body)) for one in sections]
        marked = "".join([self._mark(section) for section in sections])
        # GUARD shows that a line such as "[[*NSYNC]] was a band." is neither a list item nor code.
        text = _MARKUP_AHEAD.sub(f"\n{GUARD}", paragraphs.drop_rows_of_links(marked))
        text = self._links.show(variants.show(text))
        if "{{" in text or "}}" in text:
            text = self._templates.expand(text, page, expansion)
            text = self._links.show(variants.show(text))
        text = join_rows(text) if markdown else text
        levels = [section.level for section in sections]
        text = keep_lists(paragraphs.drop_preformatted(text), levels, self._lists)
        text = self._links.drop_unclosed(show_external_links(text))
        if any(line in text and 2 * line in text for line in "_＿"):
            text = drop_switches(text)
        text = strip_tags(variants.convert(text), self._quotation_marks)
        text = paragraphs.join_paragraphs(text)
        if UNKNOWN in text:
            text = paragraphs.drop_unknown_values(text, expansion.dropped)
        text = paragraphs.tidy(text)
        if not markdown:  # GUARD is not a noncharacter, so `restore` keeps it
            text = restore(text.replace(SECTION, GUARD))
        shown = text.split(SECTION if markdown else GUARD)[1:]
        if len(shown) != len(sections):  # not seen in any page
            raise UncleanableError(
                "tangled",
                f"cleaning changed the number of sections from {len(sections)} to {len(shown)}",
            )
        lines = (section.rstrip("\n").split("\n") for section in shown)
        return [
            Section(
                (restore(heading) if markdown else heading).strip()
                # Templates alone leave no text: the heading without its brackets and braces
                or _MARKUP_SIGNS.sub("", restore(raw.heading)).strip(),
                tuple(texts if markdown else paragraphs.without_labels(texts, raw.body)),
            )
            for raw, (heading, *texts) in zip(sections, lines, strict=True)
        ]
