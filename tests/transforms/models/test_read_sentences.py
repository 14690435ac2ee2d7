import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.run.corpora import layouts
from corpusmill.transforms.files.builds.finished_builds import find_builds
from corpusmill.transforms.models.read_sentences import ReadSentences, SentenceSources
from corpusmill.transforms.models.sentence_sampling import rank_sentences
from tests.makers.subword_inputs import JAPANESE, make_corpora, write_lines
from tests.tools.run_pipeline import Outcome, run_pipeline


def read(sources: SentenceSources, folder: Path, stripes: int = 1) -> Outcome:
    read = ReadSentences(sources, str(folder), 7, stripes)
    return run_pipeline(lambda root: dict(zip(("blocks", "rejected"), root | read, strict=True)))


def sentences(outcome: Outcome) -> Counter[tuple[str, bool, str]]:
    found = Counter[tuple[str, bool, str]]()
    for block in outcome.elements["blocks"]:
        lines = [line.decode() for line in block.lines()]
        assert block.sentences == len(lines)
        assert np.array_equal(block.ranks(), rank_sentences(lines, 7))
        found.update((block.language, block.is_held_out, line) for line in lines)
    return found


def test_builds_of_all_corpora(tmp_path: Path) -> None:
    make_corpora(tmp_path / "corpora")
    builds = {
        name: find_builds([str(tmp_path / "corpora")], name)
        for name in ("wiki40b", "lm1b", "pg19", "simplebooks")
    }
    english = [*builds["lm1b"], *builds["pg19"], *builds["simplebooks"]]
    sources = SentenceSources({"uk": builds["wiki40b"], "en": english}, {}, layouts())
    outcome = read(sources, tmp_path)
    expected = {
        ("uk", False): ["Про Річка.", "Про Море.", "Про Гора.", "Про Степ.", "Про Ліс."],
        ("uk", True): ["Про Озеро."],
        ("en", False): [
            *("One ferry .", "Two ferries .", "No ferry ."),
            *("The ferry left at seven.", "Nobody saw it.", "It was green."),
            *("The sea.", "The land."),
        ],
        ("en", True): ["Too .", "Held out .", "A ferry."],
    }
    assert sentences(outcome) == Counter(
        (language, held_out, line)
        for (language, held_out), lines in expected.items()
        for line in lines
    )
    assert outcome.elements["rejected"] == []
    assert outcome.counters["read-sentences/sentences"] == 17
    stored = [
        Path(path).stat().st_size
        for of_corpus in builds.values()
        for build in of_corpus
        for paths in build.files.values()
        for path in paths
        if pq.ParquetFile(path).metadata.num_row_groups
    ]
    counted = outcome.counters["read-sentences/dump_bytes"]
    assert sum(stored) - 9 < counted <= sum(stored)  # but for what does not divide


def test_files_of_lines(tmp_path: Path) -> None:
    plain = tmp_path / "a.txt"
    plain.write_bytes("富士山。\n\n \t\n川\r\n".encode() + b"\xff\xfe\n" + b"last")
    packed = write_lines(tmp_path / "b.gz", JAPANESE)
    outcome = read(SentenceSources({}, {"ja": [str(plain), str(packed)]}, {}), tmp_path, stripes=3)
    assert sentences(outcome) == Counter(
        ("ja", False, line) for line in ("富士山。", "川", "last", *JAPANESE)
    )
    (rejected,) = outcome.elements["rejected"]
    assert (rejected.id, rejected.reason) == ("a.txt:22", "malformed-utf-8")


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(range(32, 127)) * 9)[:-12])
    with pytest.raises(Exception, match=r"InputError.*a\.gz, byte \d+: "):
        read(SentenceSources({}, {"en": [str(path)]}, {}), tmp_path)
