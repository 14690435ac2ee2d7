"""Lists the templates that could not be expanded in the file `unrendered-templates.tsv`.

The most frequent template is first. Only templates in the running text of articles are counted.
"""

from collections.abc import Iterable, Sequence

import apache_beam as beam
from apache_beam.transforms.combiners import TopCombineFn

from corpusmill.transforms.files.cells import to_line
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.write_files import write_text
from corpusmill.transforms.wikipedia.clean_wikitext import Unrendered

NAME = "unrendered-templates.tsv"
MAX_LISTED = 10_000
HEADER = "uses\tarticles\ttemplate\tleft\tfor example in\n"

# (normalised name of a template, what is in the text in its place)
Key = tuple[str, str]
# (number of uses, number of articles, the title that sorts first by code point)
Tally = tuple[int, int, str]


class TallyUnrendered(beam.PTransform):
    """Counts the templates that could not be expanded. PCollection[Unrendered] → PCollection[(Key, Tally)].

    A Key is (name of the template, what is in the text in its place: "a hole", "a guess" or "no sentence"). A
    Tally is (number of uses, number of articles, title of an example). Each Key occurs once.
    """

    def expand(self, unrendered: beam.PCollection) -> beam.PCollection:
        return (
            unrendered
            | "KeyByName" >> beam.Map(tally_of).with_output_types(tuple[Key, Tally])
            | "AddUp" >> beam.CombinePerKey(add_tallies).with_output_types(tuple[Key, Tally])
        )


class ListUnrendered(beam.PTransform):
    """Writes `unrendered-templates.tsv`, a list of the most frequent templates that could not be expanded.

    PCollection[(Key, Tally)] → PCollection[OutputFile]. The list shows which templates should be added to the
    tables of the language.
    """

    def __init__(self, folder: str):
        super().__init__()
        self.folder = folder

    def expand(self, tallies: beam.PCollection) -> beam.PCollection:
        return (
            tallies
            | "MostFrequent" >> beam.CombineGlobally(TopCombineFn(MAX_LISTED, key=rank))
            | "WriteList" >> beam.Map(write_list, self.folder)
        )


def tally_of(unrendered: Unrendered) -> tuple[Key, Tally]:
    """Returns ((name of a template, what is in its place), (uses in one article, 1, title of the article)).

    In place of the template, the text has "a hole" or "a guess", or "no sentence" because the sentence was
    dropped.
    """
    return (unrendered.name, unrendered.left), (unrendered.uses, 1, unrendered.title)


def add_tallies(tallies: Iterable[Tally]) -> Tally:
    """Adds up the counts of a template in several articles. The example title is the one that sorts first."""
    all_uses, all_articles, titles = zip(*tallies, strict=True)
    return sum(all_uses), sum(all_articles), min(titles)


def rank(named: tuple[Key, Tally]) -> tuple[int, int, Key]:
    """Returns the sort key of a template: its number of uses, then its number of articles, then its name.

    `named` is (key of the template, its counts).
    """
    key, (uses, articles, _) = named
    return uses, articles, key


def write_list(most_frequent: Sequence[tuple[Key, Tally]], folder: str) -> OutputFile:
    """Writes `unrendered-templates.tsv` to a folder, with a row for each template.

    Templates of equal frequency are sorted by name.
    """
    rows = sorted((-uses, -articles, *key, title) for key, (uses, articles, title) in most_frequent)
    lines = (to_line((-uses, -articles, *cells)) for uses, articles, *cells in rows)
    written = write_text(folder, NAME, HEADER + "".join(lines), kind="tsv")
    return written._replace(records=len(rows))
