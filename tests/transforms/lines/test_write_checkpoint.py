import hashlib
from pathlib import Path

import apache_beam as beam

from tests.tools.run_pipeline import run_pipeline
from transforms.lines.write_checkpoint import WriteCheckpoint
from transforms.records import LineRange, OutputFile
from transforms.text.lines.line_blocks import count_lines, pack_block

BLOCKS = [b"\xff\na\nb\n", b"c\n\n", b"d\n"]


def test_the_ranges_one_after_the_other_are_the_corpus(tmp_path: Path) -> None:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        ranges = [
            LineRange(index, count_lines(block), pack_block(block))
            for index, block in enumerate(BLOCKS)
        ]
        splitters = root | "Splitters" >> beam.Create([[b"c", b"d"]])
        write = WriteCheckpoint(str(tmp_path), "news.sorted", splitters)
        return {"files": root | beam.Create(ranges[::-1], reshuffle=False) | write}

    files: list[OutputFile] = sorted(run_pipeline(build).elements["files"])
    names = [f"training-monolingual.tokenized/news.sorted-0000{i}-of-00003" for i in range(3)]
    assert [file.name for file in files] == names
    assert [(tmp_path / name).read_bytes() for name in names] == BLOCKS
    assert [(file.records, file.split) for file in files] == [(3, ""), (2, ""), (1, "")]
    assert [file.sha256 for file in files] == [hashlib.sha256(b).hexdigest() for b in BLOCKS]
