"""The base class of the builds of all corpora.

Defines the stages of a build. Each stage is one pipeline, and writes files that later stages read.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.transforms.files.builds import manifest
from corpusmill.transforms.files.builds.finished_builds import Build, path_below
from corpusmill.transforms.files.builds.ledger import (
    INPUTS,
    OUTPUTS,
    REJECTED,
    UNREAD,
    AccountFor,
    Doubt,
)
from corpusmill.transforms.files.builds.write_manifest import Enter, WriteManifest
from corpusmill.transforms.files.read_files import HashInputs
from corpusmill.transforms.files.text import plain_date
from corpusmill.transforms.files.write_rows import CountReasons, WriteRejected

from .corpora import code_versions
from .settings import MANIFEST


class Place(NamedTuple):
    """The folders that a stage may write to, and the number of parts into which it divides its input."""

    folder: str  # the folder of the build; only the last stage writes into it
    # the folder for intermediate files of this stage; kept until the build is finished
    scratch: str
    stripes: int  # number of parts into which workers divide a file


class Stage(NamedTuple):
    """One pipeline of a build.

    The outcome of a stage is written to files, which later stages read. A build with the same settings, code
    and inputs does not run a finished stage again, so a killed build is resumed after its last finished
    stage.
    """

    name: str  # one word, "clean"; part of names of folders
    build: Callable[..., tuple[beam.PCollection | None, ...] | None]
    """Function (root, place, *outcomes of the earlier stages, in order) → outcome of the stage.

    An outcome is a NamedTuple of PCollections; a field may be None. The last stage, and any stage without
    outputs, returns None. A field of an earlier outcome is read from files when it is first accessed.
    """


class CorpusBuild:
    """Base class of builds. It defines the folder, the inputs, the settings and the manifest of a build.

    A subclass for a corpus checks its inputs and defines the stages that run.
    """

    config: Any
    release: manifest.Release
    description: manifest.Description
    libraries: Sequence[str] = ()  # names of libraries, in addition to those that every build uses
    unheld: Collection[str] = ()  # roles of the inputs whose size does not affect the needed memory
    lang = ""  # language in the signature; "" for builds without variants

    @property
    def edition(self) -> str:
        """The name of the edition: the language, and the settings that differ from those of the original
        corpus.
        """
        return str(self.config.edition())

    @property
    def dump_date(self) -> str:
        """The date in the name of the build.

        It is the date in the settings, or else the date in the names of the inputs, or else "undated".
        """
        return plain_date(self.config.dump_date) or self.date_of_inputs() or "undated"

    def date_of_inputs(self) -> str:
        """Returns the date in the names of the input files; "" if there is none."""
        raise NotImplementedError

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the build below the output folder, in parts: ("wiki40b", "uk", "20261101-1.3.0").

        Raises ValueError if the name of the edition, or the date, cannot be the name of a folder.
        """
        manifest.check_name("the name of the edition", self.edition)
        manifest.check_name("dump_date", self.dump_date)
        return self.release.corpus, self.edition, f"{self.dump_date}-{self.release.version}"

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns role (such as "dump") → paths of the input files that determine the output."""
        raise NotImplementedError

    def stages(self) -> Sequence[Stage]:
        """Returns the stages of the build, in order."""
        raise NotImplementedError

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the size of the input, for the display, if a file is divided into `stripes` parts."""
        raise NotImplementedError

    def listed_sums(self) -> Mapping[str, str]:
        """Returns path → SHA-256 of input files, from the checksum lists beside them.

        Raises InputError for lists that cannot be read.
        """
        return {}

    def caveats(self) -> tuple[str, ...]:
        """Returns caveats: sentences about facts that are missing because an input was not given."""
        return ()

    def doubts(self) -> Sequence[Doubt]:
        """Returns doubts about the inputs, such as a wrong language, after a quick check (see
        ledger.py).
        """
        return ()

    def variant(self) -> Mapping[str, Any]:
        """Returns the settings that distinguish corpora made from the same input."""
        variant: Mapping[str, Any] = self.config.variant()
        return variant

    def settings(self) -> Mapping[str, Any]:
        """Returns all settings that influence the bytes of the output."""
        return {**self.variant(), **self.config.part(MANIFEST)}

    def signature_settings(self) -> Mapping[str, str]:
        """Returns name → value of the settings in the build's signature, in the order of the signature.

        The signature is a line that identifies the build: "wiki40b|lang:uk|dump:20261101|v:1.3.0". The
        settings are the language and those that distinguish builds from the same input (see `variant`).
        """
        if not self.lang:
            return {}
        return {"lang": self.lang, **manifest.name_variant(self.variant())}

    def provenance(self) -> manifest.Provenance:
        """Returns the facts for the manifest that are known before the build runs."""
        return manifest.Provenance(
            corpus=self.release.corpus,
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
        """Returns name → value of the metadata in each Parquet file of the build.

        They are the signature (a line that identifies the build), the version and the license. With them, a
        copy of a file still shows which build it came from.
        """
        license_id = self.description.license_id
        licenses = [license_id] if isinstance(license_id, str) else license_id
        return {
            "signature": self.provenance().signature,
            "version": self.release.version,
            "license": " or ".join(licenses),
        }

    def open_ledger(self, root: beam.Pipeline, **accounts: beam.PCollection) -> beam.PCollection:
        """Opens the ledger, which collects the counts and findings of all stages of the build.

        The first entries are the hashes of the input files, and `accounts`, the entries of the first stage.

        Args:
          accounts: Name of an account → PCollection with its entries. An account is either a count, which is
            the sum of its entries, or a list of findings, which contains its entries.

        Returns a PCollection[Entry].
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
        """Writes the last files of a build: rejected items, manifest, statistics and card.

        Args:
          folder: The folder of the build.
          ledger: PCollection[Entry] from the earlier stages.
          account_for: Function that makes the counts and tables of the manifest from the ledger.
          outputs: PCollections of OutputFile.
          rejected: PCollection[Rejected]. Rejected items count as input. None if the build rejects nothing.
          unread: PCollection[Rejected] of malformed records in tables that are not part of the corpus, such
            as a catalogue. They are listed and counted, but do not count as input.
          accounts: Further entries for the ledger: name of an account (a count, or a list of findings) →
            PCollection, or PCollections, with its entries.
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


class BuildOfBuild(CorpusBuild):
    """Base class of builds that are made of one finished build."""

    build: Build

    @property
    def dump_date(self) -> str:
        """The dump date of the finished build."""
        return self.build.dump_date

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns the path of the manifest of the finished build, which contains the hashes of its files.

        The key is the signature of the build, a line that identifies it.
        """
        return {self.build.signature: [path_below(self.build.folder, manifest.MANIFEST)]}

    def settings(self) -> Mapping[str, Any]:
        of = self.build
        builds = {of.edition: of.sha256}
        return {"build": of.signature, "builds": builds, "language": of.language}

    def signature_settings(self) -> Mapping[str, str]:
        of = f"{self.build.corpus}-{self.build.manifest['version']}"
        return {"lang": self.build.language, "of": of}
