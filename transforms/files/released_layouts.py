"""Finds the files of a released corpus by their names, in a folder or an archive.

LAYOUTS describes the forms in which the five corpora were released. The names of files are matched from their
end, so the source may be the folder of a release, a folder in it, or a folder above it.
"""

import contextlib
import fnmatch
import glob
import io
import pathlib
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple, cast

from .markup import read_toml
from .packed_files import is_zip, list_zip, open_member, why_not_unzipped
from .read_files import InputError, damage_in, match_inputs, open_input, open_raw
from .scratch import fetch
from .stores import is_folder, match_files
from .tar_members import BLOCK_BYTES, Member, TarError, is_tar, read_members
from .terminal import name_some

_MOST_NAMES = 5  # maximum number of files named in a message


class Layout(NamedTuple):
    """The form in which a corpus was released."""

    corpus: str
    title: str  # "Parquet files (Hugging Face hub)"
    date: str  # of the release, or of its inputs; the date in the name of a build
    splits: Mapping[str, str]  # name in the release → split of a build
    files: Sequence[str]
    """Patterns of the names of files with text. Their groups are `split`; `number` and `of` if the split has
    several files; `key` if each file has a document or a language of its own; and `language`.
    """
    tables: Sequence[str] = ()  # patterns of the names of tables; groups `table` and `split`
    needed: Sequence[str] = ()  # names of tables of a complete release
    first: int = 0  # smallest number of a file of the split train
    counts: Mapping[str, int] = {}  # split → number of files of a complete release, if it is known
    rows: Mapping[str, int] = {}  # split → number of lines of each of its files, if it is known
    is_archived: bool = True  # whether it may be in an archive


class ReleasedFile(NamedTuple):
    """A file of a release."""

    name: str  # its path below the source, or in the archive
    path: str  # of the stored file: the file itself, or the archive
    bytes: int
    is_member: bool = False  # whether it is in an archive
    split: str = ""  # of the build
    key: str = ""  # the document or language in the file, or the number of the file
    total: int = 0  # number of files of the split, if its name has it
    language: str = ""  # of the folder or the name

    @property
    def place(self) -> str:
        """The path of the file, for messages; of a file in an archive, with that of the archive."""
        return f"{self.path}/{self.name}" if self.is_member else self.path


class Release(NamedTuple):
    """The files of a release."""

    name: str  # of the layout, a key of LAYOUTS
    languages: tuple[str, ...]  # named by folders or files; () if the layout names none
    files: Mapping[str, Sequence[ReleasedFile]]  # split → files, in the order of the release
    tables: Mapping[str, ReleasedFile]  # "metadata dev" → table
    missing: tuple[str, ...] = ()  # files that a complete release also has
    incomplete: tuple[str, ...] = ()  # splits to which they belong
    archive: str = ""  # path of the archive with all files; "" for a folder

    @property
    def is_tar(self) -> bool:
        """True if the files are in a .tar archive, which can only be read from its beginning."""
        return bool(self.archive) and not _is_zip(self.archive)

    @property
    def layout(self) -> Layout:
        """The layout of the release."""
        return LAYOUTS[self.name]


_LAYOUTS = "released_layouts.toml"
LAYOUTS: Mapping[str, Layout] = {
    name: Layout(**facts) for name, facts in read_toml(__package__, _LAYOUTS).items()
}
"""Name → layout. Several corpora have more than one."""

_BESIDE = re.compile(
    r"(?:.*/)?(?:\.[^/]*|__MACOSX)(?:/.*)?|(?:.*/)?(?:README|LICEN[CS]E|CHANGELOG)[^/]*"
    r"|(?:.*/)?(?:dataset_cards/[^/]*\.md|manifest\.json|COMPLETED)",
    re.IGNORECASE,
)
"""Files beside a release that are not part of it: hidden ones, and descriptions."""


def find_release(
    corpus: str,
    source: str,
    language: str = "",
    *,
    partial: bool = False,
    ignore: Sequence[str] = (),
) -> Release:
    """Finds the files of a release of a corpus.

    Args:
      corpus: one of the corpora in LAYOUTS.
      source: a folder or an archive.
      language: the language to use if the release has a folder for each language; "" if it has one language.
      partial: whether files of the release may be missing.
      ignore: patterns of the names of files that are not part of the release.

    Raises InputError, which names the files, if files are unknown, missing or repeated, if there are two
    layouts, or if the archive is damaged.
    """
    archive = "" if is_folder(source) else match_inputs([source])[0]
    found = _list_archive(archive) if archive else _list_folder(source)
    by_layout, tables, unknown = _sort(corpus, source, found, ignore)
    if not by_layout:
        titles = "; ".join(one.title for one in LAYOUTS.values() if one.corpus == corpus)
        names = f"; there are {name_some(unknown, _MOST_NAMES)}" if unknown else ""
        raise InputError(source, f"no files of a released {corpus}: {titles}{names}")
    if len(by_layout) > 1:
        firsts = (
            f"{one.title} ({by_layout[name][0].name})"
            for name, one in LAYOUTS.items()
            if name in by_layout
        )
        raise InputError(source, f"several layouts in one folder: {' and '.join(firsts)}")
    ((name, files),) = by_layout.items()
    layout = LAYOUTS[name]
    if archive and not layout.is_archived:
        raise InputError(archive, "unpack the archive, and give the folder")
    if unknown:
        names = f"unknown files: {name_some(unknown, _MOST_NAMES)}"
        raise InputError(source, f"{names}; --ignore leaves out files that are not of the release")
    languages = tuple(dict.fromkeys(file.language for file in files if file.language))
    if len(languages) > 1:
        if language not in languages:
            which = f"there is no {language}" if language else "choose one with --language"
            raise InputError(source, f"several languages, {name_some(languages)}: {which}")
        files, languages = [one for one in files if one.language == language], (language,)
    _check_repeated(source, files, tables, is_of_books=name == "pg19")
    in_order = {
        split: [file for file in sorted(files, key=_order) if file.split == split]
        for split in layout.splits.values()
    }
    found_splits = {split: of for split, of in in_order.items() if of}
    release = Release(name, languages, found_splits, dict(tables), archive=archive)
    missing = list(_find_missing(release, source))
    if missing and not partial:
        names = name_some([name for _, name in missing], _MOST_NAMES)
        raise InputError(source, f"missing: {names}; --partial adopts the files that are there")
    return release._replace(
        missing=tuple(name for _, name in missing),
        incomplete=tuple(sorted({split for split, _ in missing})),
    )


def _list_folder(folder: str) -> list[ReleasedFile]:
    top = folder.rstrip("/")
    found = match_files(f"{glob.escape(top)}/**", folder, InputError)
    return sorted(
        ReleasedFile(one.path.removeprefix(top).lstrip("/"), one.path, int(one.size_in_bytes))
        for one in found
        if not one.path.endswith("/")
    )


def _list_archive(path: str) -> list[ReleasedFile]:
    """Returns the files in a .zip or .tar archive. A .tar is read completely, which also finds damage."""
    if _is_zip(path):
        with open_raw(path) as stream:
            files = ((one.filename, one.file_size) for one in _list_zip(path, stream))
            return [ReleasedFile(name, path, size, is_member=True) for name, size in files]
    return [ReleasedFile(one.name, path, one.bytes, is_member=True) for one in tar_files(path)]


def _is_zip(path: str) -> bool:
    with open_raw(path) as stream:
        return is_zip(stream.read(BLOCK_BYTES))


def _list_zip(path: str, stream: BinaryIO) -> list[zipfile.ZipInfo]:
    with damage_in(path):
        members = list_zip(stream)
    for member in members:
        if reason := why_not_unzipped(member):
            raise InputError(path, reason.detail)
    return members


def tar_files(path: str) -> Iterator[Member]:
    """Yields the files in a .tar archive, which may be compressed, in order.

    Raises InputError if the file is no archive, or damaged, or has a link instead of a file.
    """
    with open_input(path) as stream, damage_in(path):
        try:
            if not is_tar(stream.peek(BLOCK_BYTES)[:BLOCK_BYTES]):  # type: ignore[attr-defined]
                raise InputError(path, "neither a folder nor a .zip or .tar archive")
            for member in read_members(stream):
                if not isinstance(member, Member):
                    raise InputError(
                        path, f"{member.name} is a link or a special file: unpack the archive"
                    )
                yield member
        except TarError as error:
            message = f"{error.message} (bytes of the archive, decompressed)"
            raise InputError(path, message, error.offset) from None


def _sort(
    corpus: str, source: str, found: Iterable[ReleasedFile], ignore: Sequence[str]
) -> tuple[dict[str, list[ReleasedFile]], list[tuple[str, ReleasedFile]], list[str]]:
    """Returns (layout → its files with text, tables with their names, names of unknown files)."""
    layouts = {name: one for name, one in LAYOUTS.items() if one.corpus == corpus}
    base = posixpath.basename(source.rstrip("/"))
    if "://" not in source:
        base = pathlib.Path(source).resolve().name
    by_layout: dict[str, list[ReleasedFile]] = {}
    tables, unknown = [], []
    for file in found:
        if _BESIDE.fullmatch(file.name) or any(fnmatch.fnmatch(file.name, one) for one in ignore):
            continue
        is_known = False
        for name, layout in layouts.items():
            if of := _match(layout.files, f"{base}/{file.name}"):
                key, total = of.get("key") or of.get("number", ""), int(of.get("of") or 0)
                place = layout.splits[of["split"]], key, total, of.get("language", "")
                by_layout.setdefault(name, []).append(ReleasedFile(*file[:4], *place))
            elif table := _match(layout.tables, f"{base}/{file.name}"):
                named = f"{table['table']} {table.get('split', '')}".strip()
                named = named.replace("metedata", "metadata")  # misspelt in FLORES-101
                tables += [] if is_known else [(named, file)]
            is_known = is_known or bool(of or table)
        unknown += [] if is_known else [file.name]
    return by_layout, tables, unknown


def _match(patterns: Sequence[str], name: str) -> Mapping[str, str]:
    matches = (re.fullmatch(f"(?:.*/)?{pattern}", name) for pattern in patterns)
    return next((match.groupdict(default="") for match in matches if match), {})


def _check_repeated(
    source: str,
    files: Sequence[ReleasedFile],
    tables: Iterable[tuple[str, ReleasedFile]],
    is_of_books: bool,
) -> None:
    """Raises InputError for two files with the same text, and for files of two releases."""
    firsts: dict[str, ReleasedFile] = {}
    for file in files:
        if (first := firsts.setdefault(file.split, file)).total != file.total:
            names = f"{first.name} and {file.name}"
            raise InputError(source, f"files of two releases of the same split: {names}")
    # A book is in one split.
    places = [(f"{file.key}.txt" if is_of_books else f"{file.split} {file.key}") for file in files]
    seen: dict[str, ReleasedFile] = {}
    named = (*zip(places, files, strict=True), *tables)
    for place, file in named:
        if (first := seen.setdefault(place, file)).name != file.name:
            raise InputError(source, f"repeated: {first.name} and {file.name}")


def _order(file: ReleasedFile) -> tuple[int, str]:
    """Returns the sort key of a file: numbers are sorted by their values, other keys by their letters."""
    return len(file.key) if file.key.isdecimal() else 0, file.key


def _find_missing(release: Release, source: str) -> Iterator[tuple[str, str]]:
    """Yields (split, name of a file that a complete release also has).

    Raises InputError for a file whose number no file of the release has.
    """
    layout = release.layout
    released = {split: name for name, split in layout.splits.items()}
    yield from (
        (one, f"the split {of}") for one, of in released.items() if one not in release.files
    )
    keys = {split: {file.key for file in files} for split, files in release.files.items()}
    for split, there in keys.items():
        total, count = release.files[split][0].total, layout.counts.get(split, 0)
        first = layout.first if split == "train" else 0
        numbers = range(first, first + (count or total)) if total else ()
        for number in map("{:05d}".format, numbers):
            if number not in there:
                yield split, f"{split} {number} of {total:05d}"
        if total and (others := [one for one in sorted(there) if int(one) not in numbers]):
            raise InputError(source, f"unknown files: {split} {name_some(others)} of {total:05d}")
        if layout.rows:  # of languages
            yield from (
                (split, f"{key} in {split}") for key in sorted(set().union(*keys.values()) - there)
            )
        if not total and len(there) < count:
            yield split, f"{count - len(there):,} of {count:,} files in {split}"
    yield from (("", table) for table in layout.needed if table not in release.tables)


def read_table(file: ReleasedFile) -> bytes:
    """Returns the content of a small file of a release. Raises InputError if it is damaged."""
    if file.is_member and not _is_zip(file.path):
        members = (one for one in tar_files(file.path) if one.name == file.name)
        return next(members).content.read()
    with open_released(file, {}) as stream:
        return stream.read()


@contextlib.contextmanager
def open_released(file: ReleasedFile, unpacked: Mapping[str, bytes]) -> Iterator[BinaryIO]:
    """Opens a file of a release for a `with` block. Errors while it is read become InputErrors.

    Args:
      file: the file.
      unpacked: name of a file of a .tar archive → reference to its content in scratch.
    """
    if file.name in unpacked:
        yield io.BytesIO(fetch(unpacked[file.name]))
        return
    with open_raw(file.path) as stream, damage_in(file.path, file.name):
        if file.is_member:
            members = {one.filename: one for one in _list_zip(file.path, stream)}
            stream = open_member(stream, members[file.name])
        yield io.BufferedReader(cast(io.RawIOBase, stream))
