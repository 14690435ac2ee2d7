#!/bin/sh
# Creates an environment for train_lm.py:
#     make_environment.sh FOLDER         torch for the GPUs of this machine, about 5 GB
#     make_environment.sh FOLDER cpu     torch for CPUs only, about 1 GB, from download.pytorch.org
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:-cpu}" != cpu ]; then
    echo "usage: make_environment.sh FOLDER [cpu]" >&2
    exit 2
fi
"${PYTHON:-python3}" -m venv "$1"
if [ "${2:-}" = cpu ]; then
    "$1/bin/pip" install --quiet 'torch>=2.6,<3' --index-url https://download.pytorch.org/whl/cpu ||
        echo "download.pytorch.org cannot be reached: torch is installed from PyPI" >&2
fi
# Installed libraries are kept. Another version of sentencepiece may split text differently than the build did.
"$1/bin/pip" install --quiet 'torch>=2.6,<3' 'numpy>=1.26' 'pyarrow>=14,<26' sentencepiece==0.2.3
"$1/bin/python" -c 'import torch; print("torch", torch.__version__, "on", torch.cuda.device_count(), "GPUs")'
