#!/usr/bin/env bash
# A job of `tidemark run hadoop` or `run spark` is killed before it reports its end. The console shows the
# outcome that YARN reports, or why YARN does not answer.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
cd "$work"

# A resource manager that answers with the file of the application.
cat >yarn.py <<'EOF'
import http.server, pathlib
class Yarn(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        file = pathlib.Path(self.path.rsplit("/", 1)[-1])
        self.send_response(200 if file.exists() else 404)
        self.end_headers()
        if file.exists(): self.wfile.write(file.read_bytes())
server = http.server.HTTPServer(("127.0.0.1", 0), Yarn)
print(server.server_port, flush=True)
server.serve_forever()
EOF
python3 yarn.py >port 2>yarn.err &
pids+=("$!")
wait_for 60 test -s port
yarn=127.0.0.1:$(cat port)

# Jars with the classes of the connectors.
python3 - <<'EOF'
import zipfile
for name, entries in {
    "hadoop": ["hadoop/TidemarkCollector", "hadoop/TidemarkShuffle", "hadoop/TidemarkPolicy"],
    "spark": ["spark/TidemarkPlugin", "spark/jvm/guard/Guard"],
}.items():
    with zipfile.ZipFile(name + ".jar", "w") as jar:
        for entry in entries: jar.writestr(f"org/tidemark/{entry}.class", b"x")
EOF
mkdir conf
site() {
  cat >conf/yarn-site.xml <<EOF
<configuration><property><name>yarn.resourcemanager.webapp.address</name><value>$1</value></property></configuration>
EOF
}
cat >ended_job <<'EOF'
# ended_job MASTER ID: runs a job that reports and is killed.
"$TIDEMARK" run example two-path --input "$DATA/graphs/musae-github.txt.zst" --output-format count --slots 1 \
  --reducers 2 --job-id "$2" --master "$1" -o quiet >/dev/null 2>&1 &
job=$!
until "$TIDEMARK" get jobs --master "$1" 2>/dev/null | grep -q "$2"; do sleep 0.1; done
workers=$(cat /proc/$job/task/*/children)
kill -9 $job $workers
EOF
cat >hadoop <<'EOF'
#!/usr/bin/env bash
master=$(grep -A1 '<name>tidemark.master<' "$HADOOP_CONF_DIR/mapred-site.xml" | sed -n 's/.*<value>\(.*\)<.value>.*/\1/p')
. "$HERE/ended_job" "$master" "$1"
exit "$2"
EOF
cat >spark-submit <<'EOF'
#!/usr/bin/env bash
for word in "$@"; do case $word in spark.tidemark.master=*) master=${word#*=} ;; esac; done
. "$HERE/ended_job" "$master" application_1700000000000_0003
echo "	 tracking URL: http://$YARN/proxy/application_1700000000000_0003/" >&2
EOF
chmod +x hadoop spark-submit
export TIDEMARK=$tidemark DATA=$data HERE=$work YARN=$yarn
unset YARN_CONF_DIR HADOOP_HOME SPARK_HOME SPARK_CONF_DIR

# ends EXIT_CODE WORDS COMMAND...: requires the exit code and the last words of the command.
ends() {
  local expected=$1 words=$2 code=0
  shift 2
  "$tidemark" run "$@" >out 2>err || code=$?
  [ "$code" = "$expected" ] || fail "exit code $code of run $*: $(cat err)"
  grep -qF -- "$words" err || fail "no \"$words\" in: $(cat err)"
}
app() {
  printf '{"app":{"state":"%s","finalStatus":"%s","startedTime":1700000000000,"finishedTime":1700000024000}}' \
    "$2" "$3" >"application_1700000000000_$1"
}

export HADOOP_CONF_DIR=$work/conf
site "$yarn"
app 0001 FINISHED SUCCEEDED
app 0002 KILLED KILLED
app 0003 FINISHED FAILED
ends 0 "two-path succeeded after 24" hadoop --jar hadoop.jar -o plain -- ./hadoop job_1700000000000_0001 0
grep -qF "according to YARN (application_1700000000000_0001: FINISHED, SUCCEEDED)" err || fail "$(cat err)"
if grep -q 'still running at its last report' err; then fail "it is shown as running: $(cat err)"; fi
ends 1 "job_1700000000000_0002 was killed after 24" hadoop --jar hadoop.jar -o jsonl -- \
  ./hadoop job_1700000000000_0002 1
ends 4 "two-path reported no end: the command exited with status 4, and the outcome in the cluster is unknown (" \
  hadoop --jar hadoop.jar -o plain -- ./hadoop job_1700000000000_0009 4
ends 0 "unknown (the job did not run on YARN)" hadoop --jar hadoop.jar -o plain -- ./hadoop job_local1_0001 0
# The master of the job is killed, so that only YARN can report the outcome.
start_master --data-dir "$work/data"
cat >losing <<'EOF'
#!/usr/bin/env bash
echo "INFO mapreduce.Job: Running job: $1" >&2
"$TIDEMARK" run example two-path --input "$DATA/graphs/musae-github.txt.zst" --output-format count --slots 1 \
  --reducers 2 --job-id "$1" --master "$2" -o quiet >/dev/null 2>&1 &
job=$!
until grep -q two-path "$HERE/err"; do sleep 0.1; done
kill -9 "$3" $job $(cat /proc/$job/task/*/children)
echo "INFO mapreduce.Job: Running job: job_1700000000000_0002" >&2
EOF
chmod +x losing
ends 0 "two-path succeeded after 24 s, according to YARN (application_1700000000000_0001: FINISHED, SUCCEEDED)" \
  hadoop --jar hadoop.jar -o plain --master "$master" -- ./losing job_1700000000000_0001 "$master" "$master_pid"
grep -qF "job_1700000000000_0002 was killed after 24" err || fail "no outcome of the next job: $(cat err)"
site 127.0.0.1:1
ends 0 "http://127.0.0.1:1/ws/v1/cluster/apps/application_1700000000000_0001" \
  hadoop --jar hadoop.jar -o plain -- ./hadoop job_1700000000000_0001 0
unset HADOOP_CONF_DIR
ends 0 "according to YARN (application_1700000000000_0003: FINISHED, FAILED)" spark --jar spark.jar -o plain -- \
  ./spark-submit app.py
echo ok
