"""An Airflow 3 DAG that refreshes corpora every night.

Optional Airflow variables:
  corpusmill_command   path of the program `corpusmill` on the Airflow worker
  corpusmill_config    path of refresh.toml on the Airflow worker
"""

import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Asset

ANOTHER_IS_AT_WORK = 75

# Starts DAGs that train: schedule=[Asset("corpusmill")]. The asset is updated after every successful refresh,
# even without a new edition. The file CURRENT names the current edition.
CORPORA = Asset("corpusmill")

COMMAND = "{{ var.value.get('corpusmill_command', '/opt/corpusmill/bin/corpusmill') }}"
CONFIG = "{{ var.value.get('corpusmill_config', '/etc/corpusmill/refresh.toml') }}"

with DAG(
    "corpusmill_refresh",
    description="Refreshes corpora from their sources",
    schedule="17 3 * * *",
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    catchup=False,  # a refresh always builds the newest dump, so missed nights need no run
    max_active_runs=1,
    tags=["corpusmill"],
    doc_md=__doc__,
):
    # One task for all corpora: `refresh` runs them in order, because the languages need the entity table. If
    # one fails, it continues with the next. It opens at most two connections to the servers; parallel tasks
    # could not ensure this limit.
    BashOperator(
        task_id="refresh",
        # exec: corpusmill replaces the shell, so it receives the signal when the task is stopped.
        bash_command=f"exec '{COMMAND}' refresh --config '{CONFIG}'",
        append_env=True,
        skip_on_exit_code=ANOTHER_IS_AT_WORK,
        # The server may be available again after half an hour, and a retry continues a killed refresh.
        retries=1,
        retry_delay=datetime.timedelta(minutes=30),
        outlets=[CORPORA],
    )
