"""The nightly refresh as a DAG of Airflow 3.

Variables of Airflow, all of which may be missing:
  corpusmill_command   path of the command on the worker
  corpusmill_config    path of refresh.toml on the worker
"""

import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Asset

ANOTHER_IS_AT_WORK = 75

# DAGs that train are started by it: schedule=[Asset("corpusmill")]. It says that a refresh went well, not
# that there is a new edition; which edition there is stands in CURRENT.
CORPORA = Asset("corpusmill")

COMMAND = "{{ var.value.get('corpusmill_command', '/opt/corpusmill/bin/corpusmill') }}"
CONFIG = "{{ var.value.get('corpusmill_config', '/etc/corpusmill/refresh.toml') }}"

with DAG(
    "corpusmill_refresh",
    description="Corpora are made as new as their sources",
    schedule="17 3 * * *",
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    catchup=False,  # a refresh takes the newest there is: nights that were missed need none
    max_active_runs=1,
    tags=["corpusmill"],
    doc_md=__doc__,
):
    # One task for all corpora: `refresh` orders them (the languages join the entity table), goes on after one
    # that failed, and keeps their servers at two connections, which tasks beside each other could not.
    BashOperator(
        task_id="refresh",
        # exec: when the task is stopped, it is told itself.
        bash_command=f"exec '{COMMAND}' refresh --config '{CONFIG}'",
        append_env=True,
        skip_on_exit_code=ANOTHER_IS_AT_WORK,
        # A server may be back after half an hour, and a killed refresh goes on where it was.
        retries=1,
        retry_delay=datetime.timedelta(minutes=30),
        outlets=[CORPORA],
    )
