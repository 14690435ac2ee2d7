"""`corpusmill verify`."""

import argparse
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_folders, add_runner

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  Everything below a folder, all languages together:
    corpusmill verify corpora
  Two builds, also of different dates: an entity must be in one split in all of them
    corpusmill verify corpora/wiki40b/en/20261101-1.3.0 corpora/wiki40b/uk/20261101-1.3.0 --report found.tsv
  On a cluster:
    corpusmill verify gs://corpora --report gs://corpora/verified.tsv --runner DataflowRunner …
  One Billion Word, against the sums that its authors have published:
    corpusmill verify lm1b corpora/lm1b/en --md5 README.corpus_generation_checkpoints
  The same, with the first line of each file that differs from the release, or from the scripts' output:
    corpusmill verify lm1b corpora/lm1b/en --md5 LIST --reference r13output

what is proved:
  COMPLETED fits manifest.json, and every file in it is there with its size, SHA-256 and rows
  the files of each split hold as many articles as the manifest says were kept
  no entity is in two splits, whatever the languages and dates of its articles
  with --md5: every file of the list that a build can have is there, byte for byte

Exit status: 0 all is well, 1 something is not or there is no build, 2 wrong settings.
"""

CORPUS_OF_SUMS = "lm1b"  # whose scripts have published MD5 sums


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "verify",
        help="finished builds → are all files whole, and is no entity in two splits?",
        description="Proves that finished builds are whole and that nothing leaks between splits.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    add_folders(parser, "a finished build, or a folder above some")
    sums = parser.add_argument_group("One Billion Word")
    sums.add_argument(
        "--md5",
        default="",
        metavar="LIST",
        help="MD5 sums of the scripts' output, with prose around them or without; DIR holds one build",
    )
    sums.add_argument(
        "--reference",
        default="",
        metavar="FOLDER",
        help="the scripts' output, or the unpacked release: what differs is shown line against line",
    )
    parser.add_argument(
        "--report",
        default="",
        metavar="FILE.tsv",
        help="takes what was checked and all that was found; the screen shows the first 20",
    )
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    if settings.md5:
        return _run_with_sums(settings, beam_flags)
    if settings.reference:
        raise ValueError("--reference goes with --md5 LIST")
    if settings.folders[0] == CORPUS_OF_SUMS and not pathlib.Path(CORPUS_OF_SUMS).exists():
        raise ValueError(f"verify {CORPUS_OF_SUMS} DIR needs --md5 LIST; verify DIR does not")
    from pipelines.inspect.verify import print_verdict, verify

    verdict = verify(
        settings.folders,
        runner=settings.runner,
        workers=settings.workers,
        beam_flags=beam_flags,
        report=settings.report,
    )
    print_verdict(verdict, settings.report)
    return 0 if verdict.is_sound else 1


def _run_with_sums(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from pipelines.inspect.verify_checksums import print_verdict, verify_checksums

    verdict = verify_checksums(
        _one_folder(settings.folders),
        settings.md5,
        reference=settings.reference,
        runner=settings.runner,
        workers=settings.workers,
        beam_flags=beam_flags,
        report=settings.report,
    )
    print_verdict(verdict, settings.report)
    return 0 if verdict.is_sound else 1


def _one_folder(folders: Sequence[str]) -> str:
    """DIR of "lm1b DIR", or of "DIR" alone. Raises ValueError."""
    named = folders[1:] if len(folders) > 1 and folders[0] == CORPUS_OF_SUMS else folders
    if len(named) != 1:
        raise ValueError(f"--md5 compares one build: verify {CORPUS_OF_SUMS} DIR --md5 LIST")
    return named[0]
