"""Packs the package `corpusmill` for workers on other machines."""

import contextlib
import importlib.metadata
import pathlib
import tempfile
import zipfile
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.run.extras import libraries_of_workers

NAME = "corpusmill"
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
_INSTALLERS_OWN = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")


@contextlib.contextmanager
def worker_package(corpus: str = "") -> Iterator[Sequence[str]]:
    """Yields the Beam flags that upload this package to workers.

    The flags must be used in the `with` block, because files that they name are deleted afterwards.

    If corpusmill runs from a checkout, the package is built with setup.py. Otherwise, the installed package
    is packed as a wheel.

    Args:
      corpus: The corpus that the workers build. They also install its libraries.

    Raises ValueError if there is neither a checkout nor an installation.
    """
    setup = CHECKOUT / "setup.py"
    with tempfile.TemporaryDirectory(prefix="corpusmill-package-") as name:
        folder = pathlib.Path(name)
        flags = [f"--setup_file={setup}"]
        if not setup.exists():
            flags = [f"--extra_package={pack_installed(folder)}"]
        if libraries := libraries_of_workers(corpus):
            file = folder / "requirements.txt"
            file.write_text("".join(f"{library}\n" for library in libraries), "utf-8")
            # The workers download the libraries from the package index.
            flags += [f"--requirements_file={file}", "--requirements_cache=skip"]
        yield flags


def pack_installed(folder: pathlib.Path) -> pathlib.Path:
    """Writes the installed package as a wheel into `folder`. Returns the path of the wheel.

    Raises ValueError if corpusmill is not installed as a package.
    """
    try:
        installed = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        installed = None
    # An editable installation has its files elsewhere, next to a setup.py.
    if not installed or not installed.files:
        raise ValueError(
            f"{NAME} is not installed as a package: set --setup_file or --sdk_container_image"
        )
    wheel = folder / f"{NAME}-{installed.version}-py3-none-any.whl"
    record = f"{NAME}-{installed.version}.dist-info/RECORD"
    kept = [file for file in installed.files if _is_of_wheel(file)]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in kept:
            archive.write(str(file.locate()), file.as_posix())
        archive.writestr(
            record, "".join(f"{line}\n" for line in [*map(_record, kept), f"{record},,"])
        )
    return wheel


def _is_of_wheel(file: importlib.metadata.PackagePath) -> bool:
    is_inside = not file.is_absolute() and ".." not in file.parts
    return is_inside and file.suffix != ".pyc" and file.name not in _INSTALLERS_OWN


def _record(file: importlib.metadata.PackagePath) -> str:
    """Returns the line for a file in RECORD, the wheel's list of files: name, hash, size in bytes."""
    name = file.as_posix()
    quoted = f'"{name}"' if "," in name else name
    digest = f"{file.hash.mode}={file.hash.value}" if file.hash else ""
    return f"{quoted},{digest},{file.size or ''}"
