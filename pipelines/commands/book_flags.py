"""Flags that the commands of Project Gutenberg share."""

import argparse

from pipelines.commands.flags import add_files


def add_books(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Adds where the books are and what is known of them; gives the group."""
    files = parser.add_argument_group(
        "inputs",
        "file names, patterns or folders, on any file system of Beam's (gs://, s3://, hdfs://)",
    )
    add_files(
        files,
        "--books",
        "text files of Project Gutenberg, folders of them, or .zip, .tar, .tgz, .tar.zip, one in another too",
        True,
    )
    add_files(
        files,
        "--catalog",
        "pg_catalog.csv, or the RDF archive; without it titles are those of the files, and genres are told"
        " by the text alone",
    )
    files.add_argument(
        "--dump-date",
        default="",
        metavar="DATE",
        help="names the build; default: the newest date in the names of the files, else undated",
    )
    files.add_argument(
        "--on-corrupt",
        choices=("fail", "keep-good"),
        default="fail",
        help="what to do about damaged input: end with an error (default), or take what is whole",
    )
    return files
