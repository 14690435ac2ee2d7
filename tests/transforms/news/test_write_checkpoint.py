import hashlib
from pathlib import Path

from corpusmill.transforms.files.line_blocks import count_lines, pack_block
from corpusmill.transforms.files.records import LineRange, OutputFile
from corpusmill.transforms.news.write_lines import WriteCheckpoint
from tests.tools.run_pipeline import run_inputs

BLOCKS = [b"\xff\na\nb\n", b"c\n\n", b"d\n"]


def test_the_ranges_one_after_the_other_are_the_corpus(tmp_path: Path) -> None:
    ranges = [
        LineRange(index, count_lines(block), pack_block(block))
        for index, block in enumerate(BLOCKS)
    ]
    outcome = run_inputs(
        lambda ranges, splitters: ranges | WriteCheckpoint(str(tmp_path), "news.sorted", splitters),
        **{"ranges": ranges[::-1], "splitters": [[b"c", b"d"]]},
    )
    files: list[OutputFile] = sorted(outcome.elements["main"])
    names = [f"training-monolingual.tokenized/news.sorted-0000{i}-of-00003" for i in range(3)]
    assert [file.name for file in files] == names
    assert [(tmp_path / name).read_bytes() for name in names] == BLOCKS
    assert [(file.records, file.split) for file in files] == [(3, ""), (2, ""), (1, "")]
    assert [file.sha256 for file in files] == [hashlib.sha256(b).hexdigest() for b in BLOCKS]
