r"""Makes an entity table: the items of a Wikidata dump, with the columns that builds of all languages need.

examples:
  Once for all languages:
    corpusmill entities --output corpora \
      --dump 'wikidatawiki/entities/20261101/wikidata-20261101-all.json.bz2'
  and then for each language:
    corpusmill wiki40b --language uk … --entities corpora/entities/wikidata/20261101-1.0.0
  Only the titles of two Wikipedias, and the English titles, which are always kept to identify templates:
    corpusmill entities --dump wikidata-20261101-all.json.gz --wikis uk,el --output corpora
  The undamaged part of a truncated dump:
    corpusmill entities --dump latest-all.json.bz2 --on-corrupt keep-good --output corpora

which of the dump's two files to use: a .bz2 file is read by all cores in parallel. A .gz file cannot be read
from the middle, so each worker decompresses the whole file and processes its share. But decompression of .gz
is more than ten times as fast. With up to 12 cores, use the .gz; with 13 or more, the .bz2.

what you get, in <output>/entities/wikidata/<dump date>-<version>/:
  entities-*.parquet                items by ascending id: numeric_id, instance_of, a title column per wiki
  internal-classes.parquet          the classes of Wikimedia's own items, and their kinds, such as lists
  rejected/                         every line that is not an entity, with the reason
  stats.json manifest.json README.md COMPLETED

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import argparse

from corpusmill.pipelines.run.flags import (
    STORES,
    Commands,
    Flags,
    add_command,
    add_output,
    add_runner,
    language,
)
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, dbname_of, open_codes


def add(commands: Commands) -> None:
    """Adds the command `corpusmill entities` to the parser."""
    about = "makes an entity table, which all languages of Wiki-40B use, from a Wikidata dump"
    parser = add_command(commands, "entities", about, __doc__)
    files = Flags(parser, "inputs", STORES)
    files.files(
        "--dump",
        "wikidata-<date>-all.json.bz2 (or .gz, .xz, uncompressed), or the parts of such a file",
        required=True,
    )
    files.text(
        "--wikis",
        "CODES",
        'the Wikipedias whose titles are kept: comma-separated codes, or "all" (default: the languages of'
        " the paper)",
        type=_codes,
        default=LANGUAGE_CODES,
    )
    files.dump_date("the date in the name of the dump")
    files.on_corrupt()
    add_output(parser)
    add_runner(parser)


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(language(code) for code in text.split(",") if code.strip())
    if codes == ("all",):
        return open_codes()
    if not codes:
        raise argparse.ArgumentTypeError("no language codes found; separate them with commas")
    try:
        for code in codes:
            dbname_of(code)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return codes
