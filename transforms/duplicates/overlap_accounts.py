"""Computes the counts and dataset card of a search for near-duplicates, or of a build of signatures."""

from typing import Any

from corpusmill.transforms.duplicates.contamination_evidence import sum_of
from corpusmill.transforms.files.builds.build_manifest import Provenance
from corpusmill.transforms.files.builds.ledger import OUTPUTS, Accounts, Ledger
from corpusmill.transforms.files.markdown import make_table


def account_for_overlap(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card.

    They describe a search for near-duplicates, or a build of signatures.

    In addition to the entries of every build, the ledger has:
      documents: ((data set, split), number of documents).
      left_out: ((data set, split), {reason: number of texts that were not read}).
      near: ((data set, split), number of documents that have a near-duplicate).
      clusters: number of clusters, if near-duplicates were searched.
    """
    documents, near = ledger.pairs("documents"), ledger.pairs("near")
    rows = [
        {"data_set": data_set, "split": split, "documents": number, "near": near.get(key, 0)}
        for key in sorted(documents)
        for (data_set, split), number in [(key, documents[key])]
    ]
    rejected = sum_of(ledger.pairs("left_out").values())
    kept, lost = sum(documents.values()), sum(rejected.values())
    counts: dict[str, Any] = {
        "documents_read": kept + lost,
        "kept": kept,
        "rejected": {"total": lost, **rejected},
    }
    if ledger.has("clusters"):
        files = [file for file in ledger.values(OUTPUTS) if file.format == "parquet"]
        counts["pairs"] = sum(file.records for file in files)
        counts["clusters"] = ledger.number("clusters")
    stats = {"data_sets": rows, **counts}
    table = make_table(
        ["data set", "split", "documents", "with a near-duplicate"], (row.values() for row in rows)
    )
    return Accounts(counts, stats, table)
