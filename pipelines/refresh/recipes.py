"""Recipes of refreshes: how each corpus of a configuration is built from the files of its sources."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from corpusmill.pipelines.refresh.config import CorpusTable, Settings
from corpusmill.pipelines.refresh.sources import Source
from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.launch import Corpus

Files = Mapping[str, Sequence[str]]
"""Name of a build setting, such as "dump" or "page_props" → paths of its files."""

_GIVEN = "-"  # placeholder for paths while the settings are checked before the download


class Recipe(NamedTuple):
    """The sources of one corpus of the configuration, and a function that builds the corpus."""

    table: CorpusTable
    sources: tuple[Source, ...]
    version: str  # version of the corpus: part of the name of an edition
    edition_folder: str  # path below the output: "wiki40b/uk"; "" if only the build determines it
    place: str  # the same in two recipes only if they certainly share a folder of editions
    make: Callable[[Files, str, str], Corpus]  # (files, date, folder of the build used as input)


def recipe_of(table: CorpusTable, settings: Settings) -> Recipe:
    """Returns the recipe of a table [[corpus]].

    Raises ValueError with the name of the corpus for invalid settings.
    """
    try:
        return _find_recipe(table, settings)
    except ValueError as error:
        raise ValueError(f"[[corpus]] {table.label}: {error}") from None


def _find_recipe(table: CorpusTable, settings: Settings) -> Recipe:
    row = rows()[table.kind]
    module = row.load()
    config, build = getattr(module, row.settings), getattr(module, row.build)
    sources, given = table.sources(settings), table.given()
    roles = {table.setting_of(one.name, role) for one in sources for role in one.roles}
    checked = _configure(config, table.build, {role: [_GIVEN] for role in roles}, given)
    edition = checked.edition() if hasattr(checked, "edition") else getattr(module, "EDITION", "")

    def make(files: Files, date: str, joined: str) -> Corpus:
        more = {**given, "dump_date": date} | ({table.joins: joined} if table.joins else {})
        corpus: Corpus = build(_configure(config, table.build, files, more))
        return corpus

    folder = f"{row.name}/{edition}" if edition else ""
    place = folder or f"{row.name} {sorted(roles)} {sorted(table.build.items())}"
    return Recipe(table, sources, build.release.version, folder, place, make)


def _configure(
    config: type, build: Mapping[str, Any], files: Files, given: Mapping[str, Any]
) -> Any:
    """Returns the settings of a build as an object of the class `config`.

    Args:
      build: The settings in the subtable `build` of the configuration.
      files: The settings that contain the paths of the downloaded files.
      given: The other settings that the refresh determines.

    Raises ValueError with the name of an unknown or invalid setting.
    """
    fields = {field.name for field in dataclasses.fields(config)}
    taken = {*files, *given, "dump_date"}
    for name in build:
        if name not in fields:
            raise ValueError(f"build: there is no setting {name!r}")
        if name in taken:
            raise ValueError(f"build: remove {name!r}: the refresh sets it")
    try:
        return msgspec.convert({**build, **files, **given}, type=config)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise ValueError(f"build: {place.strip('.`')}: {what}".replace(": : ", ": ")) from None
