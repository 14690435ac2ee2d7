from typing import Any

from transforms.text.vocabularies.subword_card import make_subword_card

MANIFEST: dict[str, Any] = {
    "signature": "wiki40b-vocabulary|lang:multilingual|dump:20260101|v:1.0.0",
    "caveats": ["The dumps are of different dates."],
    "sentencepiece": {
        "64k": {"vocabulary_size": 64_000, "sampled_articles": 20_000, "reason": ""},
        "128k": {"vocabulary_size": 95_688, "sampled_articles": 20_000, "reason": ""},
    },
}
NO_TEXT = {"pieces": 0, "characters": 0, "unknown_characters": 0, "byte_characters": 0}


def counts(pieces: int, characters: int, byte_characters: int) -> dict[str, int]:
    return {
        "pieces": pieces,
        "characters": characters,
        "unknown_characters": 0,
        "byte_characters": byte_characters,
    }


def test_the_table() -> None:
    uk = {
        "train": counts(1, 1_000_000, 0),  # not in the table
        "validation": counts(100, 350, 1),
        "test": counts(300, 850, 2),
    }
    finer = uk | {"test": counts(200, 850, 0)}
    xx = dict.fromkeys(("train", "validation", "test"), NO_TEXT)
    stats = {"64k": {"uk": uk, "xx": xx}, "128k": {"uk": finer, "xx": xx}}
    card = make_subword_card(MANIFEST, stats, {"uk": 4.0375}, {"uk": (4.029, 2.836, 3.222)})
    assert card.splitlines()[0] == "# Wiki-40B: multilingual SentencePiece vocabularies"
    assert f"Signature: `{MANIFEST['signature']}`" in card
    assert (
        "| vocabulary | pieces | learned from articles |\n"
        "|---|---:|---:|\n"
        "| 64k | 64,000 | 20,000 |\n"
        "| 128k | 95,688 | 20,000 |\n"
        "\n```python\n"
    ) in card
    assert (
        "| language | own | paper 32k | 64k | paper 64k | coverage 64k"
        " | 128k | paper 128k | coverage 128k |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        "| uk | 4.037 | 4.029 | 3.000 | 2.836 | 99.75 % | 4.000 | 3.222 | 99.92 % |\n"
        "| xx | – | – | – | – | – | – | – | – |\n"
    ) in card
    assert 'model_file="sentencepiece/multilingual-64k.model"' in card
    assert "\n- The dumps are of different dates.\n" in card
    assert card.endswith("`manifest.json`.\n")


def test_a_vocabulary_that_is_not_there_has_a_reason() -> None:
    missing = {"vocabulary_size": 0, "sampled_articles": 0, "reason": "there is no text"}
    manifest = MANIFEST | {"sentencepiece": {"64k": missing}, "caveats": []}
    card = make_subword_card(manifest, {}, {}, {})
    assert "| 64k | 0 | 0 |\n\n- There is no 64k: there is no text\n" in card
    assert "language" not in card.partition("- There is no")[2]
    assert "keep in mind" not in card
