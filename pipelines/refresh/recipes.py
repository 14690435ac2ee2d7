"""How each kind of corpus is refreshed: the dumps it is made of, and the build that they give."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pipelines.builds.launch import Corpus
from pipelines.corpora import row_of
from pipelines.refresh.config import (
    AnyTable,
    EntitiesTable,
    Flores101Table,
    Lm1bTable,
    Pg19Table,
    Settings,
    SimpleBooksTable,
    Wiki40bTable,
)
from pipelines.refresh.sources import (
    EntitiesSource,
    GutenbergSource,
    NewsSource,
    Source,
    WikimediaSource,
    check_source,
)
from transforms.text.translation.records import DOMAINS
from transforms.text.wikimedia.language import dbname_of
from transforms.text.wikimedia.sites import load_site

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
    make: Callable[[Files, str, str], Corpus]  # (files, date, folder of the entity table)

    def setting_of(self, source: str, role: str) -> str:
        """The setting of the corpus that takes the files of a source."""
        return self.rename.get(source, {}).get(role, role)


class _Kind(NamedTuple):
    """What the module of a corpus offers."""

    config: type
    corpus: Callable[[Any], Any]
    name: str
    version: str


def recipe_of(table: AnyTable, settings: Settings) -> Recipe:
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


def _find_recipe(table: AnyTable, settings: Settings) -> Recipe:
    match table:
        case EntitiesTable():
            return _recipe(table, (EntitiesSource(settings.mirrors),))
        case Wiki40bTable():
            roles = ("dump", "page_props", *(["page_table"] if table.page_table else []))
            wiki = WikimediaSource(dbname_of(table.language), roles, settings.mirrors)
            return _recipe(table, (wiki,), language=table.language)
        case Lm1bTable():
            years = (table.first_year, table.last_year)
            news = NewsSource(table.language, *years, mirrors=settings.news_mirrors)
            return _recipe(table, (news,), language=table.language)
        case Pg19Table():
            return _recipe(table, (_gutenberg(table, settings),))
        case SimpleBooksTable():
            return _recipe(table, (_gutenberg(table, settings),))
        case Flores101Table():
            wikis = {load_site(site).dbname: site for site in _known_sites(table)}
            sources = tuple(WikimediaSource(wiki, ("dump",), settings.mirrors) for wiki in wikis)
            rename = {wiki: {"dump": site} for wiki, site in wikis.items()}
            return _recipe(table, sources, rename)


def _gutenberg(table: Pg19Table | SimpleBooksTable, settings: Settings) -> GutenbergSource:
    return GutenbergSource(table.books, table.catalog, settings.gutenberg_mirrors)


def _known_sites(table: Flores101Table) -> Sequence[str]:
    unknown = [site for site in table.sites if site not in DOMAINS]
    if unknown or not table.sites:
        raise ValueError(f"sites are of {', '.join(DOMAINS)}, not {', '.join(unknown) or 'none'}")
    return table.sites


def _recipe(
    table: AnyTable,
    sources: tuple[Source, ...],
    rename: Mapping[str, Mapping[str, str]] | None = None,
    **given: str,
) -> Recipe:
    """
    Args:
      given: settings that stand in the table itself.
    """
    kind, rename = _kind_of(table), rename or {}
    roles = {
        rename.get(source.name, {}).get(role, role)
        for source in sources
        for role in _roles_of(source)
    }
    config = _configure(kind.config, table.build, {role: [_GIVEN] for role in roles}, given)
    edition = config.edition() if hasattr(config, "edition") else ""
    if isinstance(table, EntitiesTable):
        from pipelines.settings.entities_settings import EDITION

        edition = EDITION

    def make(files: Files, date: str, entity_table: str) -> Corpus:
        more: dict[str, Any] = {**given, "dump_date": date}
        if isinstance(table, Wiki40bTable):
            more["entities"] = entity_table
        corpus: Corpus = kind.corpus(_configure(kind.config, table.build, files, more))
        return corpus

    folder = f"{kind.name}/{edition}" if edition else ""
    place = folder or f"{kind.name} {sorted(roles)} {sorted(table.build.items())}"
    return Recipe(table.label, kind.name, sources, rename, kind.version, folder, place, make)


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


def _kind_of(table: AnyTable) -> _Kind:
    """The modules of corpora take a while to import: only those that are wanted are."""
    row = row_of(str(table.__struct_config__.tag))
    module = row.load()
    config, make = getattr(module, row.settings), getattr(module, row.build)
    return _Kind(config, make, module.CORPUS, module.VERSION)
