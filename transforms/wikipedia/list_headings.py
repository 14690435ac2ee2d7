"""Writes `learned-headings.tsv`, a list of the headings of sections without prose, such as "References".

These headings were learned from the articles of the dump. Sections with these headings are dropped from the
corpus. The most frequent heading is first.
"""

from collections.abc import Sequence

import apache_beam as beam

from corpusmill.transforms.files.cells import to_line
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.write_files import write_text
from corpusmill.transforms.wikitext.section_kinds import LearnedHeading

NAME = "learned-headings.tsv"
COLUMNS = (
    "heading",
    "dropped",
    "sections",
    "without prose",
    "with notes",
    "with sources",
    "with links",
    "with lists",
    "with templates",
    "for example in",
)


class ListHeadings(beam.PTransform):
    """Writes `learned-headings.tsv`, a list of headings whose sections were found to have no prose.

    PCollection of one list of LearnedHeading → PCollection[OutputFile].
    """

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, headings: beam.PCollection) -> beam.PCollection:
        return headings | "WriteList" >> beam.Map(write_list, self.folder)


def write_list(headings: Sequence[LearnedHeading], folder: str) -> OutputFile:
    """Writes `learned-headings.tsv` to a folder, with a row for each heading, in the given order."""
    text = "".join(map(to_line, [COLUMNS, *map(_cells, headings)]))
    return write_text(folder, NAME, text, "tsv", len(headings))


def _cells(heading: LearnedHeading) -> tuple[object, ...]:
    counts = heading.counts
    where = "at level 1 and 2" if heading.is_top_only else "at every level"
    kinds = (counts.notes, counts.sources, counts.links, counts.lists, counts.templates)
    share = f"{counts.without_prose:.1%}"
    return heading.name, where, counts.sections, share, *kinds, counts.page
