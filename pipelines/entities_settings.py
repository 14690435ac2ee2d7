r"""Makes an entity table: the items of a Wikidata dump, with the columns that builds of all languages need.

examples:
  Once for all languages:
    corpusmill entities --output corpora \
      --dump 'wikidatawiki/entities/20261101/wikidata-20261101-all.json.bz2'
  and then for each language:
    corpusmill wiki40b --language uk … --entities corpora/entities/wikidata/20261101-*
  Only the titles of two Wikipedias, and the English titles, which are always kept to identify templates:
    corpusmill entities --dump wikidata-20261101-all.json.gz --wikis uk,el --output corpora
  The undamaged part of a truncated dump:
    corpusmill entities --dump latest-all.json.bz2 --on-corrupt keep-good --output corpora

which of the dump's two files to use: a .bz2 file is read by all cores in parallel. A .gz file cannot be
read from the middle, so each worker decompresses the whole file and processes its share. But
decompression of .gz is more than ten times as fast. With up to 12 cores, use the .gz; with 13 or more,
the .bz2.

what you get, in <output>/entities/wikidata/<dump date>-<version>/:
  entities-*.parquet                items by ascending id: numeric_id, instance_of, a title column per wiki
  internal-classes.parquet          the classes of Wikimedia's own items, and their kinds, such as lists
  rejected/                         every line that is not an entity, with the reason
  stats.json manifest.json README.md COMPLETED

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""

import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run.settings import MANIFEST, STORES, Config, Group, typed
from corpusmill.transforms.files.builds.manifest import Release
from corpusmill.transforms.wikipedia.entity_table import ROWS_PER_FILE
from corpusmill.transforms.wikitext.wikis import (
    LANGUAGE_CODES,
    code_of_language,
    dbname_of,
    open_codes,
)

CORPUS = "entities"
EDITION = "wikidata"
VERSION = "1.0.0"
RELEASE = Release(CORPUS, VERSION, {"1.0.0": "First build."})
ALWAYS_WANTED = "enwiki"  # wiki whose titles are always kept: they identify templates of all wikis


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(code_of_language(code) for code in text.split(",") if code.strip())
    if codes == ("all",):
        return open_codes()
    if not codes:
        raise ValueError("no language codes found; separate them with commas")
    _check_codes("wikis", codes)
    return codes


def _check_codes(_: str, codes: Sequence[str]) -> None:
    for code in codes:
        dbname_of(code)


INPUTS = Group("inputs", STORES)


@dataclasses.dataclass(frozen=True)
class EntitiesConfig(Config):
    """The settings of a build of the entity table. Invalid settings raise ValueError."""

    doubts = ()

    dump: Sequence[str] = INPUTS.setting(
        help="wikidata-<date>-all.json.bz2 (or .gz, .xz, uncompressed), or the parts of such a file"
    )
    wikis: Sequence[str] = INPUTS.setting(
        LANGUAGE_CODES,
        'the Wikipedias whose titles are kept: comma-separated codes, or "all" (default: the languages of'
        " the paper)",
        check=_check_codes,
        metavar="CODES",
        nargs=None,
        type=typed(_codes),
    )
    dump_date: str = INPUTS.dump_date("the date in the name of the dump")
    on_corrupt: str = INPUTS.on_corrupt()
    rows_per_file: int = INPUTS.setting(ROWS_PER_FILE, part_of=MANIFEST, at_least=1)

    def edition(self) -> str:
        return EDITION
