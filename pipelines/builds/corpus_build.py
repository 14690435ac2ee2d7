"""What the builds of all corpora have: where they go, and what their manifests say before they run."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.builds.provenance import code_versions
from transforms.text.builds.build_manifest import Provenance, Release


class CorpusBuild:
    """One build: its inputs, found and looked at, and its stages. Base of the methods."""

    config: Any
    release: Release
    libraries: Sequence[str] = ()  # that decide about the bytes, beside those of every build
    kind = ""  # in the manifest, where it is not the corpus

    @property
    def edition(self) -> str:
        """The language, and what differs from the original."""
        return str(self.config.edition())

    @property
    def dump_date(self) -> str:
        """The date of the inputs, unless the settings give one."""
        raise NotImplementedError

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, date and version."""
        return self.release.corpus, self.edition, f"{self.dump_date}-{self.release.version}"

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        return ()

    def settings(self) -> Mapping[str, Any]:
        """Every setting that decides about the bytes."""
        raise NotImplementedError

    def signature_settings(self) -> Mapping[str, str]:
        """What makes a variant, in order."""
        return {}

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
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
