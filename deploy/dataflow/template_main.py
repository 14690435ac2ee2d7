"""Entry point of the program that Dataflow runs to start a Flex template (FLEX_TEMPLATE_PYTHON_PY_FILE)."""

from pipelines.commands.dataflow_template import main

main()
