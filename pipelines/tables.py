"""Finds the entity table that a command needs, or builds it from Wikidata dumps."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corpusmill.pipelines.entities import Entities


def entity_table(
    paths: Sequence[str],
    settings: argparse.Namespace,
    beam_flags: Sequence[str],
    languages: Sequence[str] = (),
) -> str:
    """Returns the folder of the entity table for a build, after building the table if necessary.

    Args:
      paths: The folder of a finished table, or patterns of Wikidata dumps. From dumps, a table is built below
        `settings.output`, unless it already exists.
      languages: Codes of languages whose titles a new table contains, in addition to the languages of the
        paper.

    Returns "" if `paths` is empty, or if a dry run would have to build the table. Raises ValueError if
    `paths` has a table and other paths, TargetError if there is a finished table from other dumps and
    `settings.replace` is False.
    """
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.entities import Entities
    from corpusmill.pipelines.entities_settings import EntitiesConfig
    from corpusmill.pipelines.run.flags import launch_build
    from corpusmill.pipelines.run.publish import is_completed
    from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES

    if not paths:
        return ""
    folders = [path for path in paths if is_completed(path)]
    if folders and len(paths) > 1:
        raise ValueError(f"--entities must be one table or several dumps, got {' '.join(paths)}")
    if folders:
        return folders[0]
    wikis = dict.fromkeys((*LANGUAGE_CODES, *languages))
    corpus = Entities(EntitiesConfig(paths, tuple(wikis), on_corrupt=settings.on_corrupt))
    target: str = FileSystems.join(settings.output, *corpus.path)
    if not _is_there(target, corpus, settings.replace):
        launch_build(corpus, settings, beam_flags)
        if settings.dry_run:
            settings.is_table_unbuilt = True  # so it is not among the inputs of the builds
            return ""
    return target


def _is_there(target: str, corpus: "Entities", replace: bool) -> bool:
    """Returns True if the entity table that `corpus` would make is already finished.

    If `target` contains a table from other dumps, returns False if `replace` is True, and otherwise raises
    TargetError.
    """
    from corpusmill.pipelines.run.publish import TargetError
    from corpusmill.pipelines.run.same_build import is_built

    try:
        return is_built(target, corpus)
    except TargetError:
        if not replace:
            raise
        return False
