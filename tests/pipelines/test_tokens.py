import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sentencepiece

from corpusmill.pipelines.run.editions import choose_builds
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.tokens import Tokens
from corpusmill.pipelines.tokens_settings import VERSION, TokensConfig
from corpusmill.transforms.files.read_files import InputError
from tests.makers.finished_builds import make_build, text_of
from tests.makers.spm_models import small_model
from tests.makers.tokenizer_files import END, small_tokenizer
from tests.makers.wiki_builds import files_below, run_cli
from tests.tools.case_tables import read_cases
from tests.tools.megatron_reader import read_documents

IDS = {"train": [["Q3", "Q1", "Q4"], [], ["Q2"]], "validation": [["Q5"]]}
ORDER = ["Q3", "Q1", "Q4", "Q2"]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    return make_build(tmp_path / "corpora", "uk", IDS)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.model"
    path.write_bytes(small_model())
    return path


def tokenize(output: Path, build: Path, *, workers: int = 1, **settings: Any) -> Path:
    corpus = Tokens(TokensConfig(str(build), **settings))
    launch(corpus, str(output), workers=workers)
    return output.joinpath(*corpus.path)


def test_the_documents_are_those_of_the_build_in_its_order(
    tmp_path: Path, build: Path, model: Path
) -> None:
    made = tokenize(tmp_path, build, tokenizer=str(model))
    assert made == tmp_path / f"tokens/wiki40b-uk-tokenizer-small/20260101-{VERSION}"
    pieces = sentencepiece.SentencePieceProcessor(model_proto=small_model())
    documents = read_documents(made / "train")
    assert documents == [[*pieces.encode(text_of(one)), 2] for one in ORDER]
    assert read_documents(made / "validation") == [[*pieces.encode(text_of("Q5")), 2]]
    assert not list(made.glob("test*"))  # of no rows
    stats = json.loads((made / "stats.json").read_text("utf-8"))
    assert stats["train"] == {
        "documents": 4,
        "tokens": sum(map(len, documents)),
        "text_bytes": sum(len(text_of(one).encode()) for one in ORDER),
        "unknown": sum(document.count(0) for document in documents),
    }
    assert (made / "tokenizer.model").read_bytes() == small_model()


def test_a_token_leads_to_its_row(tmp_path: Path, build: Path, model: Path) -> None:
    made = tokenize(tmp_path, build, tokenizer=str(model))
    documents = read_documents(made / "train")
    token = len(documents[0]) + len(documents[1])  # the first one of the third document
    for place, expected in (
        (token - 1, (0, 1, "Q1")),
        (token, (0, 2, "Q4")),
        (sum(map(len, documents)) - 1, (2, 0, "Q2")),
    ):
        filters = [("first_token", "<=", place), ("end_token", ">", place)]
        (row,) = pq.read_table(made / "train-rows.parquet", filters=filters).to_pylist()
        number, at, identity = expected
        assert row["file"] == f"train-0000{number}-of-00003.parquet"
        assert (row["row"], row["id"]) == (at, identity)
        stored = pq.read_table(build / row["file"]).to_pylist()[row["row"]]
        assert stored["wikidata_id"] == identity


@pytest.mark.slow
def test_any_workers_make_the_same_bytes(tmp_path: Path, build: Path, model: Path) -> None:
    one, two = (
        tokenize(tmp_path / str(workers), build, tokenizer=str(model), workers=workers)
        for workers in (1, 2)
    )
    assert files_below(one) == files_below(two)
    for name in files_below(one):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_a_tokenizer_of_hugging_face_and_plain_text(tmp_path: Path, build: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "gpt" / "tokenizer.json"
    path.parent.mkdir()
    path.write_bytes(small_tokenizer())
    made = tokenize(tmp_path, build, tokenizer=str(path), text="plain")
    assert made.parent.name == "wiki40b-uk-tokenizer-gpt-text-plain"
    reader = tokenizers.Tokenizer.from_file(str(path))
    reader.decoder = tokenizers.decoders.ByteLevel()
    texts = [
        reader.decode(ids, skip_special_tokens=False) for ids in read_documents(made / "train")
    ]
    assert texts == [f"{one}\n\nПро {one}.{END}" for one in ORDER]


def test_marks_in_the_text_are_told(tmp_path: Path, build: Path, model: Path) -> None:
    tell = [
        Tokens(TokensConfig(str(build), tokenizer=str(model), text=text)).caveats()
        for text in ("stored", "plain")
    ]
    assert "--text plain takes them out" in tell[0][0].replace("`", "")
    assert not tell[1]


@pytest.mark.parametrize(
    ("settings", "message"), read_cases("pipelines/tokens", "what_cannot_be_tokenised")
)
def test_what_cannot_be_tokenised(
    tmp_path: Path, build: Path, model: Path, settings: dict[str, str], message: str
) -> None:
    pytest.importorskip("tokenizers")
    given = {name: value.format(build=build, model=model) for name, value in settings.items()}
    with pytest.raises((InputError, ValueError), match=message):
        tokenize(tmp_path, build, **given)


@pytest.mark.slow
def test_of_each_edition_the_newest_is_taken(tmp_path: Path, build: Path, model: Path) -> None:
    newer = make_build(tmp_path / "corpora", "uk", IDS, date="20260201")
    other = make_build(tmp_path / "corpora", "el", IDS)
    corpora = tmp_path / "corpora"
    assert [one.folder for one in choose_builds([str(corpora)])] == [str(other), str(newer)]
    flags = ["--output", corpora, "--tokenizer", model, "--workers", 1, "--quiet"]
    assert run_cli("tokenize", corpora, *flags) == 0
    shutil.rmtree(corpora / "tokens" / "wiki40b-el-tokenizer-small")
    assert run_cli("tokenize", corpora, *flags) == 0  # what is there is passed over
    assert run_cli("verify", corpora) == 0
