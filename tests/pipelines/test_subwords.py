import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.subwords import Subwords
from corpusmill.pipelines.subwords_settings import VERSION, SubwordsConfig
from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.models.sentence_sampling import rank_sentences, share_out
from corpusmill.transforms.models.subword_models import (
    PieceCounter,
    PieceSettings,
    SubwordCounter,
    add_subword_stats,
    count_words_of_articles,
    load_model,
    on_one_line,
    train_pieces,
)
from corpusmill.transforms.models.word_vocabulary import count_words, cut_by_bucket
from tests.makers.finished_builds import make_build, text_of
from tests.makers.sentence_builds import make_sentence_build
from tests.makers.subword_inputs import JAPANESE, make_corpora, write_lines
from tests.makers.wiki_builds import files_below
from tests.tools.golden_tree import tree_of
from tests.tools.real_data import DATA, needs_real_data

LEARNED = {
    "en": [
        *("One ferry .", "Two ferries .", "No ferry .", "The ferry left at seven."),
        *("Nobody saw it.", "It was green.", "The sea.", "The land."),
    ],
    "ja": list(JAPANESE),
    "uk": ["Про Річка.", "Про Море.", "Про Гора.", "Про Степ.", "Про Ліс."],
}
HELD_OUT = {"en": ["Too .", "Held out .", "A ferry."], "uk": ["Про Озеро."]}
EVALUATED = {"uk": ["Про ґанок."], "el": ["Θάλασσα"]}
SIZE = 120
SEED = 9
SENTENCES = 11  # the shares of 8, 4 and 5 sentences at T = 5 are near to one third each


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    make_corpora(folder / "corpora")
    write_lines(folder / "texts" / "one.txt", JAPANESE[:3])
    write_lines(folder / "texts" / "two.gz", [*JAPANESE[3:], ""])
    for code, name in (("uk", "ukr"), ("el", "ell")):
        write_lines(folder / "flores" / "devtest" / f"{name}.devtest", EVALUATED[code])
    return folder


def config(inputs: Path, **settings: Any) -> SubwordsConfig:
    given: dict[str, Any] = {
        "corpora": [str(inputs / "corpora"), f"ja={inputs}/texts/*"],
        "evaluate": [str(inputs / "flores")],
        "size": SIZE,
        "sentences": SENTENCES,
        "seed": SEED,
    }
    return SubwordsConfig(**(given | settings))


def make(output: Path, settings: SubwordsConfig, workers: int = 1) -> Path:
    corpus = Subwords(settings)
    launch(corpus, str(output), workers=workers)
    return output.joinpath(*corpus.path)


@pytest.fixture(scope="module")
def built(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("output"), config(inputs))


def sample() -> list[str]:
    """The sentences that are learned from, by the rule."""
    shares = share_out({name: len(lines) for name, lines in LEARNED.items()}, "5", SENTENCES)
    chosen = []
    for name, lines in LEARNED.items():
        ranks = rank_sentences(lines, SEED).tolist()
        ordered = [line for _, line in sorted(zip(ranks, lines, strict=True))]
        chosen += ordered * shares[name].times + ordered[: shares[name].once_more]
    return chosen


def test_the_model_is_that_of_the_sample(built: Path) -> None:
    words = count_words(block_of([line.encode() for line in sample()]))
    parts = [part for _, part in sorted(cut_by_bucket(words, 64))]
    expected = train_pieces(parts, PieceSettings(SIZE))
    assert (built / "sentencepiece.model").read_bytes() == expected.model
    assert files_below(built) == [
        "COMPLETED",
        "README.md",
        "manifest.json",
        "rejected/rejected-00000-of-00001.parquet",
        "sentencepiece.model",
        "sentencepiece.vocab",
        "stats.json",
    ]
    assert built.parts[-3:] == (
        "subwords",
        "multilingual-3-120-sentences-11-seed-9",
        f"20260101-{VERSION}",
    )


def test_stats(built: Path) -> None:
    stats = json.loads((built / "stats.json").read_text("utf-8"))
    languages = stats["languages"]
    assert {name: one["sentences"] for name, one in languages.items()} == {
        "el": 0,
        "en": 8,
        "ja": 4,
        "uk": 5,
    }
    assert {name: one["sampled"] for name, one in languages.items()} == {
        "el": 0,
        "en": 4,
        "ja": 3,
        "uk": 4,
    }
    words = Counter(word for line in sample() for word in line.split())
    total = stats["total"]
    assert (total["different_words"], total["words"]) == (len(words), words.total())
    counter = PieceCounter((built / "sentencepiece.model").read_bytes())
    for kind, lines_of in (("held_out", HELD_OUT), ("evaluated", EVALUATED)):
        for name, lines in lines_of.items():
            assert languages[name][kind] == counter.count(lines)._asdict()
    (left,) = set(JAPANESE) - set(sample())  # of a language without a split that is held out
    assert languages["ja"]["held_out"] == counter.count([left])._asdict()
    assert languages["el"]["evaluated"]["unknown"] == 1


def test_the_manifest(built: Path, inputs: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    assert manifest["signature"] == (
        "subwords|lang:3-languages|dump:20260101|size:120|temperature:5|sentences:11"
        "|character-coverage:0.9995|normalization:nmt_nfkc|byte-fallback:no|min-count:1|seed:9"
        f"|v:{VERSION}"
    )
    assert manifest["counts"] == {"sentences": 17, "sampled": 11, "rejected_lines": {}}
    assert [(one["role"], one["name"]) for one in manifest["inputs"]] == [
        ("el evaluated", "ell.devtest"),
        ("en lm1b|lang:en|dump:2007-2011|v:1.0.0", "manifest.json"),
        ("en pg19|lang:en|dump:20260101|v:1.0.0", "manifest.json"),
        ("en simplebooks|lang:en|dump:20260101|v:1.0.0", "manifest.json"),
        ("ja lines", "one.txt"),
        ("ja lines", "two.gz"),
        ("uk evaluated", "ukr.devtest"),
        ("uk wiki40b|lang:uk|dump:20260101|v:1.0.0", "manifest.json"),
    ]
    assert manifest["settings"]["languages"] == ["en", "ja", "uk"]
    assert str(inputs) not in json.dumps(manifest)
    assert "| el | – |" in (built / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_workers_and_the_order_of_corpora_do_not_count(
    built: Path, inputs: Path, tmp_path: Path
) -> None:
    corpora = inputs / "corpora"
    backwards = [
        f"jpn={inputs}/texts/two.gz",
        f"ja={inputs}/texts/one.txt",
        *(str(corpora / name) for name in ("wiki40b", "simplebooks", "pg19", "lm1b")),
    ]
    again = make(tmp_path, config(inputs, corpora=backwards), workers=2)
    assert tree_of(again) == tree_of(built)


UK = {
    "train": [["Річка", "Вода", "Море"], [], ["Озеро", "Гора"]],
    "validation": [["Степ"]],
    "test": [["鬱é", "Ліс"]],
}
EL = {"train": [["Θάλασσα"]], "validation": [["Βουνό"]]}
JA = {"train": [["富士山", "川"], ["海", "山"]], "test": [["湖"]]}
ARTICLES = ["Θάλασσα", "富士山", "川", "海", "Річка", "Вода", "Море"]  # of each the first three


@pytest.fixture(scope="module")
def wikis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wikis")
    make_build(folder, "uk", {"train": [["Стара"]]}, date="20251201")
    make_build(folder, "uk", UK)
    make_build(folder, "el", EL, date="20260201")
    make_build(folder, "ja", JA, settings={"limit": 9})
    make_sentence_build(folder, (b"News .\n",), (b"Held out .\n",))
    return folder


@pytest.fixture(scope="module")
def of_articles(wikis: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = SubwordsConfig([str(wikis)], articles=3, size=320)
    return make(tmp_path_factory.mktemp("output"), settings)


def test_a_vocabulary_of_articles_is_lossless_and_learned_from_the_first_ones(
    wikis: Path, of_articles: Path
) -> None:
    assert of_articles.parts[-2:] == ("multilingual-3-320-articles-3", f"20260201-{VERSION}")
    model = (of_articles / "sentencepiece.model").read_bytes()
    lines = [on_one_line(text_of(identity)).encode() for identity in ARTICLES]
    parts = [
        part for _, part in sorted(cut_by_bucket(count_words_of_articles(block_of(lines)), 64))
    ]
    settings = PieceSettings(320, 0.9999, "identity", byte_fallback=True, lossless=True)
    assert model == train_pieces(parts, settings).model
    text = text_of("鬱é  \u00a0Ліс")
    assert load_model(model).decode(load_model(model).encode(text)) == text
    languages = json.loads((of_articles / "stats.json").read_text("utf-8"))["languages"]
    held_out = {"el": ["Βουνό"], "ja": ["湖"], "uk": ["Степ", "鬱é", "Ліс"]}
    assert {name: one["held_out"] for name, one in languages.items()} == {
        name: add_subword_stats(SubwordCounter(model).count(text_of(one)) for one in of)._asdict()
        for name, of in held_out.items()
    }
    assert languages["uk"]["held_out"]["byte_characters"] == 14  # 鬱, é, Л, с, С, т and п twice
    assert [(one["articles"], one["times"]) for one in languages.values()] == [
        (1, 1),
        (3, 1),
        (3, 1),
    ]
    manifest = json.loads((of_articles / "manifest.json").read_text("utf-8"))
    assert manifest["signature"] == (
        f"subwords|lang:3-languages|dump:20260201|size:320|articles:3|min-count:1|v:{VERSION}"
    )
    assert manifest["caveats"] == [
        "Learned from 3 languages: el, ja, uk. The paper's is learned from 41; pieces are longer if"
        " fewer languages share them.",
        "The dumps are of different dates: 20260101, 20260201.",
        "Languages with fewer than 3 articles of train, which weigh less than the others: el 1.",
    ]
    corpus = Subwords(SubwordsConfig([str(wikis)], articles=3, size=64_000))
    assert corpus.beside_paper()["uk"] == ("–", "not the paper's settings: --articles 3")
    assert 0 < corpus.bytes_to_read(1) < Subwords(SubwordsConfig([str(wikis)])).bytes_to_read(1)
    beside = Subwords(SubwordsConfig([str(wikis)], articles=10_000, size=128_000)).beside_paper()
    assert beside == {
        "el": ("3.272", "input of 20260201, --lists sentences, 3 of 41 languages"),
        "ja": ("–", "not the paper's settings: --lists sentences, --limit 9"),
        "uk": ("3.222", "input of 20260101, --lists sentences, 3 of 41 languages"),
    }


@pytest.mark.slow
def test_workers_do_not_change_a_vocabulary_of_articles(
    wikis: Path, of_articles: Path, tmp_path: Path
) -> None:
    folders = [str(wikis / "wiki40b" / name) for name in ("uk", "ja", "el")]
    again = make(tmp_path, SubwordsConfig(folders, articles=3, size=320), workers=2)
    assert tree_of(again) == tree_of(of_articles)


def test_articles_are_those_of_wiki40b(inputs: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leave out the files with sentences"):
        Subwords(SubwordsConfig([f"ja={inputs}/texts/*"], articles=3))
    make_sentence_build(tmp_path, (b"News .\n",), (b"Held out .\n",))
    with pytest.raises(InputError, match="no finished build of wiki40b in this folder or below"):
        Subwords(SubwordsConfig([str(tmp_path)], articles=3))


def test_files_alone_have_no_date(inputs: Path) -> None:
    files = [f"ja={inputs}/texts/*"]
    assert Subwords(SubwordsConfig(files)).path[-1] == f"latest-{VERSION}"
    assert Subwords(SubwordsConfig(files, dump_date="2026")).path[-1] == f"2026-{VERSION}"
    with pytest.raises(InputError):
        Subwords(SubwordsConfig([str(inputs / "none")]))


@needs_real_data
def test_flores_lines_have_few_unknown_tokens(tmp_path: Path) -> None:
    """Half of the lines of four scripts are learned from; the other half has hardly a new character."""
    lines_of = {
        code: (DATA / "flores" / "flores101_dataset" / "devtest" / f"{code}.devtest")
        .read_text("utf-8")
        .splitlines()
        for code in ("ukr", "vie", "hin", "ell")
    }
    for code, lines in lines_of.items():
        write_lines(tmp_path / "texts" / code, lines[::2])
        write_lines(tmp_path / "rest" / "dev" / f"{code}.dev", lines[1::2])
    folder = make(
        tmp_path,
        SubwordsConfig(
            [f"{code}={tmp_path}/texts/{code}" for code in lines_of],
            evaluate=[str(tmp_path / "rest")],
            size=2000,
        ),
    )
    languages = json.loads((folder / "stats.json").read_text("utf-8"))["languages"]
    assert {name: one["sampled"] for name, one in languages.items()} == dict.fromkeys(
        ("el", "hi", "uk", "vi"), 506
    )
    for one in languages.values():
        assert (one["times"], one["once_more"], one["evaluated"]["lines"]) == (1, 0, 506)
        assert one["evaluated"]["unknown"] < 0.01 * one["evaluated"]["pieces"]
        assert one["evaluated"]["characters"] > 1.7 * one["evaluated"]["pieces"]
