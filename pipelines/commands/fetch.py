"""Downloads what one build needs: the newest finished dump, checked, and the command that builds it.

examples:
  The Ukrainian Wikipedia, its pages and the Wikidata item of each:
    corpusmill fetch wiki40b --language uk
  What that would be, and how large:
    corpusmill fetch wiki40b --language uk --dry-run
  Wikidata's entities, which give the class of each article; more than 90 GB, once for all languages:
    corpusmill fetch entities --downloads /data/dumps
  News of some years, as One Billion Word takes them:
    corpusmill fetch lm1b --language de --first-year 2020 --last-year 2022
  All books of Project Gutenberg with their catalogue, for PG-19 and SimpleBooks:
    corpusmill fetch pg19

Files go to <downloads>/<source>/<date>/, the layout that `corpusmill wiki40b --dumps` reads. Wikimedia has
two layouts, dumps and Content File Exports; the newer one is downloaded, or that of --layout. Interrupted
downloads are resumed and finished files are kept, so the same command can be repeated. Sizes and checksums
are compared with those of the site; a file that differs is not kept. This command removes nothing;
`corpusmill refresh` removes old files, and also builds.

Exit status: 0 all files are there, 1 a site or file is not available, 2 wrong settings.
"""

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipelines.commands.flags import Commands, Flags, add_command
from transforms.text.wikimedia.dump_layouts import LAYOUTS
from transforms.text.wikimedia.language_names import code_of_language

if TYPE_CHECKING:
    from pipelines.refresh.fetch import Wanted

CORPORA = ("wiki40b", "lm1b", "pg19", "simplebooks", "flores101", "entities")
_DOWNLOADS = "downloads"
_OF_CORPORA = ("language", "first_year", "last_year", "page_table", "layout", "connections")


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "one build's files, from the sites that have them → a folder, checked"
    parser = add_command(commands, "fetch", about, __doc__, _run)
    parser.set_defaults(extras=["refresh"])
    parser.add_argument("corpus", choices=CORPORA, metavar="CORPUS", help=", ".join(CORPORA))
    what = Flags(parser, "what")
    what.text(
        "--language",
        "CODE",
        "of wiki40b and lm1b: a code, or a name like Ukrainian",
        default=None,
        type=code_of_language,
    )
    what.number("--first-year", "of the news (default: the first that there is)")
    what.number("--last-year", "of the news (default: the newest)")
    what.switch("--page-table", "of wiki40b: the table of pages, too", default=None)
    what.choice(
        "--layout",
        LAYOUTS,
        "of wikis: which of the two to take (default: the newest)",
        default=None,
    )
    where = Flags(parser, "from where, and where to")
    where.text("--downloads", "DIR", "folder (default %(default)s)", default=_DOWNLOADS)
    where.text(
        "--contact",
        "ADDRESS",
        "sent to the servers, whose operators may write to you (default: your name on this machine)",
    )
    where.files("--mirror", "servers with the files of the usual ones, the preferred first", "URL")
    where.number("--connections", "at once; servers allow no more than 3", 2)
    where.switch("--dry-run", "say what there is, and fetch nothing")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from pipelines.refresh.fetch import describe, want

    given: dict[str, Any] = {
        name: value for name in _OF_CORPORA if (value := getattr(settings, name)) is not None
    }
    if settings.corpus == "wiki40b" and "language" not in given:
        raise ValueError("--language is missing: give the code of the Wikipedia to download")
    wanted = want(settings.corpus, settings.downloads, settings.contact, settings.mirror, **given)
    if not settings.contact:
        told = "the servers get %s as your contact; --contact sets another one"
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
    print("all files are there, and are what the site says; to build:")
    print(f"  {wanted.name_build(dumps, flags)}")
    if wanted.table.joins:
        print(
            f"with --{wanted.table.joins} FILE it knows what articles are about;"
            f" `corpusmill fetch {wanted.table.joins}` gets that file"
        )
