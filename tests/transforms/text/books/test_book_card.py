from typing import Any

from transforms.text.books.book_card import make_book_card
from transforms.text.builds.build_manifest import Description

DESCRIPTION = Description(
    "Tales", "Tales of hens.", "@x", "other", ("book_id", "text"), ("book_id",)
)
STATS = {
    "train": {"books": 1234, "words": 20_000, "characters": 100_000, "text_bytes": 100_001},
    "test": {"books": 0, "words": 0, "characters": 0, "text_bytes": 0},
    "total": {"books": 1234, "words": 20_000, "characters": 100_000, "text_bytes": 100_001},
    "masked_words": 5,
}


def card(caveats: tuple[str, ...] = ()) -> str:
    manifest: dict[str, Any] = {
        "edition": "en-members-hash",
        "signature": "tales|lang:en|v:1.0.0",
        "counts": {"files_read": 2345, "rejected": {"screen-books/poems": 1111, "total": 1111}},
        "caveats": caveats,
    }
    return make_book_card(DESCRIPTION, manifest, STATS, ("train", "test"), ["", "Masked: 5."])


def test_the_head_is_what_the_hub_reads() -> None:
    assert card().split("---\n")[1].splitlines() == [
        "license: other",
        "language: en",
        "configs:",
        "- config_name: en-members-hash",
        "  data_files:",
        "  - split: train",
        "    path: train-*.parquet",
        "  - split: test",
        "    path: test-*.parquet",
    ]


def test_the_body_says_what_is_in_it_and_what_is_not() -> None:
    assert card().split("---\n", 2)[2] == (
        "\n# Tales\n\nTales of hens.\n\nSignature: `tales|lang:en|v:1.0.0`\n\n"
        "| split | books | words | characters | text bytes |\n|---|---:|---:|---:|---:|\n"
        "| train | 1,234 | 20,000 | 100,000 | 100,001 |\n| test | 0 | 0 | 0 | 0 |\n"
        "| total | 1,234 | 20,000 | 100,000 | 100,001 |\n\n"
        "Words stand between white space; characters are Unicode code points, bytes are of UTF-8.\n"
        "\nMasked: 5.\n\n"
        "Not kept, of 2,345 files read (each is listed in `rejected/`):\n\n"
        "| reason | files |\n|---|---:|\n| screen-books/poems | 1,111 |\n| total | 1,111 |\n\n"
        "Every input and output with its SHA-256, and all settings: `manifest.json`.\n"
    )


def test_caveats_stand_on_the_card() -> None:
    assert "\nWhat this build could not know:\n\n- One thing.\n" in card(("One thing.",))
    assert "could not know" not in card()
