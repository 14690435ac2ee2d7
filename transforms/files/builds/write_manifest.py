"""Writes stats.json, README.md, the metadata for TFDS and manifest.json of a build.

They are made from the ledger of the build: all counts and file lists that its stages have collected.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsDict

from ..distribution import transform
from ..read_files import InputError
from ..records import OutputFile
from ..write_files import write_text
from .dataset_card import make_card, make_texts
from .ledger import (
    INPUTS,
    LOST,
    OUTPUTS,
    UNREAD,
    AccountFor,
    Entry,
    Ledger,
    NothingLeftError,
    names_of,
)
from .manifest import CARD, MANIFEST, Description, Provenance, add_outputs, assemble, to_json


@transform
def Enter(
    accounts: Mapping[str, beam.PCollection | tuple[beam.PCollection, ...]],
    *ledgers: beam.PCollection,
) -> beam.PCollection:
    """Collects counts and lists for the manifest of a build, each under a name (an account).

    {account: PCollection or tuple of PCollections} → PCollection[Entry], the ledger of the build. The
    integers of an account are added up later. Other values are collected in a list, which must fit in the
    memory of one worker.

    Args:
      *ledgers: ledgers of earlier stages, whose entries are included.
    """
    entered = [
        values | f"Enter {account} {number}" >> beam.Map(enter, account).with_output_types(Entry)
        for account, several in accounts.items()
        for number, values in enumerate(several if isinstance(several, tuple) else (several,))
    ]
    return (*ledgers, *entered) | "Entries" >> beam.Flatten()


@transform
def WriteManifest(
    ledger: beam.PCollection,
    folder: str,
    provenance: Provenance,
    description: Description,
    account_for: AccountFor,
) -> beam.PCollection:
    """Writes the manifest, the card and other descriptions of a build.

    PCollection[Entry], the ledger of the build (see Enter) → PCollection[OutputFile].

    Raises AccountingError if the counts do not add up, and InputError if all records of the input were
    rejected.

    Args:
      folder: output folder of the build.
      provenance: facts about the build that are known before it runs.
      description: description of the corpus for the card and for TFDS.
      account_for: function that computes the counts, statistics and card sections of the corpus from the
        ledger.
    """
    accounts = ledger | "AddUp" >> beam.CombinePerKey(add_up)
    known = provenance, description, account_for
    return (
        ledger.pipeline
        | "Once" >> beam.Create([folder])
        | "WriteManifest" >> beam.FlatMap(write_manifest, *known, AsDict(accounts))
    )


def enter(value: Any, account: str) -> Entry:
    """Returns the entry for a value: (account, value) for an integer, (account, [value]) for other values.

    An account is the name under which values are added up or collected (see Enter).
    """
    return account, value if type(value) is int else [value]


def add_up(entered: Iterable[int | list[Any]]) -> int | list[Any]:
    """Adds up the integers that were entered under one name, or joins the lists into one list."""
    numbers, values = 0, []
    for one in entered:
        if isinstance(one, list):
            values += one
        else:
            numbers += one
    return values or numbers


def write_manifest(
    folder: str,
    provenance: Provenance,
    description: Description,
    account_for: AccountFor,
    entered: Mapping[str, Any],
) -> Iterator[OutputFile]:
    """Checks the counts of a build, and writes its manifest and other descriptions.

    Args:
      folder: output folder of the build.
      provenance: facts about the build that are known before it runs.
      description: description of the corpus for the card and for TFDS.
      account_for: function that computes the counts, statistics and card sections of the corpus from the
        ledger.
      entered: name of a count or list of the ledger → its sum or its values, from `add_up`.
    """
    ledger = Ledger(entered)
    inputs, outputs = ledger.values(INPUTS), ledger.values(OUTPUTS)
    try:
        accounts = account_for(ledger, provenance)
    except NothingLeftError as error:
        raise InputError(names_of(inputs, error.roles), error.reason) from error
    caveats = (*provenance.caveats, *accounts.caveats)
    if unread := ledger.number(UNREAD):
        caveats += (
            f"Malformed records of tables or catalogues were not used: {unread:,}, see `rejected/`.",
        )
    known = provenance._replace(caveats=caveats)
    lost = [one._asdict() for one in ledger.values(LOST)]
    manifest = assemble(known, inputs, accounts.counts, lost, outputs) | dict(accounts.findings)
    if accounts.license_id:
        description = description._replace(license_id=accounts.license_id)
    card = make_card(description, manifest, accounts.sections)
    texts = make_texts(known, description, accounts.stats, card, outputs)
    written = [
        write_text(folder, name, text, "card" if name == CARD else "json")
        for name, text in texts.items()
    ]
    yield from written
    yield write_text(folder, MANIFEST, to_json(add_outputs(manifest, written)), "json")
