import bz2
import gzip
import io
import lzma
import pathlib
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from typing import BinaryIO, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files import tar_members
from corpusmill.transforms.files.compression import decompressed, read_some
from tests.makers.pieces import Pieces
from tests.makers.tar_files import FORMATS, pack_links, pack_tar
from tests.tools.case_tables import read_cases

LONG_NAME = "training-monolingual/" + "ein-langer-ordner/" * 20 + "nouvelles.2007.fr.mélangées"
FILES = [
    ("training-monolingual/news.2007.en.shuffled", b"one\ntwo\n"),
    ("training-monolingual/empty", b""),
    (LONG_NAME, "trois\nquatre…\n".encode() * 100),
    ("full", b"x" * 1024),
]


def read_all(source: BinaryIO, step: int = 1000) -> bytes:
    parts = []
    while data := read_some(source, step):
        parts.append(data)
    return b"".join(parts)


def contents_of(packed: bytes, *, by_seeking: bool = False) -> list[tuple[str, bytes]]:
    size = len(packed) if by_seeking else None
    return [
        (member.name, read_all(member.content))
        for member in tar_members.read_members(io.BytesIO(packed), size)
        if isinstance(member, tar_members.Member)
    ]


def links_of(packed: bytes) -> list[tar_members.Link]:
    return [
        member
        for member in tar_members.read_members(io.BytesIO(packed))
        if isinstance(member, tar_members.Link)
    ]


def link_to(target: str, kind: bytes = tarfile.LNKTYPE, name: str = LONG_NAME) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


names = st.text(st.sampled_from("ab/é"), min_size=1, max_size=150).filter(
    lambda name: not name.endswith("/") and not name.startswith("/")
)


@given(
    st.lists(st.tuples(names, st.binary(max_size=1200)), max_size=4),
    st.sampled_from(FORMATS[1:]),  # ustar has no room for all names
    st.booleans(),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_members_are_those_that_tarfile_gives(
    files: list[tuple[str, bytes]], tar_format: int, by_seeking: bool, is_read: list[bool]
) -> None:
    packed = pack_tar(files, tar_format)
    found = []
    size = len(packed) if by_seeking else None
    members = tar_members.read_members(io.BytesIO(packed), size)
    for member, wanted in zip(members, [*is_read, *[True] * len(files)], strict=False):
        assert isinstance(member, tar_members.Member)
        content = packed[member.start : member.start + member.bytes]
        assert not wanted or read_all(member.content) == content
        found.append((member.name, content))
    assert found == files


def test_names_in_two_parts() -> None:
    name = "training-monolingual/" + "ordner/" * 15 + "news.2007.en.shuffled"
    assert contents_of(pack_tar([(name, b"x\n")], tarfile.USTAR_FORMAT)) == [(name, b"x\n")]


@pytest.mark.skipif(shutil.which("tar") is None, reason="there is no tar program")
@pytest.mark.parametrize("flag", ["v7", "ustar", "gnu", "posix"])
def test_archives_of_the_tar_program(tmp_path: pathlib.Path, flag: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "news").write_bytes(b"one\n")
    (tmp_path / "a" / "other").symlink_to("news")
    (tmp_path / "a" / "second").hardlink_to(tmp_path / "a" / "news")
    command = ["tar", f"--format={flag}", "--sort=name", "-cf", "-", "a"]
    packed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout
    assert tar_members.is_tar(packed)
    assert contents_of(packed) == [("a/news", b"one\n")]
    assert [(link.name, link.target, link.is_hard) for link in links_of(packed)] == [
        ("a/other", "news", False),
        ("a/second", "a/news", True),
    ]


@pytest.mark.parametrize("tar_format", FORMATS[1:])
@pytest.mark.parametrize("target", ["short", "../" * 60 + LONG_NAME])
@pytest.mark.parametrize("link", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_have_no_content(tar_format: Literal[1, 2], target: str, link: bytes) -> None:
    info = link_to(target, link)
    info.size = 1000  # that of the file it leads to
    first, second = (pack_tar([file], tar_format)[512:] for file in (FILES[0], FILES[2]))
    end = len(first.rstrip(b"\0")) // 512 * 512 + 512
    packed = first[:end] + info.tobuf(tar_format) + second
    assert contents_of(packed) == [FILES[0], FILES[2]]
    (found,) = links_of(packed)
    assert (found.name, found.target) == (LONG_NAME, target)
    assert found.is_hard == (link == tarfile.LNKTYPE)
    assert packed[found.start - 512 :].startswith(LONG_NAME.encode()[:100])


def test_a_target_is_that_of_its_link_alone() -> None:
    long, short = link_to("x" * 150, name="a"), link_to("y", name="b")
    for tar_format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        packed = long.tobuf(tar_format) + short.tobuf(tar_format) + bytes(1024)
        assert [(link.name, link.target) for link in links_of(packed)] == [
            ("a", "x" * 150),
            ("b", "y"),
        ]


def test_only_a_second_name_of_a_file_that_is_read_is_no_problem() -> None:
    read = tar_members.Member("t/a", 512, 3, io.BytesIO())
    links = [
        tar_members.Link("t/b", 1, "t/a", is_hard=True),
        tar_members.Link("t/c", 2, "t/b", is_hard=True),
        tar_members.Link("t/d", 3, "a", is_hard=True),
        tar_members.Link("t/e", 4, "t/f", is_hard=True),
        tar_members.Link("t/g", 5, "t/a", is_hard=False),
    ]
    message = "t/d is a link to a: such an archive has to be unpacked first"
    found = list(tar_members.problems_of([read, *links]))
    assert [link for link, _ in found] == links[2:]
    assert found[0] == (links[2], message)
    assert [link for link, _ in tar_members.problems_of([links[0], read])] == [links[0]]


def test_pipes_and_devices_are_told() -> None:
    kinds = {
        tarfile.FIFOTYPE: "pipe",
        tarfile.CHRTYPE: "character device",
        tarfile.BLKTYPE: "block device",
    }
    special = [(f"{number}.txt", kind, "") for number, kind in enumerate(kinds)]
    packed = pack_links(FILES[:1], special)
    first, *found = tar_members.read_members(io.BytesIO(packed))
    assert first.name == FILES[0][0]
    start = packed.index(b"0.txt") + 512
    assert found == [
        tar_members.Special(f"{number}.txt", start + 512 * number, kind)
        for number, kind in enumerate(kinds.values())
    ]
    assert [problem for _, problem in tar_members.problems_of(found[:1])] == [
        "0.txt is a pipe, not a regular file"
    ]


def test_what_is_of_no_known_type_is_passed_over() -> None:
    info = tarfile.TarInfo("volume")
    info.type, info.size = b"V", 700
    packed = info.tobuf(tarfile.GNU_FORMAT) + b"x" * 700 + bytes(324) + pack_tar(FILES)
    assert contents_of(packed) == FILES
    globals_of = tarfile.TarInfo.create_pax_global_header({"comment": "x", "path": "y"})
    assert contents_of(globals_of + pack_tar(FILES)) == FILES


def test_the_size_of_a_large_file_is_in_its_extension_header() -> None:
    info = tarfile.TarInfo("large")
    info.pax_headers = {"size": "700", "comment": "said = so"}
    packed = info.tobuf(tarfile.PAX_FORMAT) + b"x" * 700 + bytes(324) + bytes(1024)
    assert contents_of(packed) == [("large", b"x" * 700)]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_member_is_decompressed(compress: Callable[[bytes], bytes]) -> None:
    packed = pack_tar([("a", compress(b"one\n" * 5000)), ("b", b"two\n"), ("c", b""), ("d", b"BZ")])
    texts = texts_of(io.BytesIO(packed))
    assert texts == [("a", b"one\n" * 5000), ("b", b"two\n"), ("c", b""), ("d", b"BZ")]


def texts_of(archive: BinaryIO) -> list[tuple[str, bytes]]:
    return [
        (member.name, read_all(tar_members.text_of(member)))
        for member in tar_members.read_members(archive)
        if isinstance(member, tar_members.Member)
    ]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_member_of_several_streams_is_decompressed_whatever_pieces_come(
    compress: Callable[[bytes], bytes],
) -> None:
    packed = pack_tar([("a", compress(b"one\n") + compress(b"two\n"))])
    for size in range(1, 100):
        pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
        assert texts_of(Pieces(pieces)) == [("a", b"one\ntwo\n")]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_content_ends_with_its_member(compress: Callable[[bytes], bytes]) -> None:
    members = tar_members.read_members(decompressed(io.BytesIO(compress(pack_tar(FILES)))))
    first = next(members)
    assert isinstance(first, tar_members.Member)
    assert first.content.read(3) == b"one"
    assert first.content.read() == b"\ntwo\n"
    assert first.content.read() == first.content.read(7) == b""
    second = next(members)
    assert [second.name, first.content.read(5)] == [FILES[1][0], b""]


def test_what_is_an_archive() -> None:
    packed = pack_tar(FILES)
    assert tar_members.is_tar(packed)
    assert tar_members.is_tar(packed[:512])
    assert tar_members.is_tar(pack_tar([])[:512])
    assert tar_members.is_tar(bytes(10240))  # an archive of nothing
    assert not tar_members.is_tar(packed[:511])
    assert not tar_members.is_tar(b"")
    assert not tar_members.is_tar(b"The news of the day.\n" * 40)
    assert not tar_members.is_tar(packed[:100] + b"?" + packed[101:])
    assert not tar_members.is_tar(gzip.compress(packed))


@pytest.mark.parametrize("by_seeking", [False, True])
def test_an_archive_that_is_cut_off_is_an_error_wherever_it_is_cut(by_seeking: bool) -> None:
    packed = pack_tar(FILES)
    end = tar_members._padded(packed.rindex(b"x") + 1)  # the end mark begins there
    assert packed[end:].strip(b"\0") == b""
    for length in [*range(0, end, 97), *range(512, end, 512), end, end + 511]:
        with pytest.raises(tar_members.TarError, match="the archive is truncated") as error:
            contents_of(packed[:length], by_seeking=by_seeking)
        assert error.value.offset <= length
        assert error.value.offset == length or by_seeking
    for length in (end + 512, end + 1024, end + 1300):
        assert contents_of(packed[:length], by_seeking=by_seeking) == FILES


@pytest.mark.parametrize(
    ("compress", "cut"), [(gzip.compress, 3), (gzip.compress, 40), (lzma.compress, 20)]
)
def test_a_compressed_archive_that_is_cut_off(compress: Callable[[bytes], bytes], cut: int) -> None:
    with pytest.raises(
        tar_members.TarError, match="the compressed archive is damaged or truncated: "
    ):
        list(tar_members.read_members(decompressed(io.BytesIO(compress(pack_tar(FILES))[:-cut]))))


def test_a_damaged_header_is_an_error_and_names_the_place() -> None:
    packed = bytearray(pack_tar(FILES[:2]))
    place = packed.index(b"training-monolingual/empty")
    assert place == 3 * 512
    packed[place] ^= 1
    with pytest.raises(
        tar_members.TarError, match="invalid header of a file in the archive: bad checksum"
    ) as error:
        contents_of(bytes(packed))
    assert error.value.offset == place


def test_two_archives_in_one_file_are_an_error() -> None:
    packed = pack_tar(FILES)
    with pytest.raises(tar_members.TarError, match="there is data after the end mark") as error:
        contents_of(packed + packed)
    assert error.value.offset <= len(packed)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"GNU.sparse.major": "1"}, "a file in the archive is stored as a sparse file"),
        ({"comment": "x" * (1 << 20)}, "an extension header is too large: 1,048,[0-9]+ bytes"),
    ],
)
def test_extension_headers_that_are_not_read(header: dict[str, str], message: str) -> None:
    info = tarfile.TarInfo("x")
    info.pax_headers = header
    with pytest.raises(tar_members.TarError, match=message):
        contents_of(info.tobuf(tarfile.PAX_FORMAT) + bytes(1024))


def test_sparse_files_and_damaged_extension_headers() -> None:
    info = tarfile.TarInfo("holes")
    info.type = tarfile.GNUTYPE_SPARSE
    with pytest.raises(tar_members.TarError, match="holes is stored as a sparse file"):
        contents_of(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    info = tarfile.TarInfo("x")
    info.pax_headers = {"path": "ä"}
    packed = info.tobuf(tarfile.PAX_FORMAT).replace(b" path=", b"_path=")
    with pytest.raises(tar_members.TarError, match="the archive has a damaged extension header"):
        contents_of(packed + bytes(1024))


@pytest.mark.parametrize(("name", "wanted"), read_cases("files/tar_members", "names"))
def test_names(name: str, wanted: bool) -> None:
    assert tar_members.is_named_like(name, ["nothing", "news.20??.en.shuffled*"]) == wanted


@given(st.binary(max_size=40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_window_is_a_stream_of_its_own(data: bytes, start: int, size: int, place: int) -> None:
    inside = data[start : start + size]
    window = tar_members.window_of(io.BytesIO(data), start, len(inside))
    assert window.read() == inside
    assert window.tell() == len(inside)
    assert window.read(5) == b""
    window.seek(place)
    assert window.read(5) == inside[place : place + 5]
    assert window.tell() == place + len(inside[place : place + 5])
