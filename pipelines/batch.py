"""Runs several builds one after the other. If a build fails, the next one is still run.

Builds one language of Wiki-40B, or many in one run.

A run of many languages builds an entity table, then a corpus for each language.
"""

import argparse
import json
import logging
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.inspect.build_sizes import find_sizes
from corpusmill.pipelines.inspect.findings import FAULTY
from corpusmill.pipelines.inspect.report import print_audit, render_text
from corpusmill.pipelines.inspect.verify import check_builds, print_verdict, to_json_line
from corpusmill.pipelines.run import flags
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.editions import write_cards
from corpusmill.pipelines.run.extras import check_extras
from corpusmill.pipelines.run.forecast import Forecast, print_total
from corpusmill.pipelines.run.publish import (
    EXPLAINED,
    FinishedError,
    TargetError,
    is_built,
    is_completed,
)
from corpusmill.pipelines.run.settings import settings_of
from corpusmill.transforms.files.builds.finished_builds import open_build, read_json
from corpusmill.transforms.files.errors import IN_PROCESS, LOOKED_AHEAD, BuildError, end_if_failed
from corpusmill.transforms.files.terminal import draw, screen_columns
from corpusmill.transforms.wikipedia import find_dumps
from corpusmill.transforms.wikipedia.audit_pages import SUMMARY
from corpusmill.transforms.wikipedia.find_dumps import MissingWiki
from corpusmill.transforms.wikipedia.screening import parse_page_id
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES

from .entities import Entities
from .entities_settings import EntitiesConfig
from .wiki40b import Wiki40b
from .wiki40b_settings import CORPUS, VERSION, Wiki40bConfig

BUILT = "built"
ALREADY_THERE = "already there"
FAILED = "failed"
MISSING = "missing"
STATUSES = (BUILT, ALREADY_THERE, FAILED, MISSING)


class NamedBuild(NamedTuple):
    """A build to run in a batch of builds."""

    label: str  # "uk 20230501"
    target: str  # the folder of the build
    make: Callable[[], CorpusBuild]  # checks the inputs; may raise
    # runs the build that `make` returns; if the batch has `replace`, replaces a finished build
    run: Callable[[Any], Any]


class Outcome(NamedTuple):
    """The result of one build."""

    label: str
    target: str  # the folder of the build; "" if its dump is missing
    status: str  # one of STATUSES
    message: str = ""  # why the build failed or its dump is missing


def run_batch(builds: Sequence[NamedBuild], *, replace: bool = False) -> list[Outcome]:
    """Runs all builds that are not finished, and logs each result as soon as it is known.

    An error in a build does not stop the batch; only an interrupt such as Ctrl-C does.

    Args:
      replace: Whether finished builds are built again. If not, a finished build counts as failed if its
        version, settings or inputs differ from those of the requested build.
    """
    log = logging.getLogger(__name__)
    outcomes = []
    for number, build in enumerate(builds, 1):
        log.info("%s: build %d of %d", build.label, number, len(builds))
        outcome = _run_build(build, replace)
        level = logging.ERROR if outcome.status == FAILED else logging.INFO
        log.log(level, "%s: %s: %s", build.label, outcome.status, outcome.message or build.target)
        outcomes.append(outcome)
    write_cards(one.target for one in outcomes if one.status == ALREADY_THERE)
    return outcomes


def look_ahead(
    builds: Sequence[NamedBuild], missing: Sequence[MissingWiki], *, missing_is_failure: bool
) -> None:
    """Prints the forecast cost of each build that is not finished, and the total.

    Args:
      builds: Builds whose `run` prints and returns a Forecast, and raises FinishedError for a finished
        build.
      missing: Wikis whose dump was not found. They are printed, too.
      missing_is_failure: Whether a missing dump is a failure.

    Raises BuildError if a build would fail, or could not be forecast.
    """
    forecasts, failed = [], []
    for build in builds:
        try:
            forecasts.append(build.run(build.make()))
        except FinishedError:
            print(f"{build.label}: {ALREADY_THERE}: {build.target}")
        except EXPLAINED as error:
            print(f"{build.label}: {error}")
            failed.append(build.label)
    for one in missing:
        print(f"{one.language}: {MISSING}: {one.reason}")
    print_total(forecasts)
    if missing_is_failure:
        failed += [one.language for one in missing]
    end_if_failed(failed, len(builds) + len(missing), "builds would fail", LOOKED_AHEAD)


def _run_build(build: NamedBuild, replace: bool) -> Outcome:
    try:
        corpus = build.make()
        if not replace and is_built(build.target, corpus):
            return Outcome(build.label, build.target, ALREADY_THERE)
        build.run(corpus)
    except EXPLAINED as error:
        return Outcome(build.label, build.target, FAILED, str(error))
    except Exception as error:
        logging.getLogger(__name__).exception("%s", build.label)
        return Outcome(build.label, build.target, FAILED, _one_line(error))
    return Outcome(build.label, build.target, BUILT)


def _one_line(error: Exception) -> str:
    """Returns an error as one line: its type and the last line of its message.

    The message of an error in a worker contains a whole traceback, so only its last line is useful.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'see the traceback'}"


def print_sizes(outcomes: Sequence[Outcome]) -> None:
    """Prints the sizes of the finished builds."""
    finished = [one.target for one in outcomes if one.status in (BUILT, ALREADY_THERE)]
    if finished:
        sys.stdout.write(render_text(find_sizes(finished), screen_columns()) + "\n")


def conclude(
    outcomes: Sequence[Outcome], *, missing_is_failure: bool, as_json: bool = False
) -> None:
    """Prints a line per build.

    Args:
      missing_is_failure: Whether a missing dump is a failure.
      as_json: Whether to print the outcomes as one line of JSON.

    Raises BuildError if a build has failed.
    """
    if as_json:
        print(json.dumps({"outcomes": [one._asdict() for one in outcomes]}, ensure_ascii=False))
    else:
        sys.stdout.write(describe_outcomes(outcomes))
    failures = {FAILED, MISSING} if missing_is_failure else {FAILED}
    failed = [one.label for one in outcomes if one.status in failures]
    end_if_failed(failed, len(outcomes), "builds failed")


def describe_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Returns a table of the builds, and a last line with the number of builds per status."""
    rows = [(one.label, one.status, one.message or one.target) for one in outcomes]
    table = draw(("build", "status", "result"), rows, key=3, width=screen_columns())
    counts = Counter(one.status for one in outcomes)
    summary = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    return f"{table}{summary}\n"


_PAPER_VOCABULARY = ("--articles", "10000", "--size", "64000")
VERIFIED = "verified.tsv"  # in the output folder: findings of the final check on a cluster


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
    try:
        is_there = is_built(target, corpus)
    except TargetError:  # a table from other dumps
        if not settings.replace:
            raise
        is_there = False
    if not is_there:
        flags.launch_build(corpus, settings, beam_flags)
        if settings.dry_run:
            settings.is_table_unbuilt = True  # so it is not among the inputs of the builds
            return ""
    return target


def wiki40b_config(settings: argparse.Namespace, **given: Any) -> Wiki40bConfig:
    """Returns the settings of one Wiki-40B build, from flags. Values in `given` replace those
    of the flags.
    """
    return Wiki40bConfig(**{**settings_of(Wiki40bConfig, settings), **given})


def build_wiki40b(
    corpus: CorpusBuild, settings: argparse.Namespace, beam_flags: Sequence[str]
) -> Forecast | None:
    """Builds the Wiki-40B corpus of one language, and prints the audit if --audit is given.

    With --dry-run, only prints and returns a forecast of the cost. Otherwise returns None.
    """
    forecast = flags.launch_build(corpus, settings, beam_flags)
    if settings.audit and not settings.dry_run and not settings.json:
        print_audit(read_json(FileSystems.join(settings.output, *corpus.path), SUMMARY))
    return forecast


def build_one(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    """Builds the language in `--language`. Returns the exit status."""
    check_extras([settings.command], [settings.language])
    # contradictory settings and wrong inputs are errors here, not after the entity table
    Wiki40b(wiki40b_config(settings, entities=""))
    table = entity_table(settings.entities, settings, beam_flags, [settings.language])
    build_wiki40b(Wiki40b(wiki40b_config(settings, entities=table)), settings, beam_flags)
    return 0


def build_languages(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    """Builds all languages in `--languages` from the dumps in `--dumps`. Returns the exit status.

    If a corpus fails, the others are still built. Finished builds are kept.
    """
    languages = find_dumps.parse_languages(settings.languages, settings.dumps)
    # Raises errors for contradictory settings now, instead of after hours.
    given = {"dump": ["-"], "entities": "", "dump_date": "", "newer_than": ()}
    wiki40b_config(settings, language=languages[0], **given)
    if parse_page_id(settings.newer_than):
        raise ValueError(
            "--newer-than must be folders of older dumps, with the same layout as --dumps: a page id cannot"
            " be used with --languages, because it is valid in one wiki only"
        )
    found = find_dumps.find_dumps(
        settings.dumps,
        languages,
        settings.dump_date or find_dumps.NEWEST,
        settings.layout,
        keep_good=settings.on_corrupt != "fail",
    )
    if settings.newer_than:
        found = find_dumps.add_older_dumps(found, settings.newer_than)
    is_named = settings.languages not in (find_dumps.ALL, find_dumps.PAPER)
    _tell_what_is_passed_over(found, is_named)
    check_extras([settings.command], [wiki.language for wiki in found.wikis])
    sources = settings.entities or ([found.entities.path] if found.entities else [])
    table = entity_table(sources, settings, beam_flags, languages)
    builds = [_named_corpus(wiki, table, settings, beam_flags) for wiki in found.wikis]
    if settings.dry_run:
        look_ahead(builds, found.missing, missing_is_failure=is_named)
        return 0
    corpora = run_batch(builds, replace=settings.replace)
    missing = (Outcome(one.language, "", MISSING, one.reason) for one in found.missing)
    outcomes = [*missing, *corpora]
    finished = [one.target for one in corpora if one.status != FAILED]
    if not settings.json:
        print_sizes(outcomes)
    is_sound = not finished or _check_splits(finished, settings, beam_flags)
    if finished and not settings.json:
        print()
    if len(finished) > 1 and len(finished) == len(corpora) and is_sound and not settings.json:
        corpora_and_output = *finished, "--output", settings.output
        command = ("corpusmill", "subwords", *_PAPER_VOCABULARY, "--corpora", *corpora_and_output)
        print(f"one vocabulary for all languages, as in the paper: {shlex.join(command)}\n")
    conclude(outcomes, missing_is_failure=is_named, as_json=settings.json)
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
    # Workers of other runners report through a file.
    is_here = settings.runner == IN_PROCESS
    report = "" if is_here else FileSystems.join(settings.output, VERIFIED)
    verdict = check_builds(
        [open_build(target) for target in targets],
        **flags.runner_of(settings, beam_flags),
        report=report,
    )
    if settings.json:
        print(to_json_line(verdict))
    else:
        print_verdict(verdict, report, is_last=False)
    return verdict.is_sound


def _tell_what_is_passed_over(found: find_dumps.FoundDumps, is_named: bool) -> None:
    for folder in found.passed_over:
        logging.getLogger(__name__).warning(
            "dump not used: %s/%s: %s", folder.dbname, folder.date, folder.reason
        )
    for wiki in found.missing if is_named else ():
        logging.getLogger(__name__).warning("no dump: %s: %s", wiki.language, wiki.reason)


def _named_corpus(
    wiki: find_dumps.WikiDump, table: str, settings: argparse.Namespace, beam_flags: Sequence[str]
) -> NamedBuild:
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
    return NamedBuild(
        f"{wiki.language} {wiki.date}",
        FileSystems.join(settings.output, *path),
        lambda: Wiki40b(config),
        lambda corpus: build_wiki40b(corpus, settings, beam_flags),
    )
