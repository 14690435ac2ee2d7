"""README.md of vocabularies over many languages: a table like the paper's Table 6."""

from collections.abc import Mapping, Sequence
from typing import Any

from transforms.text.files.markdown import make_list, make_table
from transforms.text.vocabularies.subwords import SubwordStats, add_subword_stats

MEASURED = ("validation", "test")  # as in the paper
ABSENT = "–"

USE = """\
```python
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file="sentencepiece/{first}.model")
pieces.encode(text)  # each marker of the layout is one piece; decode() gives the text again
```"""


def make_subword_card(
    manifest: Mapping[str, Any],
    stats: Mapping[str, Mapping[str, Mapping[str, Mapping[str, int]]]],
    own: Mapping[str, float],
    paper: Mapping[str, Sequence[float]],
) -> str:
    """The card.

    Args:
      stats: vocabulary → edition → split → counts, as in stats.json.
      own: edition → characters per piece of the build's own vocabulary, where it has one.
      paper: edition → those of the paper: of its 32k, 64k and 128k vocabularies.
    """
    vocabularies = manifest["sentencepiece"]
    names = [name for name, one in vocabularies.items() if one["vocabulary_size"]]
    lines = [
        "# Wiki-40B: multilingual SentencePiece vocabularies",
        "",
        f"Signature: `{manifest['signature']}`",
        "",
        "Learned from the first articles of train of each language, equally; built with corpusmill after"
        " Guo et al., LREC 2020, section 3.",
        "",
        *_vocabularies(vocabularies),
    ]
    if names:
        lines += [
            "",
            USE.format(first=f"multilingual-{names[0]}"),
            "",
            "Characters per piece over validation and test together, a marker being one character, beside"
            " those of the paper (its Table 6). Its 32k vocabularies are of one language each, and stand"
            " beside the build's own. Coverage is the share of the characters that have a piece of their"
            " own; all others are spelled in bytes, none is lost. The paper has 99.8 to 99.9 %.",
            "",
            *_languages(names, stats, own, paper),
        ]
    lines += [*make_list("To keep in mind:", manifest["caveats"]), ""]
    lines += ["Every build that was read, by the SHA-256 of its manifest: `manifest.json`.", ""]
    return "\n".join(lines)


def _vocabularies(vocabularies: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = [
        [name, f"{one['vocabulary_size']:,}", f"{one['sampled_articles']:,}"]
        for name, one in vocabularies.items()
    ]
    table = make_table(["vocabulary", "pieces", "learned from articles"], rows)
    reasons = {name: one["reason"] for name, one in vocabularies.items() if one["reason"]}
    missing = [f"- There is no {name}: {reason}" for name, reason in reasons.items()]
    return [*table, "", *missing] if missing else table


def _languages(
    names: Sequence[str],
    stats: Mapping[str, Mapping[str, Mapping[str, Mapping[str, int]]]],
    own: Mapping[str, float],
    paper: Mapping[str, Sequence[float]],
) -> list[str]:
    columns = ["language", "own", "paper 32k"]
    for name in names:
        columns += [name, f"paper {name}", f"coverage {name}"]
    rows = []
    for edition in stats[names[0]]:
        of_paper = dict(zip(("32k", "64k", "128k"), paper.get(edition, ()), strict=False))
        row = [edition, _figure(own.get(edition)), _figure(of_paper.get("32k"))]
        for name in names:
            measured = _measured(stats[name][edition])
            row += [
                _figure(measured.characters_per_piece if measured.pieces else None),
                _figure(of_paper.get(name)),
                f"{100 * measured.own_piece_coverage:.2f} %" if measured.pieces else ABSENT,
            ]
        rows.append(row)
    return make_table(columns, rows)


def _measured(per_split: Mapping[str, Mapping[str, int]]) -> SubwordStats:
    return add_subword_stats([SubwordStats(**per_split[split]) for split in MEASURED])


def _figure(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"
