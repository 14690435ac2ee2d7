"""Base class for the builds of all corpora: folders, ledgers and provenance."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.settings.dump_settings import name_variant
from transforms.builds.write_manifest import Enter, WriteManifest
from transforms.files.hash_inputs import HashInputs
from transforms.files.write_rejected import CountReasons, WriteRejected
from transforms.text.builds.build_manifest import Description, Provenance, Release
from transforms.text.builds.ledger import INPUTS, OUTPUTS, REJECTED, UNREAD, AccountFor
from transforms.text.builds.plausibility import Doubt
from transforms.text.files.dates import plain_date


class CorpusBuild:
    """Base class for builds. A build has checked inputs and stages."""

    config: Any
    release: Release
    description: Description
    libraries: Sequence[str] = ()  # besides those that every build uses
    kind = ""  # kind of build in the manifest; "" for the name of the corpus
    unheld: Collection[str] = ()  # roles of inputs whose size does not affect the memory needed
    lang = ""  # language in the signature; "" for builds without variants

    @property
    def edition(self) -> str:
        """Returns the name of the edition: the language and the settings that differ from the original
        corpus.
        """
        return str(self.config.edition())

    @property
    def dump_date(self) -> str:
        """Returns the date in the settings. If it is empty, returns the date of the inputs, or "undated"."""
        return plain_date(self.config.dump_date) or self.date_of_inputs() or "undated"

    def date_of_inputs(self) -> str:
        """Returns the date in the names of the inputs; "" if there is none."""
        raise NotImplementedError

    @property
    def path(self) -> tuple[str, ...]:
        """Returns the folder of the build below the output folder: corpus, edition, date and version."""
        return self.release.corpus, self.edition, f"{self.dump_date}-{self.release.version}"

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns role → paths, for all files that determine the output."""
        raise NotImplementedError

    def listed_sums(self) -> Mapping[str, str]:
        """Returns input path → SHA-256, from the checksum lists beside the inputs.

        Raises InputError for lists that cannot be read.
        """
        return {}

    def caveats(self) -> tuple[str, ...]:
        """Returns sentences that say what this build cannot know because an input was not given."""
        return ()

    def doubts(self) -> Sequence[Doubt]:
        """Returns the doubts (see plausibility.py) that a quick check of the inputs raises."""
        return ()

    def variant(self) -> Mapping[str, Any]:
        """Returns the settings that change the corpus made from the same input."""
        variant: Mapping[str, Any] = self.config.variant()
        return variant

    def settings(self) -> Mapping[str, Any]:
        """Returns every setting that influences the bytes of the output."""
        raise NotImplementedError

    def signature_settings(self) -> Mapping[str, str]:
        """Returns the settings that distinguish a variant, in the order in which the signature lists them."""
        return {"lang": self.lang, **name_variant(self.variant())} if self.lang else {}

    def provenance(self) -> Provenance:
        """Returns the part of the manifest that is known before the build runs."""
        return Provenance(
            corpus=self.kind or self.release.corpus,
            edition=self.edition,
            dump_date=self.dump_date,
            version=self.release.version,
            release_notes=self.release.notes,
            settings=self.settings(),
            caveats=self.caveats(),
            code=code_versions(*self.libraries),
            signature_settings=self.signature_settings(),
        )

    def marks(self) -> Mapping[str, str]:
        """Returns key-value metadata for each Parquet file, so that a copy of the file still shows its
        origin.
        """
        license_id = self.description.license_id
        licenses = [license_id] if isinstance(license_id, str) else license_id
        return {
            "signature": self.provenance().signature,
            "version": self.release.version,
            "license": " or ".join(licenses),
        }

    def open_ledger(self, root: beam.Pipeline, **accounts: beam.PCollection) -> beam.PCollection:
        """Returns a PCollection[Entry] with the inputs and with the accounts of the first stage (see
        ledger.py).

        Args:
          accounts: Name of the account → PCollection.
        """
        inputs = root | "HashInputs" >> HashInputs(self.inputs(), self.listed_sums())
        return {INPUTS: inputs, **accounts} | "OpenLedger" >> Enter()

    def close_ledger(
        self,
        folder: str,
        ledger: beam.PCollection,
        account_for: AccountFor,
        *,
        outputs: Sequence[beam.PCollection],
        rejected: beam.PCollection | None = None,
        unread: beam.PCollection | None = None,
        **accounts: beam.PCollection | tuple[beam.PCollection, ...],
    ) -> None:
        """Writes the rejected items, the manifest, the statistics and the card of the build.

        Args:
          folder: The folder of the build.
          ledger: PCollection[Entry] from the earlier stages.
          outputs: PCollections of OutputFile.
          rejected: PCollection[Rejected]. Rejected items count as input. None if the build rejects nothing.
          unread: PCollection[Rejected] of records that are only listed and counted, because their table is
            not part of the corpus.
          accounts: Name → PCollection, or PCollections, of a further account.
        """
        accounts[OUTPUTS] = tuple(outputs)
        if rejected:
            listed = (rejected, unread) | "Listed" >> beam.Flatten() if unread else rejected
            accounts[OUTPUTS] += (listed | "WriteRejected" >> WriteRejected(folder),)
            accounts[REJECTED] = rejected | "CountReasons" >> CountReasons()
        if unread:
            accounts[UNREAD] = unread | "CountUnread" >> beam.combiners.Count.Globally()
        entered = accounts | "Enter" >> Enter(ledger)
        _ = entered | "WriteManifest" >> WriteManifest(
            folder, self.provenance(), self.description, account_for
        )
