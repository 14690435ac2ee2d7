"""Flags that all commands for books from Project Gutenberg have in common."""

import argparse

from pipelines.commands.flags import Flags


def add_books(parser: argparse.ArgumentParser) -> Flags:
    """Adds the flags for book files and their metadata. Returns the group of these flags."""
    files = Flags(
        parser,
        "inputs",
        "file names, patterns or folders, on any file system of Beam's (gs://, s3://, hdfs://)",
    )
    files.files(
        "--books",
        "text files of Project Gutenberg, folders of them, or .zip, .tar, .tgz, .tar.zip, one in another too",
        required=True,
    )
    files.files(
        "--catalog",
        "pg_catalog.csv, or the RDF archive; without it titles are those of the files, and genres are"
        " detected from the text alone",
    )
    files.dump_date("the newest date in the names of the files, else undated")
    files.on_corrupt()
    files.limit("books")
    return files
