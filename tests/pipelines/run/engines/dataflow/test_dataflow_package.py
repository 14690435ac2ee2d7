"""The package as workers on other machines get it."""

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from apache_beam.runners.portability.stager import SKIP_REQUIREMENTS_CACHE

from corpusmill.pipelines.run.engines import dataflow
from corpusmill.pipelines.run.engines.dataflow import pack_installed, worker_package

FILES = {
    "pipelines/cli.py": b"VERSION = 1\n",
    "transforms/text/x, y.toml": "[größe]\n".encode(),
    "corpusmill-9.8.dist-info/METADATA": b"Metadata-Version: 2.1\nName: corpusmill\nVersion: 9.8\n",
    "corpusmill-9.8.dist-info/WHEEL": (
        b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    ),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where corpusmill is installed as pip does it."""
    folder = tmp_path / "site-packages"
    lines = [
        "../../bin/corpusmill,sha256=x,9",
        "corpusmill-9.8.dist-info/INSTALLER,,",
        "corpusmill-9.8.dist-info/RECORD,,",
        "pipelines/__pycache__/cli.cpython-311.pyc,,",
    ]
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f'"{name}",sha256={digest},{len(content)}')
    (folder / "corpusmill-9.8.dist-info" / "RECORD").write_text("\n".join(lines), "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(dataflow, "CHECKOUT", folder)
    return folder


def test_an_installed_package_is_sent_as_the_wheel_that_it_was(
    installed: Path, tmp_path: Path
) -> None:
    with worker_package() as (flag,):
        name, _, wheel = flag.partition("=")
        assert name == "--extra_package"
        target = tmp_path / "worker"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        subprocess.run([*pip, "--no-compile", "--target", str(target), wheel], check=True)
    assert not Path(wheel).exists()
    for file, content in FILES.items():
        assert (target / file).read_bytes() == content
    assert not (target / "pipelines" / "__pycache__").exists()


def test_a_checkout_is_sent_by_its_setup_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataflow, "CHECKOUT", tmp_path)
    (tmp_path / "setup.py").touch()
    with worker_package() as flags:
        assert flags == [f"--setup_file={tmp_path / 'setup.py'}"]


def test_without_a_package_the_flags_must_say_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataflow, "NAME", "corpusmill-that-nobody-has-installed")
    with pytest.raises(ValueError, match="set --setup_file or --sdk_container_image"):
        pack_installed(tmp_path)


def test_workers_install_the_libraries_of_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataflow, "CHECKOUT", tmp_path)
    (tmp_path / "setup.py").touch()
    with worker_package("lm1b") as flags:
        assert flags == [f"--setup_file={tmp_path / 'setup.py'}"]
    with worker_package("simplebooks") as (_, listed, cache):
        assert Path(listed.removeprefix("--requirements_file=")).read_text() == (
            "spacy>=3.8,<3.9\n"
        )
        assert cache == f"--requirements_cache={SKIP_REQUIREMENTS_CACHE}"
