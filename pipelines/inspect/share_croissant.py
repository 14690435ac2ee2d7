"""Writes Croissant metadata for finished builds: JSON-LD that other tools use to find and load data sets.

The metadata file is in the folder of the edition, not in the build, because a finished build is never
changed. It lists each file of the build with its SHA-256, and a record set for each split. Format:
https://docs.mlcommons.org/croissant
"""

import contextlib
import datetime
import glob
import json
import posixpath
from collections.abc import Iterator, Sequence
from typing import Any

import mlcroissant as mlc
import pyarrow as pa

from corpusmill.pipelines.run.chosen_builds import choose_builds
from corpusmill.pipelines.run.corpora import shapes
from corpusmill.transforms.files.builds.build_manifest import CARD
from corpusmill.transforms.files.builds.dataset_card import read_about, read_citation
from corpusmill.transforms.files.builds.finished_builds import Build, path_below, schema_of
from corpusmill.transforms.files.builds.folder_card import CardHead, as_list, read_head
from corpusmill.transforms.files.open_input import InputError, open_raw
from corpusmill.transforms.files.safe_files import write_whole

NAME = "croissant.json"
_PARQUET = "application/x-parquet"
_LICENSE = "https://spdx.org/licenses/{}.html"


def write_croissants(folders: Sequence[str], url: str = "") -> Iterator[str]:
    """Writes the metadata file of each edition in `folders` and their subfolders. Yields the paths of the
    files.

    Args:
      url: The address of the data set's web page; "" for none.

    Raises InputError if there is no build with documents, ValueError if the Croissant library rejects the
    metadata.
    """
    for build in choose_builds(folders, lambda one: bool(splits_of(one)), "documents"):
        path = posixpath.join(posixpath.dirname(build.folder), NAME)
        write_whole(path, make_croissant(build, url).encode("utf-8"))
        yield path


def splits_of(build: Build) -> list[str]:
    """Returns the names of a build's splits that have documents, sorted."""
    return sorted({_split_of(file) for file in build.manifest["outputs"]} - {""})


def make_croissant(build: Build, url: str = "") -> str:
    """Returns the metadata of a build as JSON-LD. Paths are relative to the folder of the edition.

    Args:
      url: The address of the data set's web page; "" for none.

    Raises InputError for a build without documents, ValueError if the Croissant library rejects the metadata.
    """
    splits, card = splits_of(build), _read_card(build)
    head = read_head(card)
    if not splits or not head:
        raise InputError(build.folder, f"builds of {build.corpus} have no documents to describe")
    try:
        metadata = mlc.Metadata(
            name=f"{build.corpus}-{build.edition}",
            description=f"{head.pretty_name or build.corpus}: {read_about(card)}\n\n{build.signature}",
            cite_as=read_citation(card) or None,
            license=[*_licenses(build, head)],
            in_language=as_list(head.language),
            keywords=head.tags,
            date_published=_date(build.dump_date),
            version=build.manifest["version"],
            url=url or None,
            distribution=[*_files(build), *(_file_set(build, split) for split in splits)],
            record_sets=[_record_set(build, split) for split in splits],
        )
    except mlc.ValidationError as error:
        raise ValueError(f"{build.folder}: {error}") from error
    return json.dumps(metadata.to_json(), ensure_ascii=False, indent=2) + "\n"


def _split_of(file: dict[str, Any]) -> str:
    """Returns the split to which a Parquet file in the manifest belongs; "" for other files."""
    return str(file["split"]) if file["format"] == "parquet" else ""


def _read_card(build: Build) -> str:
    path = path_below(build.folder, CARD)
    try:
        with open_raw(path) as stream:
            return stream.read().decode("utf-8")
    except FileNotFoundError:
        raise InputError(
            path,
            "the build has no dataset card, because it was made before corpusmill 0.1; build it again",
        ) from None


def _licenses(build: Build, head: CardHead) -> Iterator[str]:
    """Yields the address of each Creative Commons licence on spdx.org. For any other licence,
    yields its name with a reference to the dataset card.
    """
    for name in as_list(head.license):
        if name.startswith(("cc-by", "cc0")):
            yield _LICENSE.format(name.upper())
        else:
            yield f"{name}: see {posixpath.basename(build.folder)}/{CARD}"


def _date(dump_date: str) -> datetime.datetime | None:
    """Returns the date of the inputs; None for dates such as "2007-2011" or "latest".

    It is used as the date of publication, because a build itself has no date.
    """
    with contextlib.suppress(ValueError):
        return datetime.datetime.strptime(dump_date, "%Y%m%d")
    return None


def _files(build: Build) -> Iterator[mlc.FileObject]:
    folder = posixpath.basename(build.folder)
    for file in sorted(build.manifest["outputs"], key=lambda one: str(one["name"])):
        if _split_of(file):
            yield mlc.FileObject(
                id=file["name"],
                name=file["name"],
                content_url=f"{folder}/{file['name']}",
                content_size=f"{file['bytes']} B",
                encoding_formats=[_PARQUET],
                sha256=file["sha256"],
            )


def _file_set(build: Build, split: str) -> mlc.FileSet:
    folder = glob.escape(posixpath.basename(build.folder))
    return mlc.FileSet(
        id=f"{split}-files",
        name=f"{split}-files",
        includes=[f"{folder}/{split}-*.parquet"],
        encoding_formats=[_PARQUET],
    )


def _record_set(build: Build, split: str) -> mlc.RecordSet:
    shape = shapes().get(build.corpus)
    first = next(file for file in build.manifest["outputs"] if _split_of(file) == split)
    schema = schema_of(path_below(build.folder, first["name"]))
    has_key = shape and shape.id in schema.names and not shape.repeats
    return mlc.RecordSet(
        id=split,
        name=split,
        key=f"{split}/{shape.id}" if shape and has_key else None,
        fields=[_field(split, column) for column in schema],
    )


def _field(split: str, column: pa.Field) -> mlc.Field:
    is_list = pa.types.is_list(column.type)
    return mlc.Field(
        id=f"{split}/{column.name}",
        name=column.name,
        data_types=[_type_of(column.type.value_type if is_list else column.type)],
        is_array=is_list or None,
        source=mlc.Source(file_set=f"{split}-files", extract=mlc.Extract(column=column.name)),
    )


def _type_of(kind: pa.DataType) -> Any:
    if pa.types.is_integer(kind):
        return mlc.DataType.INTEGER
    if pa.types.is_boolean(kind):
        return mlc.DataType.BOOL
    return mlc.DataType.FLOAT if pa.types.is_floating(kind) else mlc.DataType.TEXT
