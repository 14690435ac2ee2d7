"""Uploads finished builds to a data set of the Hugging Face hub, one commit per edition.

examples:
  A list of the files to upload:
    corpusmill publish hub me/wiki40b corpora/wiki40b --dry-run
  All languages, or one language:
    export HF_TOKEN=hf_...
    corpusmill publish hub me/wiki40b corpora/wiki40b
    corpusmill publish hub me/wiki40b corpora/wiki40b/el

For each edition at or below DIR, the current build (without one, the newest) is uploaded with all its files,
croissant.json, and a README.md with which the hub and `datasets` load each edition by name:
  datasets.load_dataset("me/wiki40b", "uk")

Each file is compared with the manifest first: a damaged build is not uploaded. Files that the hub already has
are not uploaded again: after an interruption, run the same command. Builds uploaded before are kept, and so
is a README.md that corpusmill did not write. The data set must exist; HF_TOKEN must have write access to it.

Exit status: 0 done, 1 damaged build or an error of the hub, 2 wrong settings or no token.
"""

import argparse
from collections.abc import Sequence

from pipelines.commands.flags import Commands, Flags, add_command, add_folders


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "uploads finished builds to a data set of the Hugging Face hub"
    parser = add_command(commands, "publish", about, __doc__, _run)
    parser.add_argument("where", choices=["hub"], help="the Hugging Face hub")
    parser.add_argument("repo", metavar="REPO", help="of a data set: owner/name")
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).switch("--dry-run", "only list files and bytes, without a connection to the hub")
    parser.set_defaults(extras=["croissant"])


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from pipelines.inspect.html_report.text_of_numbers import readable_bytes
    from pipelines.share.hub import plan, publish

    editions = plan(settings.folders)
    if settings.dry_run:
        for file in (file for edition in editions for file in edition.files):
            print(f"{file.bytes:>15,}  {file.place}")
        total = sum(file.bytes for edition in editions for file in edition.files)
        files = sum(len(edition.files) for edition in editions)
        print(f"{len(editions)} editions, {files:,} files, {readable_bytes(total)}")
        return
    for one in publish(settings.repo, editions):
        done = f"{one.files:,} files, {readable_bytes(one.bytes)}: {one.commit}"
        print(f"{one.edition.folder}: {done if one.commit else 'already uploaded'}", flush=True)
