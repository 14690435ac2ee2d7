"""Uploads finished builds to a data set on the Hugging Face hub, one commit per edition.

examples:
  A list of the files to upload:
    corpusmill publish hub me/wiki40b corpora/wiki40b --dry-run
  All languages, or one language:
    export HF_TOKEN=hf_...
    corpusmill publish hub me/wiki40b corpora/wiki40b
    corpusmill publish hub me/wiki40b corpora/wiki40b/el

For each edition at or below DIR, the current build is uploaded; without a current build, the newest one.
Builds made with --limit are left out, unless DIR is the folder of the build itself. The command uploads all
files of the build, croissant.json, and a README.md. The README.md lets `datasets` load each edition by name:
  datasets.load_dataset("me/wiki40b", "uk")

Each file is first compared with the manifest: a damaged build is not uploaded, nor one with other files in
its folder, hidden files, or links. After an interruption, run the
same command again; files that the hub already has are not uploaded again. Builds uploaded before are kept,
and so is a README.md that corpusmill did not write. The data set must exist; HF_TOKEN must have write access
to it.

Exit status: 0 done, 1 damaged build or an error of the hub, 2 wrong settings or no token.
"""

import argparse
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_folders


def add(commands: Commands) -> None:
    """Adds the command `corpusmill publish` to the parser."""
    about = "uploads finished builds to a data set on the Hugging Face hub"
    parser = add_command(commands, "publish", about, __doc__, _run)
    parser.add_argument("where", choices=["hub"], help="the Hugging Face hub")
    parser.add_argument("repo", metavar="REPO", help="name of the data set: owner/name")
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).switch(
        "--dry-run", "only list the files and their sizes, without connecting to the hub"
    )
    parser.set_defaults(extras=["croissant"])


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.html_report.text_of_numbers import count, readable_bytes
    from corpusmill.pipelines.inspect.hub import plan, publish

    editions = plan(settings.folders)
    if settings.dry_run:
        for file in (file for edition in editions for file in edition.files):
            print(f"{file.bytes:>15,}  {file.place}")
        total = sum(file.bytes for edition in editions for file in edition.files)
        files = sum(len(edition.files) for edition in editions)
        counted = f"{count(len(editions), 'edition')}, {count(files, 'file')}"
        print(f"{counted}, {readable_bytes(total)}")
        return
    for one in publish(settings.repo, editions):
        done = f"{one.files:,} files, {readable_bytes(one.bytes)}: {one.commit}"
        print(f"{one.edition.folder}: {done if one.commit else 'already uploaded'}", flush=True)
