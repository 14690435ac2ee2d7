"""Finds candidates for a translation benchmark: one passage of suitable sentences from each article."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apache_beam as beam

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import Screened, reject
from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.records import Page, Reason
from corpusmill.transforms.translation.passages import Paragraph, choose_passage
from corpusmill.transforms.translation.selection import Candidate
from corpusmill.transforms.translation.topics import topic_of
from corpusmill.transforms.wikipedia.sites import Site, categories_of
from corpusmill.transforms.wikitext.clean import UncleanableError, WikitextCleaner
from corpusmill.transforms.wikitext.link_marks import LinkedPage, clean_with_links
from corpusmill.transforms.wikitext.templates.template_pages import NO_TEMPLATES, WikiTemplates


class FindPassages(beam.PTransform):
    """Finds a passage in each page. PCollection[Page] → Screened, whose kept elements are Candidates.

    Pages without a passage are rejected.

    Args:
      site: the wiki. Pages are cleaned, and their topics are determined, by its rules.
      namespaces: number → names of the namespace in this wiki, from the head of the dump.
      seed: seed of all random choices. The choices for a page also depend on the wiki and on the page id.
      templates: side input with one WikiTemplates.
      licence: licence of the pages; "" to leave it out.
    """

    STAGE = "find-passages"

    def __init__(
        self,
        site: Site,
        namespaces: Mapping[int, Sequence[str]],
        seed: int,
        templates: beam.PCollection,
        licence: str = "",
    ):
        super().__init__()
        self.find = _Find(site, dict(namespaces), seed, licence)
        self.templates = templates

    def expand(self, pages: beam.PCollection) -> Screened:
        find = beam.ParDo(self.find, beam.pvalue.AsSingleton(self.templates))
        found = pages | find.with_output_types(Candidate).with_outputs("rejected", main="kept")
        return Screened(found.kept, found.rejected)


class _Find(beam.DoFn):
    def __init__(
        self, site: Site, namespaces: Mapping[int, Sequence[str]], seed: int, licence: str
    ):
        self.site = site
        self.namespaces = namespaces
        self.seed = seed
        self.licence = licence

    def setup(self) -> None:
        self.of_wiki: WikiTemplates | None = None

    def process(self, page: Page, of_wiki: WikiTemplates = NO_TEMPLATES) -> Iterable[Any]:
        if of_wiki is not self.of_wiki:  # a new Beam bundle may pass a new object
            self.of_wiki = of_wiki
            self.cleaner = self.site.cleaner(self.namespaces, of_wiki)
        found = find_candidate(page, self.site, self.cleaner, self.seed)
        if isinstance(found, Reason):
            yield reject(page.page_id, page.title, FindPassages.STAGE, found)
            return
        counters.count(FindPassages.STAGE, "candidates")
        yield found._replace(licence=self.licence)


def find_candidate(
    page: Page, site: Site, cleaner: WikitextCleaner, seed: int
) -> Candidate | Reason:
    """Returns a passage of a page with the page's metadata, or the reason why there is no passage.

    Args:
      page: the page.
      site: the wiki that contains the page.
      cleaner: converts the wikitext of the page to plain text.
      seed: seed of all random choices. They also depend on the wiki and on the page id.
    """
    try:
        linked = clean_with_links(cleaner, page.text, page.title)
    except UncleanableError as error:
        return Reason(error.reason, str(error))
    if not linked.page.sections:
        return Reason("empty-after-cleaning")
    # Such a text has gaps or unverified statements at unknown places.
    found = linked.page
    unknown = found.unrendered.keys() | found.guessed.keys() | found.unknown.keys()
    if unknown:
        return Reason("unrendered-template", ", ".join(sorted(unknown)))
    key = f"{seed} {site.name} {page.page_id}"
    paragraphs = read_paragraphs(linked)
    passage = choose_passage(paragraphs, key)
    if isinstance(passage, Reason):
        return passage
    return Candidate(
        domain=site.name,
        page_id=page.page_id,
        title=page.title,
        url=site.url_of(page.title),
        topic=topic_of(site.name, page.title, categories_of(page.text)),
        has_image=site.has_image(page.text),
        rank=fingerprint(key),
        passage=passage,
        digest=fingerprint("\n".join(paragraph.text for paragraph in paragraphs)),
    )


def read_paragraphs(linked: LinkedPage) -> list[Paragraph]:
    """Returns the paragraphs of an article in order, with the positions of their links."""
    return [
        Paragraph(text, links)
        for section, of_section in zip(linked.page.sections, linked.links, strict=True)
        for text, links in zip(section.paragraphs, of_section, strict=True)
    ]
