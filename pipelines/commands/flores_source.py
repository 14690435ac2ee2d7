"""`corpusmill flores101 source`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import (
    add_files,
    add_output,
    add_runner,
    launch_build,
    settings_of,
)

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  The paper's size, 3,001 sentences of 842 articles, a third of each site:
    corpusmill flores101 source --wikinews enwikinews-20261101-pages-articles.xml.bz2 \\
      --wikibooks enwikibooks-20261101-pages-articles.xml.bz2 \\
      --wikivoyage enwikivoyage-20261101-pages-articles.xml.bz2 --seed 2026 --output corpora
  Another domain, and fewer:
    corpusmill flores101 source --wikipedia 'enwiki-20261101-pages-articles*.xml.bz2' \\
      --sentences 600 --output corpora

what you get, in <output>/flores101/<edition>/<date>-<version>/:
  source.tsv      the sentences: id, split, article, domain, topic, has_image, has_hyperlink, url, text
  dev-*.parquet devtest-*.parquet test-*.parquet    the same
  rejected/       pages that gave no sentence, and why
  stats.json manifest.json README.md COMPLETED

how it is chosen: articles by a fingerprint of seed, site and page id, so that neither the order of the dump
nor the number of workers decides; of each article one paragraph of its beginning, middle or end, and in it 3
to 5 sentences in a row that are whole and neither short nor malformed. Whole articles go to dev, devtest and
test. Where dumps have too few articles, all that is possible is taken, and the build says what is missing.

topics are guessed from categories and titles. To put them right, change them in a copy of source.tsv and
build again with --topics COPY; only the columns url and topic are read.

Then: corpusmill flores101 packets --help
"""


def add(actions: "Commands") -> None:
    """Adds the action to those of `corpusmill flores101`."""
    parser = actions.add_parser(
        "source",
        help="dumps → sentences to translate, with metadata and splits",
        description="Draws sentences for a translation benchmark from dumps of English Wikimedia sites.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    _add_dumps(parser)
    _add_choice(parser)
    add_output(parser)
    add_runner(parser)


def _add_dumps(parser: argparse.ArgumentParser) -> None:
    dumps = parser.add_argument_group(
        "inputs",
        "pages-articles files or patterns, on any file system of Beam's; one site at least",
    )
    add_files(dumps, "--wikinews", "English Wikinews: published articles")
    add_files(dumps, "--wikibooks", "English Wikibooks: pages of Wikijunior")
    add_files(dumps, "--wikivoyage", "English Wikivoyage")
    add_files(dumps, "--wikipedia", "English Wikipedia, which the paper does not draw from")
    add_files(dumps, "--topics", "tables with the columns url and topic, which have the last word")
    dumps.add_argument(
        "--dump-date",
        default="",
        metavar="DATE",
        help="names the build; default: the newest date in the names of the dumps, else undated",
    )
    dumps.add_argument(
        "--on-corrupt",
        choices=("fail", "keep-good"),
        default="fail",
        help="what to do about damaged input: end with an error (default), or take what is whole",
    )


def _add_choice(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_argument_group("the choice", "all are part of the signature")
    choice.add_argument(
        "--all-wikibooks",
        action="store_true",
        help="all books of Wikibooks; the paper names Wikijunior, the released data hold others too",
    )
    choice.add_argument(
        "--seed", type=int, default=0, metavar="N", help="another one, other sentences (default 0)"
    )
    choice.add_argument(
        "--sentences",
        type=int,
        default=3001,
        metavar="N",
        help="of all splits together (default %(default)s)",
    )
    choice.add_argument(
        "--articles",
        type=int,
        default=0,
        metavar="N",
        help="that they are taken from; default: 842 to 3,001 sentences, as in the paper",
    )


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.flores101 import Flores101
    from pipelines.settings.flores101_settings import Flores101Config

    given = settings_of(Flores101Config, settings)
    launch_build(Flores101(Flores101Config(**given)), settings, beam_flags)
