"""Settings: a field says what its flag, its checks, the edition and the manifest are."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from corpusmill.pipelines.run import settings
from tests.tools.case_tables import read_cases
from tests.tools.write_settings_page import PAGE, render_page

FORM = settings.Group("form", "about the form", settings.EDITION)


@dataclasses.dataclass(frozen=True)
class FormConfig(settings.Config):
    files: Sequence[str] = settings.Group().setting(help="what is read")
    size: int = FORM.setting(3, "N words (default %(default)s)", at_least=2, at_most=9)
    style: str = FORM.setting("plain", "how", choices=("plain", "bold"))
    is_titled: bool = FORM.setting(True, "without a title")
    limit: int = settings.Group("rest").limit("lines")
    width: int = FORM.setting(80, part_of=settings.MANIFEST)  # without a flag


def parse(*words: str) -> FormConfig:
    parser = argparse.ArgumentParser()
    settings.add_settings(parser, FormConfig)
    return FormConfig(**settings.settings_of(FormConfig, parser.parse_args(words)))


def test_flags_are_made_of_fields() -> None:
    assert parse("--files", "a", "b") == FormConfig(["a", "b"])
    given = parse(
        "--files", "a", "--size", "4", "--style", "bold", "--no-is-titled", "--limit", "7"
    )
    assert given == FormConfig(["a"], 4, "bold", is_titled=False, limit=7)


@pytest.mark.parametrize(
    "words", [[], ["--files"], ["--files", "a", "--limit", "0"], ["--files", "a", "--width", "9"]]
)
def test_wrong_flags_are_rejected(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(*words)


@pytest.mark.parametrize(
    ("given", "message"), read_cases("pipelines/settings", "wrong_values_are_rejected")
)
def test_wrong_values_are_rejected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        FormConfig(**{"files": ["a"], **given})


def test_editions_and_manifests_have_the_settings_that_are_part_of_them() -> None:
    usual = FormConfig(["a"])
    assert usual.edition() == "en"
    assert usual.variant() == {"size": 3, "style": "plain", "is_titled": True}
    assert usual.part(settings.MANIFEST) == {"width": 80}
    other = FormConfig(["a"], 4, "bold", is_titled=False, limit=2)
    assert other.edition() == "en-size-4-style-bold-no-is-titled-limit-2"


def test_the_page_of_settings_is_made_of_the_fields() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "python -m tests.tools.write_settings_page"
