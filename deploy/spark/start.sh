#!/bin/sh
# Starts a standalone Spark cluster on this machine: a master, two nodes, Beam's job server and a pool of
# workers. Returns when all of them are ready. stop.sh stops it. Settings: settings.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/settings.sh"

if [ -e "$STATE/$MARK" ]; then
    echo "start.sh: a cluster is already running in $STATE; stop it with stop.sh" >&2
    exit 1
elif [ -e "$STATE" ]; then
    echo "start.sh: $STATE exists and is not the folder of a cluster: set STATE to a folder that does not exist" >&2
    exit 1
fi
SPARK_HOME=${SPARK_HOME:-$("$PYTHON" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')}
export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_CONF_DIR="$STATE/conf"
(umask 077 && mkdir -p "$STATE")
mkdir "$STATE/conf" "$STATE/tmp"
: >"$STATE/$MARK"
trap '"$here/stop.sh" >&2; exit 1' INT TERM
python=$("$PYTHON" -c 'import sys; print(sys.executable)')
master=spark://127.0.0.1:$MASTER_PORT
CORPUSMILL_SECRET=${CORPUSMILL_SECRET:-$("$python" -c 'import secrets; print(secrets.token_hex(32))')}
export CORPUSMILL_SECRET
(umask 077 && echo "$CORPUSMILL_SECRET" >"$STATE/secret")

# started NAME COMMAND…: starts a process in its own process group, which stop.sh kills.
started() {
    name=$1
    shift
    TMPDIR="$STATE/tmp" setsid "$@" >"$STATE/$name.log" 2>&1 </dev/null &
    echo $! >"$STATE/$name.pid"
}

# waits_for NAME PYTHON: waits until the expression is true; stops the cluster if the process has ended.
waits_for() {
    "$python" - "$(cat "$STATE/$1.pid")" "$READY_SECONDS" "$2" <<'PYTHON' && return
import json, os, socket, sys, time, urllib.request

def answers(port):
    socket.create_connection(("127.0.0.1", port), 1).close()
    return True

def nodes(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as answer:
        return json.load(answer)["aliveworkers"]

pid, seconds, expression = sys.argv[1:]
due = time.monotonic() + float(seconds)
while time.monotonic() < due:
    os.kill(int(pid), 0)
    try:
        if eval(expression):
            sys.exit()
    except OSError:
        pass
    time.sleep(0.2)
sys.exit(1)
PYTHON
    echo "start.sh: $1 did not start:" >&2
    tail -n 20 "$STATE/$1.log" >&2
    "$here/stop.sh" >&2
    exit 1
}

# Starts a Python worker on a node if the client names this file; an installed corpusmill has its own command.
cat >"$STATE/corpusmill-worker" <<SH
#!/bin/sh
PYTHONPATH='${PYTHONPATH:-}' exec '$python' -m corpusmill.pipelines.run.engines.worker "\$@"
SH
chmod +x "$STATE/corpusmill-worker"

started master "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host 127.0.0.1 --port "$MASTER_PORT" --webui-port "$MASTER_WEB_PORT"
waits_for master "nodes($MASTER_WEB_PORT) == 0"
number=0
while [ "$number" -lt "$NODES" ]; do
    number=$((number + 1))
    started "node-$number" "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker \
        --host 127.0.0.1 --port 0 --webui-port 0 --cores "$CORES" --memory "$MEMORY" \
        --work-dir "$STATE/work-$number" "$master"
done
started job-server "$python" -m corpusmill.pipelines.run.engines.spark_job_server \
    --spark-master-url "$master" --port "$JOB_PORT" "-Dspark.executor.memory=$MEMORY" $JOB_SERVER_FLAGS
started pool "$python" -m corpusmill.pipelines.run.engines.worker_pool --port "$POOL_PORT"
waits_for node-1 "nodes($MASTER_WEB_PORT) == $NODES"
waits_for job-server "answers($JOB_PORT)"
waits_for pool "answers($POOL_PORT)"
cat <<TEXT
The cluster runs: $NODES nodes, $CORES core(s) and $MEMORY each; logs in $STATE.
  export CORPUSMILL_SECRET=\$(cat $STATE/secret)
  corpusmill … --runner SparkRunner --spark_master_url $master       a job server for each build
  corpusmill … --runner SparkRunner --job_endpoint 127.0.0.1:$JOB_PORT   the one that runs
  …  --environment_type EXTERNAL --environment_config 127.0.0.1:$POOL_PORT   with workers of the pool
$here/stop.sh ends it.
TEXT
