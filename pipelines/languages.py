"""Builds many languages of Wiki-40B in one run.

The run builds an entity table, then a corpus for each language, then vocabularies over all languages.
"""

import argparse
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from corpusmill.pipelines.run.flags import launch_build, settings_of
from corpusmill.pipelines.tables import entity_table

if TYPE_CHECKING:
    from corpusmill.pipelines.batch import NamedBuild, Outcome
    from corpusmill.pipelines.run.estimate import Estimate
    from corpusmill.pipelines.run.launch import Corpus
    from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig
    from corpusmill.transforms.wikipedia.find_dumps import FoundDumps, WikiDump

VERIFIED = "verified.tsv"  # in the output folder: findings of the final check on a cluster


def wiki40b_config(settings: argparse.Namespace, **given: Any) -> "Wiki40bConfig":
    """Returns the settings of one Wiki-40B build, from flags. Values in `given` replace those
    of the flags.
    """
    from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig

    return Wiki40bConfig(**{**settings_of(Wiki40bConfig, settings), **given})


def build_wiki40b(
    corpus: "Corpus", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "Estimate | None":
    """Builds the Wiki-40B corpus of one language, and prints the audit if --audit is given.

    With --dry-run, only prints and returns an estimate of the cost. Otherwise returns None.
    """
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.inspect.show_audit import print_audit
    from corpusmill.transforms.files.builds.finished_builds import read_json
    from corpusmill.transforms.wikipedia.write_audit import SUMMARY

    estimate = launch_build(corpus, settings, beam_flags)
    if settings.audit and not settings.dry_run and not settings.json:
        print_audit(read_json(FileSystems.join(settings.output, *corpus.path), SUMMARY))
    return estimate


def build_languages(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    """Builds all languages in `--languages` from the dumps in `--dumps`. Returns the exit status.

    If a corpus fails, the others are still built. Finished builds are kept.
    """
    from corpusmill.pipelines import batch
    from corpusmill.pipelines.inspect.findings import FAULTY
    from corpusmill.pipelines.run.extras import check_extras
    from corpusmill.transforms.files.errors import BuildError
    from corpusmill.transforms.wikipedia.find_dumps import (
        ALL,
        NEWEST,
        PAPER,
        add_older_dumps,
        find_dumps,
        parse_languages,
    )
    from corpusmill.transforms.wikipedia.older_pages import parse_page_id

    languages = parse_languages(settings.languages, settings.dumps)
    # Raises errors for contradictory settings now, instead of after hours.
    given = {"dump": ["-"], "entities": "", "dump_date": "", "newer_than": ()}
    wiki40b_config(settings, language=languages[0], **given)
    if parse_page_id(settings.newer_than):
        raise ValueError(
            "--newer-than must be folders of older dumps, with the same layout as --dumps: a page id cannot"
            " be used with --languages, because it is valid in one wiki only"
        )
    found = find_dumps(
        settings.dumps,
        languages,
        settings.dump_date or NEWEST,
        settings.layout,
        keep_good=settings.on_corrupt != "fail",
    )
    if settings.newer_than:
        found = add_older_dumps(found, settings.newer_than)
    is_named = settings.languages not in (ALL, PAPER)
    _tell_what_is_passed_over(found, is_named)
    check_extras([settings.command], [wiki.language for wiki in found.wikis])
    sources = settings.entities or ([found.entities.path] if found.entities else [])
    table = entity_table(sources, settings, beam_flags, languages)
    builds = [_named_corpus(wiki, table, settings, beam_flags) for wiki in found.wikis]
    if settings.dry_run:
        batch.look_ahead(builds, found.missing, missing_is_failure=is_named)
        return 0
    corpora = batch.run_batch(builds, replace=settings.replace)
    vocabularies = _build_multilingual(corpora, settings, beam_flags)
    outcomes = [*batch.missing_outcomes(found.missing), *corpora, *vocabularies]
    finished = [one.target for one in corpora if one.status != batch.FAILED]
    if not settings.json:
        batch.print_sizes(outcomes)
    is_sound = not finished or _check_splits(finished, settings, beam_flags)
    if finished and not settings.json:
        print()
    batch.conclude(outcomes, missing_is_failure=is_named, as_json=settings.json)
    if not is_sound:
        raise BuildError(f"the check of the finished builds found faults, listed above; {FAULTY}")
    return 0


def _check_splits(
    targets: Sequence[str], settings: argparse.Namespace, beam_flags: Sequence[str]
) -> bool:
    """Checks, over all languages together, that no Wikidata entity is in two splits.

    Returns True if the builds have no fault.

    Args:
      targets: The folders of finished builds.
    """
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.inspect.verify import check_builds, print_verdict, to_json_line
    from corpusmill.transforms.files.builds.finished_builds import open_build
    from corpusmill.transforms.files.runners import IN_PROCESS

    # Workers of other runners report through a file.
    is_here = settings.runner == IN_PROCESS
    report = "" if is_here else FileSystems.join(settings.output, VERIFIED)
    verdict = check_builds(
        [open_build(target) for target in targets],
        runner=settings.runner,
        workers=settings.workers,
        beam_flags=beam_flags,
        report=report,
    )
    if settings.json:
        print(to_json_line(verdict))
    else:
        print_verdict(verdict, report, is_last=False)
    return verdict.is_sound


def _tell_what_is_passed_over(found: "FoundDumps", is_named: bool) -> None:
    for folder in found.passed_over:
        logging.getLogger(__name__).warning(
            "dump not used: %s/%s: %s", folder.dbname, folder.date, folder.reason
        )
    for wiki in found.missing if is_named else ():
        logging.getLogger(__name__).warning("no dump: %s: %s", wiki.language, wiki.reason)


def _named_corpus(
    wiki: "WikiDump", table: str, settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "NamedBuild":
    from corpusmill.pipelines.wiki40b import Wiki40b
    from corpusmill.pipelines.wiki40b_settings import CORPUS, VERSION

    config = wiki40b_config(
        settings,
        language=wiki.language,
        dump=wiki.dump,
        page_props=wiki.page_props,
        page_table=wiki.page_table,
        items_per_site=wiki.items_per_site,
        entities=table,
        dump_date=wiki.date,
        newer_than=wiki.older,
    )
    path = (CORPUS, config.edition(), f"{wiki.date}-{VERSION}")
    return _named_build(
        f"{wiki.language} {wiki.date}",
        path,
        lambda: Wiki40b(config),
        settings,
        lambda corpus: build_wiki40b(corpus, settings, beam_flags),
    )


def _named_build(
    label: str,
    path: Sequence[str],
    make: Callable[[], "Corpus"],
    settings: argparse.Namespace,
    run: "Callable[[Corpus], object]",
) -> "NamedBuild":
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.batch import NamedBuild

    return NamedBuild(
        label=label,
        target=FileSystems.join(settings.output, *path),
        make=make,
        run=run,
    )


def _build_multilingual(
    corpora: "Sequence[Outcome]", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "list[Outcome]":
    """Trains vocabularies on the text of all languages together.

    Does nothing if the user has set --no-multilingual, if the build of a corpus has failed, or if there is
    only one language.

    Args:
      corpora: The results of the builds of the languages.

    Returns a list with the result of the training, or an empty list.
    """
    from corpusmill.pipelines import batch
    from corpusmill.pipelines.wiki40b_multilingual import Wiki40bMultilingual
    from corpusmill.pipelines.wiki40b_multilingual_settings import MultilingualConfig

    is_complete = all(outcome.status != batch.FAILED for outcome in corpora)
    languages = {outcome.label.split()[0] for outcome in corpora}
    if not settings.multilingual or len(languages) < 2:
        return []
    if not is_complete:
        logging.getLogger(__name__).warning(
            "no multilingual vocabularies are trained, because the build of a corpus failed"
        )
        return []
    multilingual = Wiki40bMultilingual(MultilingualConfig([one.target for one in corpora]))
    build = _named_build(
        "multilingual",
        multilingual.path,
        lambda: multilingual,
        settings,
        lambda corpus: launch_build(corpus, settings, beam_flags),
    )
    return batch.run_batch([build], replace=settings.replace)
