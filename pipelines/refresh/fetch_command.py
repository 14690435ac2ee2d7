"""Downloads and checks the newest dump that one build needs, and prints the command that runs the build.

examples:
  The pages of the Ukrainian Wikipedia, and the table of their Wikidata items:
    corpusmill fetch wiki40b --language uk
  The files of that download and their sizes:
    corpusmill fetch wiki40b --language uk --dry-run
  Wikidata's entities, which give the class of each article; more than 90 GB, once for all languages:
    corpusmill fetch entities --downloads /data/dumps
  News of some years for One Billion Word:
    corpusmill fetch lm1b --language de --first-year 2020 --last-year 2022
  All books of Project Gutenberg with their catalogue, for PG-19 and SimpleBooks:
    corpusmill fetch pg19

Files are written to <downloads>/<source>/<date>/. Wikimedia publishes its pages in two layouts, dumps and
Content File Exports. The newest is downloaded, unless --layout selects one. `corpusmill wiki40b --dumps`
finds downloads with --layout dumps; the printed command names the files of any layout. Interrupted downloads
are resumed and finished files are kept, so the same command can be repeated. Sizes and checksums are compared
with those that the site lists; a file that differs is deleted. This command does not delete older files;
`corpusmill refresh` does, and also builds the corpora.

Exit status: 0 all files are complete, 1 a site or file is not available, 2 wrong settings.
"""

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, language
from corpusmill.transforms.wikipedia.dump_layouts import LAYOUTS

if TYPE_CHECKING:
    from corpusmill.pipelines.refresh.fetch import Wanted

CORPORA = ("wiki40b", "lm1b", "pg19", "simplebooks", "flores101", "entities")
_DOWNLOADS = "downloads"
_OF_CORPORA = ("language", "first_year", "last_year", "page_table", "layout", "connections")


def add(commands: Commands) -> None:
    """Adds the command `corpusmill fetch` to the parser."""
    about = "downloads the files of one build, and checks them"
    parser = add_command(commands, "fetch", about, __doc__, _run)
    parser.set_defaults(extras=["refresh"])
    parser.add_argument("corpus", choices=CORPORA, metavar="CORPUS", help=", ".join(CORPORA))
    what = Flags(parser, "what")
    what.text(
        "--language",
        "CODE",
        "for wiki40b and lm1b: the language, as a code or a name like Ukrainian",
        default=None,
        type=language,
    )
    what.number("--first-year", "first year of the news (default: the oldest)")
    what.number("--last-year", "last year of the news (default: the newest)")
    what.switch("--page-table", "for wiki40b: also download the table of pages", default=None)
    what.choice(
        "--layout",
        LAYOUTS,
        "for wikis: the layout to download (default: the one with the newest dump)",
        default=None,
    )
    where = Flags(parser, "servers and folder")
    where.text(
        "--downloads", "DIR", "folder for the files (default %(default)s)", default=_DOWNLOADS
    )
    where.text(
        "--contact",
        "ADDRESS",
        "your e-mail or web address, sent to the servers so that their operators can contact you (default:"
        " your user name and the name of this machine)",
    )
    where.files(
        "--mirror", "mirrors to use instead of the usual servers, the preferred one first", "URL"
    )
    where.number("--connections", "number of parallel downloads; servers allow at most 3", 2)
    where.switch("--dry-run", "only print the available files")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.refresh.fetch import describe, want

    given: dict[str, Any] = {
        name: value for name in _OF_CORPORA if (value := getattr(settings, name)) is not None
    }
    if settings.corpus == "wiki40b" and "language" not in given:
        raise ValueError("--language is missing: give the code of the Wikipedia to download")
    wanted = want(settings.corpus, settings.downloads, settings.contact, settings.mirror, **given)
    if not settings.contact:
        told = "%s is sent to the servers as your contact; --contact sets another one"
        logging.getLogger(__name__).info(told, wanted.settings.contact)
    found = wanted.find()
    for offers in found:
        print("\n".join(describe(offers[0], settings.downloads)))
    if not settings.dry_run:
        _fetch(wanted, found)


def _fetch(wanted: "Wanted", found: Sequence[Sequence[Any]]) -> None:
    dumps, flags = [], list[str]()
    for offers in found:
        dump, files = wanted.fetch(offers)
        dumps.append(dump)
        flags += wanted.name_flags(dump, files)
    print("all files are downloaded and match the site; to build:")
    print(f"  {wanted.name_build(dumps, flags)}")
    if wanted.table.joins:
        print(
            f"with --{wanted.table.joins} FILE, the build links articles to entities;"
            f" `corpusmill fetch {wanted.table.joins}` downloads that file"
        )
