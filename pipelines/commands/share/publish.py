"""Uploads finished builds to a data set of the Hugging Face hub, one commit an edition.

examples:
  What would be uploaded:
    corpusmill publish hub me/wiki40b corpora/wiki40b --dry-run
  All languages, or one more:
    export HF_TOKEN=hf_...
    corpusmill publish hub me/wiki40b corpora/wiki40b
    corpusmill publish hub me/wiki40b corpora/wiki40b/el

Of each edition at or below DIR, the current build is uploaded, or else the newest, with all its files,
croissant.json, and a README.md by which the hub and `datasets` load each edition by its name:
  datasets.load_dataset("me/wiki40b", "uk")

Each file is compared with the manifest first: a damaged build is not uploaded. What the hub has already is
not uploaded again: after an interruption, run the same command. Builds that were uploaded before stay. A
README.md that is not by corpusmill stays, too. The data set must exist; HF_TOKEN must be able to write to it.

Exit status: 0 done, 1 damaged build or an error of the hub, 2 wrong settings or no token.
"""

import argparse
from collections.abc import Sequence

from pipelines.commands.flags import Commands, Flags, add_command, add_folders


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "finished builds → a data set of the Hugging Face hub"
    parser = add_command(commands, "publish", about, __doc__, _run)
    parser.add_argument("where", choices=["hub"], help="the Hugging Face hub")
    parser.add_argument("repo", metavar="REPO", help="of a data set: owner/name")
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).switch("--dry-run", "only list files and bytes; the hub is not asked")
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
        print(f"{one.edition.folder}: {done if one.commit else 'is there already'}", flush=True)
