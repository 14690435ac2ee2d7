import bz2
import gzip
import io
import lzma
import tarfile
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files import packed_files
from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.packed_files import (
    PackedDamage,
    PackedEvent,
    PackedFile,
    PassedOver,
    Share,
    UnreadFile,
    head_of,
    is_tar,
    is_wanted,
    name_inside,
    read_packed,
)
from corpusmill.transforms.files.records import Reason
from tests.makers.compressed import COMPRESS
from tests.makers.tar_files import pack_links, pack_tar
from tests.makers.zip_files import pack_zip
from tests.tools.case_tables import read_cases

TEXT = b"A book of few lines.\r\n" * 50


def read(packed: bytes, name: str = "x", share: Share | None = None) -> list[PackedEvent]:
    return list(read_packed(io.BytesIO(packed), name, share))


@pytest.mark.parametrize(("name", "wanted"), read_cases("files/packed_files", "wanted_names"))
def test_wanted_names(name: str, wanted: bool) -> None:
    assert is_wanted(name) is wanted


@pytest.mark.parametrize(
    ("archive", "member", "name"), read_cases("files/packed_files", "names_inside")
)
def test_names_inside(archive: str, member: str, name: str) -> None:
    assert name_inside(archive, member) == name


@pytest.mark.parametrize("content", [TEXT, b"", b"\0" * 2000, b"x"])
def test_a_text_is_itself(content: bytes) -> None:
    assert read(content, "84.txt") == [PackedFile("84.txt", content)]
    for compress in COMPRESS.values():
        assert read(compress(compress(content)), "84") == [PackedFile("84", content)]


def test_one_inside_the_other() -> None:
    zipped = pack_zip([("84.txt", TEXT), ("84.htm", b"<html>")])
    tar = pack_tar([("8/84.zip", zipped), ("85.txt.gz", gzip.compress(b"85")), ("a.jpg", b"\xff")])
    expected: list[PackedEvent] = [
        PackedFile("x/8/84.zip/84.txt", TEXT),
        PassedOver("x/8/84.zip/84.htm"),
        PackedFile("x/85.txt.gz", b"85"),
        PassedOver("x/a.jpg"),
    ]
    assert read(tar) == read(gzip.compress(tar)) == expected
    weekly = read(pack_zip([("books.tar", tar)]), "books.tar.zip")
    assert weekly == [
        event._replace(name=event.name.replace("x/", "books.tar.zip/")) for event in expected
    ]


packings = st.lists(st.sampled_from(["gz", "bz2", "xz", "zip", "tar"]), max_size=5)


@settings(deadline=None)
@given(packings, st.binary(max_size=600))
def test_packings_in_any_order_hold_the_same_text(order: list[str], content: bytes) -> None:
    content = b"text " + content
    packed = content
    for packing in order:
        if packing == "zip":
            packed = pack_zip([("a.zip", packed)])
        elif packing == "tar":
            packed = pack_tar([("a.tar", packed)])
        else:
            packed = COMPRESS[f".{packing}"](packed)
    (event,) = read(packed)
    assert isinstance(event, PackedFile)
    assert event.content == content


@given(st.integers(0, 12), st.integers(1, 5))
def test_stripes_share_the_files_of_an_archive(files: int, stripes: int) -> None:
    members = [(f"{number}.txt", b"%d" % number) for number in range(files)]
    packed = gzip.compress(pack_tar([*members, ("a.jpg", b"\xff")]))
    shares = [read(packed, "x", Share(stripe, stripes)) for stripe in range(stripes)]
    found = [event for share in shares for event in share]
    assert sorted(found) == sorted(
        [*(PackedFile(f"x/{name}", content) for name, content in members), PassedOver("x/a.jpg")]
    )
    sizes = [sum(isinstance(event, PackedFile) for event in share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


def test_too_large_and_too_deep() -> None:
    with mock.patch.object(packed_files, "MAX_FILE_BYTES", 1000):
        bomb = gzip.compress(bytes(100_000))
        too_large = Reason("too-large", "more than 1,000 bytes")
        tar = pack_tar([("a.txt.gz", bomb), ("b.txt", b"b")])
        assert read(tar) == [UnreadFile("x/a.txt.gz", too_large), PackedFile("x/b.txt", b"b")]
        large_zip = pack_zip([("a.txt", bytes(range(256)) * 8)], 0)
        assert read(large_zip) == [UnreadFile("x", too_large)]
    packed = TEXT
    for _ in range(packed_files.MAX_DEPTH + 1):
        packed = gzip.compress(packed)
    assert read(packed) == [UnreadFile("x", Reason("too-deep", "packed more than 6 times"))]


def test_links_and_devices_are_told() -> None:
    packed = pack_links(
        [("84.txt", TEXT)],
        [
            ("85.txt", tarfile.SYMTYPE, "84.txt"),
            ("b.jpg", tarfile.SYMTYPE, "a.jpg"),
            ("86.txt", tarfile.BLKTYPE, ""),
        ],
    )
    assert read(packed) == [
        PackedFile("x/84.txt", TEXT),
        UnreadFile("x/85.txt", Reason("link", "to 84.txt")),
        PassedOver("x/b.jpg"),
        UnreadFile("x/86.txt", Reason("not-a-file", "a block device")),
    ]


def test_damage_of_one_file_leaves_the_others() -> None:
    broken = gzip.compress(TEXT)[:-8]
    files = [("a.txt", b"a"), ("b.txt.gz", broken), ("c.txt", b"c")]
    for packed in (pack_tar(files), pack_zip(files)):
        first, damage, last = read(packed)
        assert (first, last) == (PackedFile("x/a.txt", b"a"), PackedFile("x/c.txt", b"c"))
        assert isinstance(damage, PackedDamage)
        assert (damage.name, damage.start) == ("x/b.txt.gz", len(TEXT))
        assert "damaged or truncated" in damage.message


def test_a_cut_archive_keeps_what_is_whole_and_one_stripe_tells() -> None:
    files = [(f"{number}.txt", b"%d" % number * 600) for number in range(4)]
    packed = gzip.compress(pack_tar(files)[:3000])
    found = [read(packed, "x", Share(stripe, 2)) for stripe in range(2)]
    good = [event.name for share in found for event in share if isinstance(event, PackedFile)]
    assert sorted(good) == ["x/0.txt"]
    damages = [event for share in found for event in share if isinstance(event, PackedDamage)]
    message = "the archive is truncated (bytes of the archive, decompressed)"
    assert damages == [PackedDamage("x", 3000, 3000, message)]


def test_a_zip_without_its_end_is_damage() -> None:
    (damage,) = read(gzip.compress(pack_zip([("a.txt", TEXT)])[:-10]))
    assert isinstance(damage, PackedDamage)
    assert damage.message.startswith("the directory at the end")


def test_heads() -> None:
    assert head_of(io.BytesIO(gzip.compress(bz2.compress(TEXT)))) == TEXT[:512]
    assert is_tar(head_of(io.BytesIO(lzma.compress(pack_tar([("a", b"a")])))))
    assert not is_tar(bytes(512))
    with pytest.raises(DECODE_ERRORS):
        head_of(io.BytesIO(b"\x1f\x8b and no more"))
