# Settings of the cluster on this machine, for start.sh and stop.sh. Environment variables override them.
STATE=${STATE:-${TMPDIR:-/tmp}/corpusmill-spark-cluster}  # process ids, logs, work folders
MARK=corpusmill-spark-cluster                             # file that marks such a folder
PYTHON=${PYTHON:-python3}                                 # of an environment with corpusmill[spark,all]
NODES=${NODES:-2}
CORES=${CORES:-1}                                         # of each node
MEMORY=${MEMORY:-1g}                                      # of each node's executor
MASTER_PORT=${MASTER_PORT:-7077}
MASTER_WEB_PORT=${MASTER_WEB_PORT:-7078}
JOB_PORT=${JOB_PORT:-8099}                                # of the job server
JOB_SERVER_FLAGS=${JOB_SERVER_FLAGS:-}                    # of its JVM: -Xmx8g, Spark's settings as -Dspark.…
POOL_PORT=${POOL_PORT:-50000}                             # of the pool of workers
READY_SECONDS=${READY_SECONDS:-120}
