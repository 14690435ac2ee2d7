"""Defines the flags that `corpusmill pg19` and `corpusmill simplebooks` have in common."""

import argparse

from corpusmill.pipelines.run.flags import Flags


def add_books(parser: argparse.ArgumentParser) -> Flags:
    """Adds the flags for book files and their metadata. Returns the group of these flags."""
    files = Flags(
        parser,
        "inputs",
        "file names, patterns or folders, on any file system of Beam's (gs://, s3://, hdfs://)",
    )
    files.files(
        "--books",
        "text files of Project Gutenberg, folders, or archives (.zip, .tar, .tgz, .tar.zip), also nested",
        required=True,
    )
    files.files(
        "--catalog",
        "pg_catalog.csv, or the RDF archive; without it, titles are taken from the files, and genres are"
        " detected from the text alone",
    )
    files.dump_date('the newest date in the names of the files; "undated" if there is none')
    files.on_corrupt()
    files.limit("books")
    return files
