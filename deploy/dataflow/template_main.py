"""Entry point of the launcher of a Flex template (FLEX_TEMPLATE_PYTHON_PY_FILE)."""

from pipelines.commands.dataflow_template import main

main()
