import functools
import io
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files.records import SubwordStats
from corpusmill.transforms.models.subword_models import (
    BLANK,
    RESERVED,
    SubwordCounter,
    SubwordSettings,
    UntrainableError,
    add_subword_stats,
    count_words,
    load_model,
    sentences_of,
    train_model,
    vocabulary_of,
    vocabulary_size_of,
)
from corpusmill.transforms.wikitext.article_markers import MARKERS_WITH_LINE_FEEDS, render_article
from corpusmill.transforms.wikitext.sections import Section
from tests.tools.case_tables import read_cases

SMALL = SubwordSettings(vocabulary_size=400)


def article(title: str, *paragraphs: str) -> str:
    return render_article(title, [Section("", paragraphs), Section(title, paragraphs)])


TEXTS = [
    article("Дніпро", "Річка  Дніпро тече у Києві.", "Київ — столиця; «Дніпро» — річка."),
    article("富士山", "富士山は高い山である。", "日本の山。"),
    article("Đà Nẵng", "Thành phố Đà Nẵng ở Việt Nam.", "Nước mắm, phở."),
    article("नदी", "गंगा एक नदी है।"),
    article("نهر", "النيل نهر في مصر."),
    article("แม่น้ำ", "แม่น้ำเจ้าพระยา"),
]


@functools.cache
def learned() -> tuple[bytes, SubwordCounter, Any]:
    """A model, and what counts and encodes with it."""
    model = train_model(TEXTS, SMALL)
    return model, SubwordCounter(model), load_model(model)


def test_a_marker_is_one_piece() -> None:
    for number, marker in enumerate(MARKERS_WITH_LINE_FEEDS):
        assert learned()[2].encode(marker) == [3 + number]
        assert learned()[2].encode(f"x{marker}{marker}")[-2:] == [3 + number] * 2
        assert learned()[1].count(f"x{marker}y").characters == 3


@pytest.mark.parametrize("text", TEXTS)
def test_the_pieces_spell_the_text(text: str) -> None:
    assert learned()[2].decode(learned()[2].encode(text)) == text
    assert learned()[1].count(text).pieces == len(learned()[2].encode(text))
    assert len(learned()[2].encode(text)) < len(text)


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=BLANK)) | st.lists(
    st.sampled_from(
        [
            *MARKERS_WITH_LINE_FEEDS,
            " ",
            "  ",
            "\n",
            "\t",
            "\r\n",
            *"a 富 Дніпро <0x41> <s> é".split(),
        ]
    )
).map("".join)


@settings(max_examples=300)
@given(ANY_TEXT)
def test_whatever_the_text_its_pieces_spell_it_and_no_character_is_unknown(text: str) -> None:
    pieces = learned()[2].encode(text, out_type=str)
    assert learned()[2].decode(learned()[2].encode(text)) == text
    stats = learned()[1].count(text)
    in_bytes = sum(
        p.startswith("<0x") and learned()[2].is_byte(learned()[2].piece_to_id(p)) for p in pieces
    )
    own = sum(
        1 if p in MARKERS_WITH_LINE_FEEDS else len(p)
        for p in pieces
        if not learned()[2].is_byte(learned()[2].piece_to_id(p))
    )
    assert stats.pieces == len(pieces)
    assert stats.unknown_characters == 0
    assert stats.characters == own + stats.byte_characters
    assert stats.byte_characters <= in_bytes <= 4 * stats.byte_characters


def test_the_sign_of_a_blank_comes_back_as_a_blank() -> None:
    assert learned()[2].decode(learned()[2].encode(f"a{BLANK}b c")) == "a b c"
    assert learned()[1].count(f"a{BLANK}b") == learned()[1].count("a b")


def test_a_blank_has_a_piece_also_where_no_text_has_one() -> None:
    model = train_model(["\n_START_ARTICLE_\n山\n_START_PARAGRAPH_\n川山川"], SMALL)
    processor = load_model(model)
    assert processor.decode(processor.encode("川 山")) == "川 山"
    assert SubwordCounter(model).count("川 山") == SubwordStats(3, 3, 0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", SubwordStats()),
        ("_NEWLINE_", SubwordStats(1, 1, 0, 0)),
        ("富富_NEWLINE_富", SubwordStats(4, 4, 0, 0)),
        ("é", SubwordStats(2, 1, 0, 1)),  # two bytes
        ("鬱", SubwordStats(3, 1, 0, 1)),
        ("😀", SubwordStats(4, 1, 0, 1)),
        ("富é富鬱", SubwordStats(7, 4, 0, 2)),
        ("é鬱😀", SubwordStats(9, 3, 0, 3)),
    ],
)
def test_counts(text: str, expected: SubwordStats) -> None:
    assert not {"é", "鬱", "😀"} & set("".join(TEXTS))
    assert learned()[1].count(text) == expected


def test_a_model_without_bytes_has_unknown_characters() -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c_NEWLINE_"] * 3),
        model_writer=model,
        vocab_size=20,
        hard_vocab_limit=False,
        user_defined_symbols=list(MARKERS_WITH_LINE_FEEDS),
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        minloglevel=2,
    )
    stats = SubwordCounter(model.getvalue()).count("a富山_NEWLINE_鬱")
    assert (stats.characters, stats.unknown_characters, stats.byte_characters) == (5, 3, 0)
    assert (stats.coverage, stats.own_piece_coverage) == (0.4, 0.4)


def test_shares() -> None:
    stats = SubwordStats(pieces=40, characters=200, unknown_characters=10, byte_characters=30)
    assert stats.characters_per_piece == 5.0
    assert (stats.coverage, stats.own_piece_coverage) == (0.95, 0.8)
    nothing = SubwordStats()
    assert (nothing.characters_per_piece, nothing.coverage, nothing.own_piece_coverage) == (0, 1, 1)


STATS = st.builds(SubwordStats, *[st.integers(0, 10**12)] * 4)


@given(st.lists(STATS, max_size=6), st.integers(0, 6))
def test_counts_add_up_in_any_order_and_in_parts(stats: list[SubwordStats], at: int) -> None:
    whole = add_subword_stats(stats)
    parts = [add_subword_stats(stats[at:]), add_subword_stats(stats[:at])]
    assert whole == add_subword_stats(parts) == add_subword_stats(reversed(stats))
    assert whole.characters == sum(one.characters for one in stats)


def test_the_vocabulary_for_people_has_a_line_for_each_piece() -> None:
    lines = vocabulary_of(learned()[0]).split("\n")
    assert lines.pop() == ""
    assert len(lines) == learned()[2].get_piece_size() == vocabulary_size_of(learned()[0]) <= 400
    markers = (marker.replace("\n", "\\n") for marker in MARKERS_WITH_LINE_FEEDS)
    assert lines[:7] == [f"{piece}\t0" for piece in ("<unk>", "<s>", "</s>", *markers)]
    assert lines[7] == "<0x00>\t0"
    assert lines[262] == "<0xFF>\t0"
    for number, line in enumerate(lines):
        piece, score = line.split("\t")
        assert piece.replace("\\n", "\n") == learned()[2].id_to_piece(number)
        assert math.isclose(float(score), learned()[2].get_score(number), rel_tol=1e-5)
    assert sum(line.startswith("\\n") for line in lines) == 3  # those of the markers


def test_the_vocabulary_is_as_spm_train_writes_it_but_for_line_feeds(tmp_path: Path) -> None:
    texts = [text.replace("\n", " ") for text in TEXTS]
    (tmp_path / "texts").write_text("\n".join(texts), "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "texts"),
        model_prefix=str(tmp_path / "m"),
        vocab_size=400,
        hard_vocab_limit=False,
        byte_fallback=True,
        minloglevel=2,
    )
    written = (tmp_path / "m.vocab").read_bytes().decode()
    assert vocabulary_of((tmp_path / "m.model").read_bytes()) == written
    assert len(written) > 3000


def train_in_a_process(texts: Iterable[str], cores: set[int]) -> subprocess.CompletedProcess[bytes]:
    code = (
        "import json, os, sys\n"
        f"os.sched_setaffinity(0, {cores})\n"
        "from corpusmill.transforms.models.subword_models import SubwordSettings, train_model\n"
        "model = train_model(json.load(sys.stdin), SubwordSettings(vocabulary_size=400))\n"
        "sys.stdout.buffer.write(model)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(list(texts)).encode(),
        capture_output=True,
        check=True,
    )


def test_the_same_texts_give_the_same_bytes_on_any_number_of_cores() -> None:
    cores = os.sched_getaffinity(0)
    for some in ({min(cores)}, cores):
        run = train_in_a_process(TEXTS, some)
        assert run.stdout == learned()[0]
        assert run.stderr == b""
    assert train_model(TEXTS[1:], SMALL) != learned()[0]


@pytest.mark.parametrize(
    "texts",
    [
        [article("川", "川。")],
        [article("富士山", "富士山は高い。"), article("川", "川。")],
        [article(f"Річка {number}", f"Річка {number} тече.") for number in range(5)],
        [article("แม่น้ำ", "แม่น้ำ")],
        [article("نهر", "نهر في مصر")],
        ["a"],
    ],
)
def test_few_texts_give_a_small_vocabulary(texts: list[str]) -> None:
    model = train_model(texts, SubwordSettings())
    assert 263 < vocabulary_size_of(model) < 400
    stats = add_subword_stats(map(SubwordCounter(model).count, texts))
    assert (stats.unknown_characters, stats.byte_characters) == (0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("川", ["川"]),
        (
            "\n_START_ARTICLE_\n川\n_START_PARAGRAPH_\n山。_NEWLINE_川。\n_START_SECTION_\n名\n_START_PARAGRAPH_\n富",
            [
                "\n_START_ARTICLE_\n川",
                "\n_START_PARAGRAPH_\n山。",
                "_NEWLINE_川。",
                "\n_START_SECTION_\n名",
                "\n_START_PARAGRAPH_\n富",
            ],
        ),
        ("ab" * 5_000 + f"c{RESERVED}", ["ab" * 2_500, "ab" * 2_500, "c"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences_of(text)) == expected


def test_words_are_counted_with_the_blank_before_them() -> None:
    first = "\n_START_ARTICLE_\nA b\n_START_PARAGRAPH_\na  b, b._NEWLINE_a b, "
    second = f"a{BLANK}b\t{RESERVED}c"
    assert count_words([first, "", second, " "]) == (
        {"b": 2, "": 3, "b,": 2, "b.": 1, "c": 1},
        {"\n_START_ARTICLE_\nA": 1, "\n_START_PARAGRAPH_\na": 1, "_NEWLINE_a": 1, "a": 1},
    )


def test_the_order_of_the_texts_does_not_matter() -> None:
    for seed in range(3):
        assert train_model(random.Random(seed).sample(TEXTS, len(TEXTS)), SMALL) == learned()[0]


def test_a_run_without_blanks_is_learned_from_in_parts() -> None:
    model = train_model(["a" * 3_000_000 + " b"], SMALL)  # in one, it takes minutes
    stats = SubwordCounter(model).count("a" * 3_000_000)
    assert stats.characters_per_piece > 10
    assert stats.byte_characters == 0


def test_a_text_with_the_reserved_character_is_learned_from() -> None:
    plain = train_model(["some text", "more words and text"], SMALL)
    assert train_model([f"some{RESERVED} text", "more words and text"], SMALL) == plain
    assert train_model(["more words and text"], SMALL) != plain
    assert SubwordCounter(plain).count(RESERVED) == SubwordStats(3, 1, 0, 1)


@pytest.mark.parametrize("texts", [[], [""], ["", RESERVED]])
def test_without_text_there_is_no_model(texts: list[str]) -> None:
    with pytest.raises(UntrainableError, match=r"^there is no text to learn from$"):
        train_model(texts, SMALL)


def test_a_vocabulary_without_room_for_the_characters(capfd: pytest.CaptureFixture[str]) -> None:
    characters = "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    with pytest.raises(
        UntrainableError, match=r"cannot train a model: .*Vocabulary size is smaller"
    ):
        train_model([characters] * 2, SMALL)
    assert capfd.readouterr() == ("", "")


def test_an_error_of_the_texts_is_not_hidden() -> None:
    def texts() -> Iterator[str]:
        yield "some text"
        raise UnicodeError("the third text is broken")

    with pytest.raises(UnicodeError, match="the third text is broken"):
        train_model(texts(), SMALL)


@pytest.mark.parametrize(
    ("setting", "message"), read_cases("models/subwords", "settings_that_cannot_be")
)
def test_settings_that_cannot_be(setting: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SubwordSettings(**setting)  # type: ignore[arg-type]


def test_the_settings_name_all_that_decides_about_the_model() -> None:
    values = SubwordSettings(vocabulary_size=64_000).as_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["vocabulary_size"] == 64_000
    assert values["sample_articles"] == 100_000
    assert values["normalization_rule_name"] == "identity"
    assert values["num_threads"] == 8
