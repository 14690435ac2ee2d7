import bz2
import gzip
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.lm1b import Lm1b
from corpusmill.pipelines.lm1b_settings import VERSION, Lm1bConfig
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.builds.ledger import DOUBTS
from corpusmill.transforms.files.read_files import InputError
from tests.makers.news_lines import read_odd_lines, sample_lines
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import tree_of
from tests.tools.pack_samples import SAMPLES

NEWS = SAMPLES / "news"
INPUT = (str(NEWS / "news.20??.en.shuffled*"), str(NEWS / "training-monolingual.tgz"))
LINES = [line for lines in sample_lines(NEWS).values() for line in lines]
REJECTED = {odd.line for odd in read_odd_lines(NEWS) if odd.is_rejected}
DESCRIBING = {"manifest.json", "COMPLETED", "README.md"}  # they name the input


def build(folder: Path, files: Iterable[Path | str] = INPUT, workers: int = 1, **how: Any) -> Path:
    """Builds into a folder and gives that of the build."""
    settings = {"dump_date": "2007-2011", "shards": 10, "heldout_shards": 5} | how
    config = Lm1bConfig([str(file) for file in files], **settings)
    launch(Lm1b(config), str(folder), workers=workers, accept=DOUBTS)
    (completed,) = folder.glob("lm1b/*/*/COMPLETED")
    return completed.parent


def sentences_of(folder: Path, split: str) -> list[str]:
    """The sentences of a split, in the order of the files."""
    tables = map(pq.read_table, sorted(folder.glob(f"{split}-*.parquet")))
    return [text for table in tables for text in table["text"].to_pylist()]


def corpus_of(folder: Path) -> list[str]:
    """All sentences."""
    return sentences_of(folder, "train") + sentences_of(folder, "test")


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return found


def corpus_files(folder: Path) -> dict[str, bytes]:
    """All files but those that say what the input was, or which lines of it were rejected."""
    return {
        name: data
        for name, data in tree_of(folder).items()
        if name not in DESCRIBING and not name.startswith("rejected/rejected-")
    }


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("sample"))


def test_every_line_is_kept_rejected_or_repeated(sample: Path) -> None:
    counts = manifest_of(sample)["counts"]
    different = set(LINES) - REJECTED
    rejected = sum(line in REJECTED for line in LINES)
    assert counts["lines_read"] == len(LINES)
    assert counts["rejected"] == {"read-lines/malformed-utf-8": rejected, "total": rejected}
    assert rejected == 2
    assert counts["duplicates"] == len(LINES) - rejected - len(different)
    assert counts["kept"]["total"] == len(different) == len(corpus_of(sample))


def test_splits_are_train_test_and_the_test_of_the_paper(sample: Path) -> None:
    train, test, paper = (sentences_of(sample, split) for split in ("train", "test", "paper_test"))
    heldout = sample / "heldout-monolingual.tokenized.shuffled"
    shard_0 = (heldout / "news.en.heldout-00000-of-00005").read_text("utf-8", "surrogatepass")
    assert paper == shard_0.split("\n")[:-1] == test[: len(paper)]
    whole = (heldout / "news.en-00000-of-00010").read_bytes().split(b"\n")[:-1]
    assert Counter(line.encode() for line in test) == Counter(whole)
    assert 0.8 < len(train) / len(test) / 9 < 1.2


@pytest.mark.slow
def test_the_corpus_depends_on_the_lines_alone(sample: Path, tmp_path: Path) -> None:
    lines = LINES.copy()
    random.Random(2).shuffle(lines)
    packs = [bytes, gzip.compress, bz2.compress, lzma.compress]
    files = []
    for place, start in enumerate(range(0, len(lines), 111)):
        files.append(tmp_path / f"{997 * place % 100:02}.news.part")
        part = b"".join(line + b"\n" for line in lines[start : start + 111])
        files[-1].write_bytes(packs[place % 4](part))
    again = build(tmp_path / "again", files, 2)
    assert corpus_files(again) == corpus_files(sample)
    accounts = manifest_of(again)["counts"]
    assert accounts == manifest_of(sample)["counts"]


def test_the_tokenised_text_can_be_kept(sample: Path, tmp_path: Path) -> None:
    kept = build(tmp_path, checkpoints=True)
    folder = kept / "training-monolingual.tokenized"
    ordered = [path.name for path in sorted(folder.iterdir())]
    assert ordered == [
        "news.20XX.en.shuffled.sorted-00000-of-00001",
        "news.20XX.en.shuffled.sorted.tokenized-00000-of-00001",
    ]
    raw, tokenized = ((folder / name).read_bytes().split(b"\n")[:-1] for name in ordered)
    assert raw == sorted(set(LINES) - REJECTED)
    text_files = sample.glob("training-monolingual.tokenized.shuffled/*")
    shards = b"".join(path.read_bytes() for path in text_files).split(b"\n")[:-1]
    whole = (sample / "heldout-monolingual.tokenized.shuffled/news.en-00000-of-00010").read_bytes()
    assert Counter(tokenized) == Counter(shards + whole.split(b"\n")[:-1])
    names = {file["name"] for file in manifest_of(kept)["outputs"]}
    assert names >= {f"training-monolingual.tokenized/{name}" for name in ordered}


@pytest.mark.slow
def test_sentences_may_be_made_unique_after_they_are_tokenised(tmp_path: Path) -> None:
    news = tmp_path / "news.2007.en.shuffled"
    news.write_bytes(b"It rained .\nIt rained.\r\nIt rained.\nIt snowed.\nIt snowed.\n")
    as_the_scripts = build(tmp_path / "raw", [news])
    as_the_paper = build(tmp_path / "tokenized", [news], deduplicate="tokenized")
    assert sorted(corpus_of(as_the_scripts)) == ["It rained ."] * 3 + ["It snowed ."]
    assert sorted(corpus_of(as_the_paper)) == ["It rained .", "It snowed ."]
    duplicates = [
        manifest_of(made)["counts"]["duplicates"] for made in (as_the_scripts, as_the_paper)
    ]
    assert duplicates == [1, 3]


def test_words_out_of_the_vocabulary_may_be_mapped(sample: Path, tmp_path: Path) -> None:
    mapped = build(tmp_path, map_unknown=True, min_count=5)
    rows = (mapped / "vocabulary.tsv").read_text("utf-8").split("\n")[3:-1]
    words = {row.rpartition("\t")[0] for row in rows}
    train = Counter(word for text in sentences_of(sample, "train") for word in text.split(" "))
    del train[""]
    assert words == {word for word, count in train.items() if count >= 5}
    for split in ("train", "test"):
        assert sentences_of(mapped, split) == [
            " ".join(word if word in words or not word else "<UNK>" for word in text.split(" "))
            for text in sentences_of(sample, split)
        ]


def test_sentences_may_be_in_lower_case(sample: Path, tmp_path: Path) -> None:
    lower = build(tmp_path, lower_case=True)
    assert corpus_of(lower) == [text.lower() for text in corpus_of(sample)]


def test_another_language_has_other_rules(tmp_path: Path) -> None:
    path = tmp_path / "news.2011.de.shuffled"
    path.write_bytes(b'Er sagte, "es geht," z.B. am 3. Mai.\n')
    german = build(tmp_path / "de", [path], language="de", shards=2, heldout_shards=1)
    assert german.parts[-2] == "de-shards-2-heldout-shards-1"
    assert corpus_of(german) == ['Er sagte , " es geht " , z.B. am 3. Mai .']
    assert (german / "training-monolingual.tokenized.shuffled/news.de-00001-of-00002").is_file()


@pytest.mark.parametrize(
    ("names", "date"), read_cases("pipelines/lm1b", "the_years_are_in_the_names_of_the_files")
)
def test_the_years_are_in_the_names_of_the_files(
    tmp_path: Path, names: Sequence[str], date: str
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(b"A sentence .\n"))
    corpus = Lm1b(Lm1bConfig([str(tmp_path / name) for name in names]))
    assert corpus.path == ("lm1b", "en", f"{date}-{VERSION}")


def test_input_without_a_sentence_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "news.2007.en.shuffled"
    empty.write_bytes(b"")
    with pytest.raises(InputError, match=r"news\.2007"):
        Lm1b(Lm1bConfig([str(empty)]))


def test_what_is_whole_of_a_cut_off_file_can_be_kept(tmp_path: Path) -> None:
    content = b"".join(b"sentence %d is here .\n" % (number * number) for number in range(20_000))
    cut = tmp_path / "news.2007.en.shuffled.gz"
    cut.write_bytes(gzip.compress(content)[:30_000])
    kept = build(tmp_path / "kept", [cut], on_corrupt="keep-good")
    manifest = manifest_of(kept)
    assert 1000 < manifest["counts"]["kept"]["total"] < 20_000
    assert [lost["name"] for lost in manifest["lost"]] == [cut.name]
