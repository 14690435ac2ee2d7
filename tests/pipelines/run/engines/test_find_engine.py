"""Engines by the name of a runner, and the options with which they make pipelines."""

from typing import Any

from corpusmill.pipelines.run.engines.run_pipeline import find_engine


def options_of(runner: str, workers: int, flags: list[str]) -> dict[str, Any]:
    engine = find_engine(runner, workers, flags)
    with engine.started() as started, started.pipeline() as pipeline:
        options: dict[str, Any] = pipeline.options.get_all_options(drop_default=True)
    return {
        name: options[name]
        for name in ("runner", "direct_num_workers", "job_name")
        if name in options
    }


def test_options_of_the_in_process_runner() -> None:
    assert options_of("in-process", 3, ["--job_name=x"]) == {
        "direct_num_workers": 3,
        "job_name": "x",
    }


def test_options_of_another_runner() -> None:
    assert options_of("FlinkRunner", 3, ["--job_name=x"]) == {
        "runner": "FlinkRunner",
        "job_name": "x",
    }
