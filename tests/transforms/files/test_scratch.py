import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpusmill.transforms.files.scratch import SCRATCH, Scratch, fetch, fetch_text
from tests.tools.object_store import ObjectStore

PIECES = [b"", b"@", b"a\n" * 100_000, b"\xff\x00\n"]


@pytest.mark.parametrize(("folder", "most_bytes"), [("", 500), ("store://bucket/build", 2_000)])
def test_pieces_come_back_and_few_bytes_travel(
    tmp_path: Path, folder: str, most_bytes: int
) -> None:
    assert ObjectStore.scheme() == "store"
    scratch = pickle.loads(pickle.dumps(Scratch(folder or str(tmp_path))))
    packed = [scratch.put(piece) for piece in PIECES]
    assert [fetch(one) for one in packed] == PIECES
    assert all(len(one) < most_bytes for one in packed)
    assert [path.name for path in tmp_path.iterdir()] == [SCRATCH] * (not folder)


@pytest.mark.parametrize("folder", ["", "store://bucket/build"])
def test_texts_come_back(tmp_path: Path, folder: str) -> None:
    scratch = Scratch(folder or str(tmp_path))
    texts = ["", "@", "Der Bär\n" * 9_999, "\0\N{GRINNING FACE}"]
    assert [fetch_text(scratch.put_text(text)) for text in texts] == texts


@pytest.mark.parametrize("folder", ["", "store://bucket/build"])
def test_a_part_of_a_piece_can_be_taken(tmp_path: Path, folder: str) -> None:
    scratch = Scratch(folder or str(tmp_path))
    scratch.put(b"before")
    piece = b"one\ntwo\nthree\n"
    packed = scratch.put(piece)
    parts = [scratch.part(packed, piece, *bounds) for bounds in ((0, 4), (4, 14), (8, 8))]
    assert [fetch(part) for part in parts] == [b"one\n", b"two\nthree\n", b""]
    assert fetch(packed) == piece


def test_threads_do_not_mix_their_pieces(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    pieces = [bytes([number]) * (1000 + number) for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        packed = list(threads.map(scratch.put, pieces))
    assert [fetch(one) for one in packed] == pieces


def test_builds_do_not_mix_their_pieces(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    scratches = [Scratch(str(folder)) for folder in folders]
    packed = [scratches[number % 2].put(bytes([number])) for number in range(6)]
    assert [fetch(one) for one in packed] == [bytes([number]) for number in range(6)]
    written = [
        sorted(path.read_bytes() for path in (folder / SCRATCH).iterdir()) for folder in folders
    ]
    assert [b"".join(sorted(parts)) for parts in written] == [b"\x00\x02\x04", b"\x01\x03\x05"]


def test_a_build_that_is_over_is_not_brought_back(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError):
        scratch.put(b"late")
    assert list(tmp_path.iterdir()) == []
