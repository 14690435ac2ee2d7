from transforms.text.vocabularies.piece_card import make_piece_card, make_piece_stats
from transforms.text.vocabularies.piece_model import PieceStats, TrainedPieces
from transforms.text.vocabularies.sentence_choice import Choice
from transforms.text.vocabularies.temperature_sampling import Share

TRAINED = TrainedPieces(b"", pieces=400, words=70, occurrences=900, rare_words=5)
CHOICES = {
    "uk": Choice(Share(1000, 0.75, 300), 17, 1, 1 << 64),
    "sw": Choice(Share(40, 0.25, 100), 17, 1, 1 << 64),
}
HELD_OUT = {"uk": PieceStats(10, 300, 100, 1)}
EVALUATED = {"sw": PieceStats(20, 500, 200, 0), "ar": PieceStats(20, 500, 200, 150)}
STATS = make_piece_stats(CHOICES, HELD_OUT, EVALUATED, TRAINED)
MANIFEST = {
    "signature": "subwords|lang:2-languages|v:1.0.0",
    "settings": {
        "temperature": "5",
        "normalization": "nmt_nfkc",
        "character_coverage": 0.9995,
        "byte_fallback": False,
    },
    "caveats": ["Learned from 2 languages."],
}


def test_stats() -> None:
    assert STATS["total"] == {
        "languages": 2,
        "sentences": 1040,
        "sampled": 400,
        "different_words": 70,
        "words": 900,
        "rare_words_passed_over": 5,
        "pieces": 400,
    }
    assert list(STATS["languages"]) == ["ar", "sw", "uk"]
    assert STATS["languages"]["sw"] == {
        "sentences": 40,
        "probability": 0.25,
        "sampled": 100,
        "times": 2,
        "once_more": 20,
        "evaluated": {
            "lines": 20,
            "characters": 500,
            "pieces": 200,
            "unknown": 0,
            "in_bytes": 0,
        },
    }
    assert STATS["languages"]["ar"]["sentences"] == 0


def test_the_card() -> None:
    card = make_piece_card(MANIFEST, STATS)
    table = [line for line in card.split("\n") if line.startswith("|")]
    assert table[2:] == [
        "| ar | – | – | – | – | – | – | – | 20 | 2.500 | 75.00 % |",
        "| sw | 40 | 25.00 % | 100 | 2.5 | – | – | – | 20 | 2.500 | 0.00 % |",
        "| uk | 1,000 | 75.00 % | 300 | 0.3 | 10 | 3.000 | 1.00 % | – | – | – |",
    ]
    assert "400 pieces, learned from 400 sentences of 2 languages" in card
    assert "nmt_nfkc; character coverage 0.9995; no bytes." in card
    assert "3.8 % for Tagalog" in card
    assert "- Learned from 2 languages." in card
    assert card.endswith("`manifest.json`.\n")
