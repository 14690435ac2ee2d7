"""Entry point of `python -m corpusmill`."""

import runpy

runpy.run_module("corpusmill.pipelines", run_name="__main__", alter_sys=True)
