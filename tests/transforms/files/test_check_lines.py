import bz2
import functools
import gzip
import lzma
import pathlib
import random
import tarfile
from collections.abc import Callable

import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.text_kinds import check_lines
from tests.makers.bz2_files import pack_stream
from tests.makers.tar_files import pack_links, pack_tar

NAME = "news.2007.en.shuffled"
TEXT = b"one line\nand another\n" * 50
BINARY = random.Random(0).randbytes(10_000)
ARCHIVE = pack_tar([("readme", b"x\n"), (f"mono/{NAME}", TEXT)])
PACK: tuple[Callable[[bytes], bytes], ...] = (
    bytes,
    functools.partial(gzip.compress, mtime=0),
    bz2.compress,
    lzma.compress,
)


def write_file(folder: pathlib.Path, content: bytes, name: str = NAME) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


@pytest.mark.parametrize(
    "content",
    [
        *(compress(TEXT) for compress in PACK),
        *(compress(ARCHIVE) for compress in PACK),
        pack_tar([(NAME, b""), (f"b/{NAME}", TEXT)]),
        pack_stream([TEXT[:50], TEXT[50:]]),
        lzma.compress(TEXT) + b"\0" * 8,
        TEXT[:-3],  # a last line needs no line feed
        b"\n",
        b"BZhello there\n",
        b"]\0 and \0 are bytes\n",
        "ein Ā\n".encode(),
        pack_stream([TEXT, TEXT]) + bz2.compress(TEXT),
        lzma.compress(TEXT) + b"\0" * 8 + lzma.compress(TEXT),
        pack_links([(NAME, TEXT)], [(f"{NAME}.1", tarfile.LNKTYPE, NAME)]),
        pack_links([(NAME, TEXT)], [("latest", tarfile.SYMTYPE, NAME)]),
        b"\xff\xfd are bytes, and no mark of UTF-16\n",
        b"The <html> of the day\n",
        b"<htmlish> news of the day\n",
        gzip.compress(TEXT, mtime=0)[:-8],  # nobody sees that it is cut off
        gzip.compress(ARCHIVE, mtime=0)[:-8],
        gzip.compress(pack_tar([("readme", b"x\n")]), mtime=0),  # nor what is in it
    ],
)
def test_files_that_look_whole(tmp_path: pathlib.Path, content: bytes) -> None:
    check_lines([write_file(tmp_path, content)])


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (
            bz2.compress(TEXT)[:-1],
            -1,
            "the file ends inside its bz2 data: it is truncated or still",
        ),
        (
            lzma.compress(TEXT)[:-8],
            -1,
            "the file ends inside its xz data: it is truncated or still",
        ),
        (ARCHIVE[:1500], 1500, "the archive is truncated"),
        (ARCHIVE[: len(ARCHIVE) // 512 * 512][:2700], 2700, "the archive is truncated"),
        (
            gzip.compress(TEXT, mtime=0)[:8],
            0,
            "cannot be decompressed: Compressed file ended before",
        ),
        (b"BZh9" + b"x" * 100, 0, "cannot be decompressed: Invalid data stream"),
        (
            b"\n<!DOCTYPE html>\n<title>404</title>",
            0,
            "the file is an HTML page: an error page saved",
        ),
        (
            gzip.compress(b"\xef\xbb\xbf<HTML lang=en><HEAD>", mtime=0),
            0,
            "the file is an HTML page",
        ),
        (b"<html>\n<body>\nNews of the day\n", 0, "the file is an HTML page"),
        (b"<!-- saved -->\n<body>404</body>", 0, "the file is an HTML page"),
        (BINARY, 0, "the file seems to be binary data, not text: b"),
        (gzip.compress(BINARY, mtime=0), 0, "the file seems to be binary data, not text: b"),
        (
            gzip.compress(gzip.compress(TEXT, mtime=0), mtime=0),
            0,
            "the file is compressed twice, and has to be",
        ),
        (b"%PDF-1.4\n", 0, "the file is a PDF document"),
        (b"PK\x03\x04\x14\0", 0, "the file is a .zip archive, which has to be unpacked first"),
        (b"7z\xbc\xaf\x27\x1c", 0, "the file is a .7z archive, which has to be unpacked first"),
        (b"\x1f\x9d\x90", 0, "the file is a .Z file, which has to be decompressed first"),
        ("\ufeffone\n".encode("utf-16-le"), 0, "the file is UTF-16, where UTF-8 is expected"),
        ("\ufeffone\n".encode("utf-16-be"), 0, "the file is UTF-16, where UTF-8 is expected"),
        ("one\n".encode("utf-16-le"), 0, "the file is UTF-16, where UTF-8 is expected"),
        ("„one“\n".encode("utf-16-be"), 0, "the file is UTF-16, where UTF-8 is expected"),
        (
            gzip.compress("one\n".encode("utf-16-le"), mtime=0),
            0,
            "the file is UTF-16, where UTF-8 is",
        ),
        (
            lzma.compress(TEXT, lzma.FORMAT_ALONE),
            0,
            "the file is a .lzma file, which has to be decompressed first",
        ),
        (
            pack_links([("readme", TEXT)], [(NAME, tarfile.LNKTYPE, "readme")]),
            512 + 512 + 1536 + 512,
            f"{NAME} is a link to readme: such an archive has to be unpacked first",
        ),
        (
            pack_links([("readme", TEXT)], [(NAME, tarfile.FIFOTYPE, "")]),
            512 + 512 + 1536 + 512,
            f"{NAME} is a pipe, not a regular file",
        ),
        (pack_tar([("a/x.de", b"1\n"), ("b", b"")]), None, "it contains a/x.de, b"),
    ],
)
def test_files_that_look_wrong(
    tmp_path: pathlib.Path, content: bytes, place: int | None, message: str
) -> None:
    good = write_file(tmp_path, TEXT, "good")
    path = write_file(tmp_path, content)
    offset = len(content) if place == -1 else place
    with pytest.raises(InputError) as error:
        check_lines([good, path])
    assert (error.value.path, error.value.offset) == (path, offset)
    assert message in error.value.message
    if any(
        word in message for word in ("truncated", "link", "binary", "pipe")
    ):  # some may be wanted
        check_lines([good, path], whole=False)
    else:
        with pytest.raises(InputError):
            check_lines([good, path], whole=False)


def test_an_empty_file_is_fine_unless_it_is_all_there_is(tmp_path: pathlib.Path) -> None:
    empty = [
        write_file(tmp_path, content, str(number))
        for number, content in enumerate(
            [
                b"",
                gzip.compress(b"", mtime=0),
                bz2.compress(b""),
                lzma.compress(b""),
                pack_tar([(NAME, b"")]),
            ]
        )
    ]
    check_lines([*empty, write_file(tmp_path, b"x")])
    for paths in ([path] for path in empty):
        with pytest.raises(InputError, match=f"{paths[0]}: the files contain no lines"):
            check_lines(paths)
    with pytest.raises(InputError, match=r"0, .*/1, .*/4: the files contain no lines"):
        check_lines(empty)


def test_other_members_may_be_wanted(tmp_path: pathlib.Path) -> None:
    path = write_file(tmp_path, pack_tar([("a/x.de", b"1\n")]))
    check_lines([path], members=["*.de"])
    with pytest.raises(
        InputError, match=r"the archive has no file \*\.fr or \*\.en; it contains a/x\.de$"
    ):
        check_lines([path], members=["*.fr", "*.en"])
