"""Finds candidates for a translation benchmark in the dump of one site."""

from collections.abc import Sequence
from typing import NamedTuple

import apache_beam as beam

from corpusmill.transforms.files.files_screen import ScreenPages
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.translation.find_passages import FindPassages
from corpusmill.transforms.wikipedia.drop_older_pages import DropOlderPages, OlderDump
from corpusmill.transforms.wikipedia.mediawiki_xml import Siteinfo
from corpusmill.transforms.wikipedia.read_dumps import ReadDump
from corpusmill.transforms.wikipedia.read_templates import ReadTemplates
from corpusmill.transforms.wikipedia.sites import Site
from corpusmill.transforms.wikitext.language import TEMPLATE_NAMESPACE


class SourceDump(NamedTuple):
    """The dump of a site, with the settings for reading it."""

    site: Site
    paths: Sequence[str]
    head: Siteinfo
    older: OlderDump | None = None  # an older dump, whose pages are dropped; None to keep all pages
    licence: str = ""  # licence of the pages; "" to leave it out


class Sourced(NamedTuple):
    """The outputs of SourcePassages and SourceDocuments.

    Each page or document that was read becomes a candidate or is rejected.
    """

    pages: beam.PCollection  # of (domain, pages read), one for each dump
    candidates: beam.PCollection  # of Candidate
    rejected: beam.PCollection  # of Rejected; id and stage are prefixed with the domain
    lost: beam.PCollection  # of LostBytes
    newer: beam.PCollection  # of (domain, OlderPages or NewerDocuments), at most one element


class SourcePassages(beam.PTransform):
    """Reads, screens and cleans the pages of a dump, and finds a passage in each. Pipeline → Sourced.

    Args:
      dump: the dump, with the settings for reading it.
      seed: seed of all random choices.
      stripes: number of workers that divide the work on a file which cannot be split, such as a .gz. Each of
        them decompresses the whole file, but processes only its share of the pages.
      on_corrupt: "fail" raises InputError at the first damage; "keep-good" skips and reports damaged parts.
    """

    def __init__(self, dump: SourceDump, seed: int, stripes: int = 1, on_corrupt: str = "fail"):
        super().__init__()
        self.dump = dump
        self.seed = seed
        self.stripes = stripes
        self.on_corrupt = on_corrupt

    def expand(self, root: beam.Pipeline) -> Sourced:
        site, paths, head, older, licence = self.dump
        # If an older dump is given, every page counts as old or new.
        namespaces = None if older else (*site.namespaces, TEMPLATE_NAMESPACE)
        read_dump = ReadDump(paths, self.stripes, self.on_corrupt, namespaces)
        dump = root | "ReadDump" >> read_dump
        own = dump.pages | "ReadTemplates" >> ReadTemplates(
            site.language, head.namespaces, site.dbname
        )
        newer = dump.pages | "DropOlderPages" >> DropOlderPages(older, self.stripes)
        articles = newer.kept | "ScreenPages" >> ScreenPages(site.reason_to_reject)
        found = articles.kept | "FindPassages" >> FindPassages(
            site, head.namespaces, self.seed, own.templates, licence
        )
        rejected = (
            dump.rejected,
            newer.rejected,
            articles.rejected,
            found.rejected,
        ) | beam.Flatten()
        read = (dump.pages, dump.rejected) | "Read" >> beam.Flatten()
        return Sourced(
            pages=read
            | "CountPages" >> beam.combiners.Count.Globally()
            | "OfDomain" >> beam.WithKeys(site.name),
            candidates=found.kept,
            rejected=rejected | "NameDomain" >> beam.Map(name_domain, site.name),
            lost=dump.lost,
            newer=newer.older | "OlderOfDomain" >> beam.WithKeys(site.name),
        )


def name_domain(rejected: Rejected, domain: str) -> Rejected:
    """Returns the rejection with the domain as prefix of its id and of its stage.

    Examples are the id "wikinews:4711" and the stage "wikinews/find-passages".
    """
    return rejected._replace(id=f"{domain}:{rejected.id}", stage=f"{domain}/{rejected.stage}")


def flatten(sourced: Sequence[Sourced]) -> Sourced:
    """Merges the outputs of SourcePassages for all dumps into one."""
    columns = zip(Sourced._fields, zip(*sourced, strict=True), strict=True)
    return Sourced(*(parts | f"All {name}" >> beam.Flatten() for name, parts in columns))
