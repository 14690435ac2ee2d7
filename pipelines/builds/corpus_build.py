"""The common part of the builds of all corpora: their folders, and the manifest before they run."""

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
    """One build: its inputs, found and looked at, and its stages. Base of the methods."""

    config: Any
    release: Release
    description: Description
    libraries: Sequence[str] = ()  # that decide about the bytes, beside those of every build
    kind = ""  # in the manifest, where it is not the corpus
    unheld: Collection[str] = ()  # roles of inputs whose size does not matter for the memory needed
    lang = ""  # in the signature; "" for builds that have no variants

    @property
    def edition(self) -> str:
        """The language, and what differs from the original."""
        return str(self.config.edition())

    @property
    def dump_date(self) -> str:
        """The date of the inputs, unless the settings give one."""
        return plain_date(self.config.dump_date) or self.date_of_inputs() or "undated"

    def date_of_inputs(self) -> str:
        """The date that the inputs have by their names, or ""."""
        raise NotImplementedError

    @property
    def path(self) -> tuple[str, ...]:
        """The folder of the build below the output folder: corpus, edition, date and version."""
        return self.release.corpus, self.edition, f"{self.dump_date}-{self.release.version}"

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        raise NotImplementedError

    def listed_sums(self) -> Mapping[str, str]:
        """Path → SHA-256 that inputs must have by the lists beside them. Raises InputError."""
        return {}

    def caveats(self) -> tuple[str, ...]:
        """The facts that this build cannot know because an input is missing."""
        return ()

    def doubts(self) -> Sequence[Doubt]:
        """The doubts that the inputs raise before they are read as a whole."""
        return ()

    def variant(self) -> Mapping[str, Any]:
        """The settings that make another corpus of the same input."""
        variant: Mapping[str, Any] = self.config.variant()
        return variant

    def settings(self) -> Mapping[str, Any]:
        """Every setting that decides about the bytes."""
        raise NotImplementedError

    def signature_settings(self) -> Mapping[str, str]:
        """The settings that distinguish a variant, in order."""
        return {"lang": self.lang, **name_variant(self.variant())} if self.lang else {}

    def provenance(self) -> Provenance:
        """The part of the manifest that is known before the build runs."""
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
        """The key-value metadata of each Parquet file: a file that was copied says where it is from."""
        license_id = self.description.license_id
        licenses = [license_id] if isinstance(license_id, str) else license_id
        return {
            "signature": self.provenance().signature,
            "version": self.release.version,
            "license": " or ".join(licenses),
        }

    def open_ledger(self, root: beam.Pipeline, **accounts: beam.PCollection) -> beam.PCollection:
        """PCollection[Entry] of the first stage: the inputs, and accounts by their names (see ledger.py)."""
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
        """Writes what is rejected, and what the build says of itself.

        Args:
          folder: of the build.
          ledger: of the stages before.
          outputs: of OutputFile.
          rejected: of Rejected, which are accounted for; None of a build that rejects nothing.
          unread: of Rejected, too, which are only listed and counted: records of tables beside the corpus.
          accounts: further ones, by their names.
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
