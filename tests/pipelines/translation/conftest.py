"""Fixtures that the tests of the translation workflow share."""

import os
from fractions import Fraction
from pathlib import Path

import pytest

from corpusmill.pipelines.translation import journal
from corpusmill.pipelines.translation.project import Project
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.offices import Office
from tests.pipelines.translation.small_projects import TIME, find_bad, small_project, use_checks


@pytest.fixture(autouse=True)
def quick_and_steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick checks and a clock that stands."""
    use_checks(monkeypatch, find_bad)
    monkeypatch.setattr(journal, "now", lambda: TIME)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a test outlives no power cut


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project of eight sentences, of which half are reviewed; nothing is sent yet."""
    return small_project(tmp_path / "project", review_share=Fraction(1, 2))


@pytest.fixture
def sent(project: Project) -> Project:
    """The same, sent for French."""
    send_packets(project, [find_language("fra")])
    return project


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A project manager; nothing is made yet."""
    return Office(tmp_path)
