"""The program that Dataflow runs when a Flex template is launched.

The environment variable FLEX_TEMPLATE_PYTHON_PY_FILE in the template's image has the path of this file.
"""

from corpusmill.pipelines.dataflow_template import main

main()
