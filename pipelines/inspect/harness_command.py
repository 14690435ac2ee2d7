r"""Writes task files for lm-evaluation-harness, which evaluate a model on finished builds.

examples:
  Tasks of all languages, and a run of one task:
    corpusmill harness corpora/wiki40b --output tasks
    lm_eval --include_path tasks --tasks corpusmill_wiki40b_uk_test \
      --model hf --model_args pretrained=gpt2
  Tasks that others can run, for a data set on the Hugging Face hub:
    corpusmill harness corpora/wiki40b --output tasks --repo me/wiki40b

For each edition at or below DIR, the current build is used; without a current build, the newest one. The task
measures word perplexity, byte perplexity and bits per byte of a whole split. It uses the build's own counts
of words and bytes, so the results equal those of `corpusmill score`. With --limit of the harness, the results
are only estimates.
The tag corpusmill_wiki40b selects the tasks of all languages.
"""

import argparse
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_folders


def add(commands: Commands) -> None:
    """Adds the command `corpusmill harness` to the parser."""
    about = "writes task files for lm-evaluation-harness from finished builds"
    parser = add_command(commands, "harness", about, __doc__, _run)
    add_folders(parser, "builds, or folders with builds below")
    flags = Flags(parser)
    flags.text("--output", "DIR", "folder for the task files", required=True)
    flags.text("--split", "SPLIT", "split of the builds (default %(default)s)", default="test")
    flags.text("--repo", "REPO", "data set on the hub that contains the builds: owner/name")
    parser.set_defaults(extras=[])


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.share_harness import write_tasks

    for name in write_tasks(settings.folders, settings.output, settings.split, settings.repo):
        print(name)
