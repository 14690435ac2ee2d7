"""What a build says of itself: where every number comes from."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.records import CorpusStats, InputFile, OutputFile
from transforms.text.fingerprint import SPLITS
from transforms.text.vocabularies.subwords import SubwordStats, TrainedSubwords, add_subword_stats
from transforms.text.wikimedia.corpus_stats import add_stats


class Description(NamedTuple):
    """Words about a corpus."""

    title: str
    about: str  # Markdown
    citation: str  # BibTeX
    license_id: str  # as the Hugging Face hub names it
    features: Sequence[str]
    numbers: Sequence[str] = ()  # features that are integers; all others are texts


class Provenance(NamedTuple):
    """What is known of a build before it runs."""

    corpus: str  # "wiki40b"
    edition: str  # "uk"
    dump_date: str  # "20230501"
    version: str  # "1.0.0"
    release_notes: Mapping[str, str]
    settings: Mapping[str, Any]  # every setting that decides about the bytes
    caveats: tuple[str, ...]  # sentences: what this build could not know
    code: Mapping[str, str]  # package → version
    signature_settings: Mapping[str, str] = {}  # what makes a variant, in order

    @property
    def signature(self) -> str:
        """One line that names the build: "wiki40b|lang:uk|dump:20230501|v:1.0.0"."""
        parts = {
            "lang": self.edition,
            "dump": self.dump_date,
            **self.signature_settings,
            "v": self.version,
        }
        return "|".join([self.corpus, *(f"{name}:{value}" for name, value in parts.items())])


class Findings(NamedTuple):
    """What a build has found and made. Everything comes in any order."""

    inputs: Iterable[InputFile]
    outputs: Iterable[OutputFile]
    pages_read: int
    rejections: Mapping[tuple[str, str], int]  # (stage, reason) → pages
    class_unknown: int  # articles kept although the class of their entity is not known
    pinned: int  # articles whose split an earlier release has decided
    pinned_elsewhere: int  # those of them that the hash would have put into another split
    lost: Iterable[Mapping[str, Any]]  # parts of the dump that could not be read
    stats: Mapping[str, CorpusStats]  # split → counts
    subwords: TrainedSubwords | None  # None where none were asked for
    subword_stats: Mapping[str, SubwordStats]  # split → counts in its pieces; {} without a model


class AccountingError(Exception):
    """Numbers that must agree do not: kept + rejected = read, and the files hold what was kept."""


def check_accounts(findings: Findings) -> None:
    """Raises AccountingError."""
    kept = sum(stats.articles for stats in findings.stats.values())
    rejected = sum(findings.rejections.values())
    if kept + rejected != findings.pages_read:
        raise AccountingError(
            f"{kept} kept + {rejected} rejected are not the {findings.pages_read} pages that were read"
        )
    for kind in ("parquet", "tfrecord"):
        for split in SPLITS:
            written = sum(
                file.records
                for file in findings.outputs
                if file.format == kind and file.split == split
            )
            articles = findings.stats.get(split, CorpusStats()).articles
            if written != articles:
                raise AccountingError(f"{kind} of {split} holds {written} of {articles} articles")
    if findings.subwords and findings.subwords.model:
        for split in SPLITS:
            counted = findings.subword_stats.get(split, SubwordStats()).characters
            characters = findings.stats.get(split, CorpusStats()).characters
            if counted != characters:
                raise AccountingError(
                    f"{counted} of {characters} characters of {split} are counted in pieces"
                )


def make_stats(findings: Findings) -> dict[str, dict[str, int]]:
    """stats.json: counts per split and in all."""
    per_split = {split: findings.stats.get(split, CorpusStats()) for split in SPLITS}
    per_split["total"] = add_stats(list(per_split.values()))
    stats = {split: counts._asdict() for split, counts in per_split.items()}
    if findings.subwords and findings.subwords.model:
        in_pieces = {split: findings.subword_stats.get(split, SubwordStats()) for split in SPLITS}
        in_pieces["total"] = add_subword_stats(list(in_pieces.values()))
        for split, counts in in_pieces.items():
            stats[split] |= counts._asdict()
    return stats


def make_manifest(provenance: Provenance, findings: Findings) -> dict[str, Any]:
    """manifest.json. Holds no clock, no host and no path: the same build gives the same bytes."""
    stats = make_stats(findings)
    kept = {split: counts["articles"] for split, counts in stats.items()}
    rejected = {
        f"{stage}/{reason}": n for (stage, reason), n in sorted(findings.rejections.items())
    }
    manifest = assemble(
        provenance,
        findings.inputs,
        {
            "pages_read": findings.pages_read,
            "kept": kept,
            "rejected": rejected | {"total": sum(rejected.values())},
            "class_unknown": findings.class_unknown,
            "pinned": findings.pinned,
            "pinned_elsewhere": findings.pinned_elsewhere,
        },
        findings.lost,
        findings.outputs,
    )
    subwords = {"sentencepiece": findings.subwords.summary()} if findings.subwords else {}
    return manifest | {"stats": stats} | subwords


def assemble(
    provenance: Provenance,
    inputs: Iterable[InputFile],
    counts: Mapping[str, Any],
    lost: Iterable[Mapping[str, Any]],
    outputs: Iterable[OutputFile],
) -> dict[str, Any]:
    """A manifest in the order in which it is read. What comes in any order is sorted."""
    return {
        "signature": provenance.signature,
        "corpus": provenance.corpus,
        "edition": provenance.edition,
        "dump_date": provenance.dump_date,
        "version": provenance.version,
        "release_notes": dict(provenance.release_notes),
        "settings": dict(provenance.settings),
        "caveats": list(provenance.caveats),
        "code": dict(provenance.code),
        "inputs": [file._asdict() for file in sorted(inputs)],
        "counts": dict(counts),
        "lost": sorted(lost, key=lambda one: json.dumps(one, sort_keys=True)),
        "outputs": [file._asdict() for file in sorted(outputs)],
    }


def to_json(value: Any) -> str:
    """Readable JSON that ends with a line feed."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
