from typing import Any

import pytest
import yaml

from transforms.text.builds.dataset_card import make_card
from transforms.text.wikimedia.language import LANGUAGE_CODES

STATS = {
    "train": {"articles": 1234567, "characters": 3},
    "validation": {"articles": 2, "characters": 4},
    "test": {"articles": 0, "characters": 0},
    "total": {"articles": 1234569, "characters": 7},
}

COUNTS = {"pages_read": 7654321, "rejected": {"screen-pages/redirect": 1000, "total": 1000}}


def card(edition: str = "uk", caveats: tuple[str, ...] = ()) -> str:
    manifest: dict[str, Any] = {
        "edition": edition,
        "signature": f"wiki40b|lang:{edition}|dump:20260101|v:1.0.0",
        "counts": COUNTS,
        "caveats": caveats,
    }
    return make_card("Wiki-40B", "About it.", "cc-by-sa-4.0", manifest, STATS)


@pytest.mark.parametrize(("edition", "language"), [("uk", "uk"), ("zh-tw", "zh"), ("zh-cn", "zh")])
def test_the_head_is_what_the_hub_reads(edition: str, language: str) -> None:
    empty, head, _ = card(edition).split("---\n", 2)
    assert empty == ""
    assert head.splitlines() == [
        "license: cc-by-sa-4.0",
        f"language: {language}",
        "configs:",
        f"- config_name: {edition}",
        "  data_files:",
        "  - split: train",
        "    path: train-*.parquet",
        "  - split: validation",
        "    path: validation-*.parquet",
        "  - split: test",
        "    path: test-*.parquet",
    ]


@pytest.mark.parametrize("code", LANGUAGE_CODES)
def test_every_language_is_a_text_to_a_reader_of_yaml(code: str) -> None:
    """Unquoted, `no` is False."""
    head = yaml.safe_load(card(code).split("---\n")[1])
    assert head["language"] == code.partition("-")[0]
    assert [config["config_name"] for config in head["configs"]] == [code]


def test_the_body_says_what_is_in_it_and_what_is_not() -> None:
    body = card().split("---\n", 2)[2]
    assert body == (
        "\n# Wiki-40B\n\nAbout it.\n\nSignature: `wiki40b|lang:uk|dump:20260101|v:1.0.0`\n\n"
        "| split | articles | characters |\n|---|---:|---:|\n"
        "| train | 1,234,567 | 3 |\n| validation | 2 | 4 |\n| test | 0 | 0 |\n"
        "| total | 1,234,569 | 7 |\n\n"
        "Not kept, of 7,654,321 pages read (each is listed in `rejected/`):\n\n"
        "| reason | pages |\n|---|---:|\n| screen-pages/redirect | 1,000 |\n| total | 1,000 |\n\n"
        "Every input and output with its SHA-256, and all settings: `manifest.json`.\n"
    )


def test_the_vocabulary_is_described() -> None:
    stats = {split: counts | {"pieces": 2} for split, counts in STATS.items()}
    stats["test"]["pieces"] = 0
    made = {"vocabulary_size": 32000, "sampled_articles": 1234, "sample_sha256": "ab"}
    manifest = {"edition": "uk", "signature": "s", "counts": COUNTS, "caveats": ()}
    text = make_card("Wiki-40B", "About it.", "x", manifest | {"sentencepiece": made}, stats)
    assert (
        "\n`sentencepiece/`: 32,000 pieces, learned from the first 1,234 articles of train."
        " Characters per piece: train 1.500, validation 2.000, total 3.500.\n"
    ) in text
    none = made | {"vocabulary_size": 0}
    text = make_card("Wiki-40B", "About it.", "x", manifest | {"sentencepiece": none}, STATS)
    assert "sentencepiece" not in text


def test_caveats_stand_on_the_card() -> None:
    body = card(caveats=("One thing.", "Another."))
    assert "\nWhat this build could not know:\n\n- One thing.\n- Another.\n" in body
    assert "could not know" not in card()
