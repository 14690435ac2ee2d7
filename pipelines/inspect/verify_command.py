"""Checks that finished builds are complete and that no entity is in two splits.

examples:
  Everything below a folder, all languages together:
    corpusmill verify corpora
  Two builds, which may have different dates: each entity must be in the same split in both
    corpusmill verify corpora/wiki40b/{en,uk}/20261101-1.3.0 --report found.tsv
  On a cluster:
    corpusmill verify gs://corpora --report gs://corpora/verified.tsv --runner DataflowRunner …
  One Billion Word, against the published MD5 sums:
    corpusmill verify lm1b corpora/lm1b/en-perl-5.14 --md5 README.corpus_generation_checkpoints
  The same, with a folder of the original files, to show the first differing line of each file:
    corpusmill verify lm1b corpora/lm1b/en-perl-5.14 --md5 LIST --reference r13output

what is checked:
  COMPLETED matches manifest.json, whose values can be those of a build; there are no links
  each file has the size, SHA-256 and number of rows in the manifest; there are no other files
  CURRENT in the folder above builds names one of them, and README.md in that folder matches them
  the files of each split contain as many documents as the manifest says
  no entity is in two splits, in all languages and dates
  with --md5: each listed file that belongs to a build exists, and has the listed MD5 sum

Exit status: 0 no fault, 1 a fault or no build, 2 wrong settings.
"""

import argparse
import pathlib
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import (
    Commands,
    Flags,
    add_command,
    add_folders,
    add_json,
    add_runner,
    runner_of,
)

CORPUS_OF_SUMS = "lm1b"  # the only corpus whose MD5 sums were published


def add(commands: Commands) -> None:
    """Adds the command `corpusmill verify` to the parser."""
    about = "checks that finished builds are complete, and that no entity is in two splits"
    parser = add_command(commands, "verify", about, __doc__, _run)
    add_folders(parser, "finished builds, or folders with builds below")
    sums = Flags(parser, "One Billion Word")
    sums.text(
        "--md5",
        "LIST",
        "list of MD5 sums of the original scripts' output, as published or as printed by md5sum; DIR must"
        " contain one build",
    )
    sums.text(
        "--reference",
        "FOLDER",
        "the original scripts' output, or the unpacked release, to show the first differing lines",
    )
    Flags(parser).text(
        "--report",
        "FILE.tsv",
        "file for all checks and findings; only the first 20 findings are printed",
    )
    add_json(parser)
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from corpusmill.pipelines.inspect import verify, verify_checksums

    how = {**runner_of(settings, beam_flags), "report": settings.report}
    folders, sums, reference = settings.folders, settings.md5, settings.reference
    if sums:
        found = verify_checksums.verify_checksums(
            _one_folder(folders), sums, reference=reference, **how
        )
        if settings.json:
            print(verify_checksums.to_json_line(found))
        else:
            verify_checksums.print_verdict(found, settings.report)
        return 0 if found.is_sound else 1
    if reference:
        raise ValueError("--reference needs --md5 LIST")
    if folders[0] == CORPUS_OF_SUMS and not pathlib.Path(CORPUS_OF_SUMS).exists():
        raise ValueError(
            f"verify {CORPUS_OF_SUMS} DIR needs --md5 LIST; without a list, use verify DIR"
        )
    verdict = verify.verify(folders, **how)
    if settings.json:
        print(verify.to_json_line(verdict))
    else:
        verify.print_verdict(verdict, settings.report)
    return 0 if verdict.is_sound else 1


def _one_folder(folders: Sequence[str]) -> str:
    """Returns the only folder in the arguments "lm1b DIR" or "DIR". Raises ValueError if there
    are several.
    """
    named = folders[1:] if len(folders) > 1 and folders[0] == CORPUS_OF_SUMS else folders
    if len(named) != 1:
        raise ValueError(f"--md5 compares one build: verify {CORPUS_OF_SUMS} DIR --md5 LIST")
    return named[0]
