"""Settings of the entity table."""

import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run.dump_settings import check_dump_settings
from corpusmill.transforms.files.builds.build_manifest import Release
from corpusmill.transforms.wikipedia.entity_table import ROWS_PER_FILE
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, dbname_of

CORPUS = "entities"
EDITION = "wikidata"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
ALWAYS_WANTED = "enwiki"  # wiki whose titles are always kept: they identify templates of all wikis


@dataclasses.dataclass(frozen=True)
class EntitiesConfig:
    """The settings of a build of the entity table. Invalid settings raise ValueError."""

    dump: Sequence[str]  # patterns of wikidata-<date>-all.json files, or parts of one
    wikis: Sequence[str] = LANGUAGE_CODES  # corpus codes of the wikis whose titles are kept
    dump_date: str = ""  # "20260101"; "" is taken from the name of the dump
    on_corrupt: str = "fail"
    rows_per_file: int = ROWS_PER_FILE

    def __post_init__(self) -> None:
        for code in self.wikis:
            dbname_of(code)
        check_dump_settings(self.dump, self.dump_date, self.on_corrupt)
        if self.rows_per_file < 1:
            raise ValueError(f"rows_per_file must be positive, not {self.rows_per_file}")
