"""How each kind of corpus is refreshed: the dumps it is made of, and the build that they give."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pipelines.builds.launch import Corpus
from pipelines.corpora import rows
from pipelines.refresh.config import CorpusTable, Settings
from pipelines.refresh.sources import (
    EntitiesSource,
    GutenbergSource,
    NewsSource,
    Source,
    WikimediaSource,
    check_source,
)

Files = Mapping[str, Sequence[str]]
"""Setting of a corpus ("dump", "page_props") → paths of the files that it names."""

_GIVEN = "-"  # stands for files that are not there yet, where settings are checked


class Recipe(NamedTuple):
    """How one corpus of the configuration is refreshed."""

    label: str
    corpus: str  # "wiki40b"
    sources: tuple[Source, ...]
    rename: Mapping[
        str, Mapping[str, str]
    ]  # name of a source → its role → setting, where they differ
    version: str  # of the code: part of the name of an edition
    edition_folder: str  # below the output, where the settings tell: "wiki40b/uk"; else ""
    place: str  # equal for two that certainly have one folder of editions
    make: Callable[[Files, str, str], Corpus]  # (files, date, folder of the build that is joined)

    def setting_of(self, source: str, role: str) -> str:
        """The setting of the corpus that takes the files of a source."""
        return self.rename.get(source, {}).get(role, role)


def recipe_of(table: CorpusTable, settings: Settings) -> Recipe:
    """The recipe of a table [[corpus]].

    Raises ValueError, with the name of the corpus, for settings that it cannot have.
    """
    try:
        recipe = _find_recipe(table, settings)
        for source in recipe.sources:
            check_source(source)
    except ValueError as error:
        raise ValueError(f"[[corpus]] {table.label}: {error}") from None
    return recipe


def _find_recipe(table: CorpusTable, settings: Settings) -> Recipe:
    row = rows()[table.kind]
    module = row.load()
    config, build = getattr(module, row.settings), getattr(module, row.build)
    sources, rename, given = table.sources(settings), table.rename(), table.given()
    roles = {
        rename.get(source.name, {}).get(role, role)
        for source in sources
        for role in _roles_of(source)
    }
    checked = _configure(config, table.build, {role: [_GIVEN] for role in roles}, given)
    edition = checked.edition() if hasattr(checked, "edition") else getattr(module, "EDITION", "")

    def make(files: Files, date: str, joined: str) -> Corpus:
        more = {**given, "dump_date": date} | ({table.joins: joined} if table.joins else {})
        corpus: Corpus = build(_configure(config, table.build, files, more))
        return corpus

    folder = f"{row.name}/{edition}" if edition else ""
    place = folder or f"{row.name} {sorted(roles)} {sorted(table.build.items())}"
    return Recipe(
        table.label, row.name, sources, rename, build.release.version, folder, place, make
    )


def _roles_of(source: Source) -> Sequence[str]:
    """What the files of a source are to a corpus."""
    match source:
        case WikimediaSource():
            return source.roles
        case EntitiesSource():
            return ("dump",)
        case GutenbergSource():
            return ("books", "catalog") if source.catalog else ("books",)
        case NewsSource():
            return ("input",)
        case _:
            return tuple(source.files)


def _configure(
    config: type, build: Mapping[str, Any], files: Files, given: Mapping[str, Any]
) -> Any:
    """The settings of a build. Raises ValueError that names a setting that is none, or wrong."""
    fields = {field.name for field in dataclasses.fields(config)}
    taken = {*files, *given, "dump_date"}
    for name in build:
        if name not in fields:
            raise ValueError(f"build: there is no setting {name!r}")
        if name in taken:
            raise ValueError(f"build: {name!r} is not for you to set: a refresh finds it")
    try:
        return msgspec.convert({**build, **files, **given}, type=config)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise ValueError(f"build: {place.strip('.`')}: {what}".replace(": : ", ": ")) from None
