"""Bars of the actions of a Spark application, from snapshots."""

import dataclasses
import logging
import subprocess
import sys
import threading
import time
import types
from datetime import timedelta

import pytest

import tidemark
from conftest import AT, Notebook, some_snapshot, wait_for
from tidemark import _actions, _program
from tidemark.job import Group, JobState, Range


def application(seconds, *groups):
    return some_snapshot(seconds=seconds, name="shell", groups=groups)


def action(name="sql/0", state=JobState.RUNNING, left=8.0, ended=None):
    return Group(
        group=name,
        name=f"query of {name}",
        state=state,
        fraction_done=0.3,
        started_at=AT,
        ended_at=None if ended is None else AT + timedelta(seconds=ended),
        ends_in=None if left is None else Range(*(timedelta(seconds=left * part) for part in (1, 0.75, 1.5))),
    )


class Client:
    """A client whose watch yields these snapshots."""

    address = "127.0.0.1:1"

    def __init__(self, snapshots):
        self._snapshots = snapshots

    def watch(self, *_, **__):
        return iter(self._snapshots)

    def close(self):
        self.is_closed = True


def drawn(monkeypatch, *snapshots, answer=None):
    """Returns the bundles that remain after the snapshots."""
    notebook = Notebook(monkeypatch)
    answers = [] if answer is None else [answer]
    monkeypatch.setattr(_program, "answers", lambda *_, **__: answers)
    monkeypatch.setattr(_actions, "_shell", lambda: None)
    _actions.Actions(Client(snapshots), "app-1", {})._thread.join(10)
    return [bundle["text/plain"] for bundle in notebook.shown]


def ended(name="sql/0", at=12.3, state=JobState.SUCCEEDED):
    return action(name, state, left=None, ended=at)


def test_an_action_has_a_bar_while_it_runs(monkeypatch):
    (text,) = drawn(monkeypatch, application(0), application(3, action()))
    assert text == "query of sql/0: ≈ 30 % (20–33), 3 s, ≈ 8 s left (6–12 s)"  # 3 of 15 s, 3 of 9 s


def test_an_action_leaves_its_duration_and_the_first_forecast_that_is_no_guess(monkeypatch):
    assert drawn(
        monkeypatch,
        application(0),
        application(3, action(left=8)),  # 3 s + 8 s
        application(9, action(left=2)),
        application(13, ended()),
    ) == ["✓ query of sql/0: 12 s, predicted 11 s"]
    guess = dataclasses.replace(action(left=90), basis=tidemark.Basis.GUESS)
    assert drawn(monkeypatch, application(0), application(2, guess), application(3, action()), application(13, ended())) == [
        "✓ query of sql/0: 12 s, predicted 11 s"
    ]


def test_each_action_has_its_own_line(monkeypatch):
    assert drawn(
        monkeypatch,
        application(0),
        application(2, action("sql/0"), action("sql/1")),
        application(4, ended("sql/0", 3.0), action("sql/1")),
        application(6, ended("sql/0", 3.0), ended("sql/1", 5.5)),
    ) == ["✓ query of sql/0: 3.0 s, predicted 10 s", "✓ query of sql/1: 5.5 s, predicted 10 s"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("showString at NativeMethodAccessorImpl.java:0", "show"),
        ("count at NativeMethodAccessorImpl.java:0", "count"),
        ("collect at /tmp/ipykernel_12/3456.py:1", "collect"),
        ("collect at <stdin>:1", "collect"),
        ("collect at /home/me/job.py:29", "collect at /home/me/job.py:29"),
    ],
)
def test_the_name_omits_a_place_that_names_no_line_of_the_user(monkeypatch, name, shown):
    group = dataclasses.replace(ended(at=2.5), name=name)
    assert drawn(monkeypatch, application(0), application(3, group)) == [f"✓ {shown}: 2.5 s"]


def test_short_and_earlier_actions_draw_nothing(monkeypatch):
    earlier = ended("sql/0", 30.0)
    assert drawn(monkeypatch, application(40, earlier), application(41, earlier, ended("sql/1", 0.9))) == []


def test_an_action_that_ends_between_two_snapshots_leaves_a_line(monkeypatch):
    assert drawn(monkeypatch, application(0), application(3, ended(at=2.5))) == ["✓ query of sql/0: 2.5 s"]


def test_a_failure_replaces_the_cause(monkeypatch):
    failed = dataclasses.replace(ended(state=JobState.FAILED), message="division by zero")
    answer = {"skew_seconds": 9.0, "longest_task": {"index": 1, "stage": 2, "seconds": 9, "mean_seconds": 1}}
    snapshots = [application(0), application(3, action()), application(13, failed)]
    assert drawn(monkeypatch, *snapshots, answer=answer) == ["✗ query of sql/0: 12 s, failed: division by zero"]


KEY = {"longest_task": {"index": 7, "stage": 2, "seconds": 6.0, "mean_seconds": 2.0, "group_bytes": 3_100_000}}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        # 4.92 s of 12.3 s
        ({"longest_task": {**KEY["longest_task"], "group_seconds": 4.92}}, "40 % of it in one key of 3.1 MB"),
        # The key took less than a tenth, and the skew 3.69 s of 12.3 s.
        (
            {"longest_task": {**KEY["longest_task"], "group_seconds": 1.0}, "skew_seconds": 3.69},
            "30 % of it because of skew: task 7 of stage 2 took 6.0 s (mean 2.0 s)",
        ),
        ({"longest_task": {**KEY["longest_task"], "group_seconds": 1.0}, "skew_seconds": 1.0}, ""),
        ({}, ""),
        ({"longest_task": {**KEY["longest_task"], "group_seconds": 99.0}}, "100 % of it in one key of 3.1 MB"),
    ],
)
def test_the_cause_is_a_large_key_or_else_the_skew(answer, text):
    assert _actions.cause_text(answer, timedelta(seconds=12.3)) == text


@pytest.mark.parametrize(("seconds", "text"), [(1.3, "waited 1.3 of 12 s for CPU on node-1"), (1.2, "")])
def test_the_cause_is_a_wait_of_a_tenth_of_the_time_without_skew(seconds, text):
    answer = {
        "query": "sql/0",
        "waits": {"slots": {"seconds": 0}, "processor": {"seconds": seconds}},
        "sentences": [f"sql/0 waited {seconds} of 12 s for CPU on node-1"],
    }
    assert _actions.cause_text(answer, timedelta(seconds=12.3)) == text


def test_an_action_without_a_duration_has_no_cause():
    answer = {"longest_task": {**KEY["longest_task"], "group_seconds": 4.0}}
    assert _actions.cause_text(answer, None) == _actions.cause_text(answer, timedelta()) == ""


def test_the_prompt_of_a_shell_waits_once_for_each_line():
    waits = []
    prompt = _actions._Prompt(">>> ", lambda: waits.append(1))
    assert str(_actions._Prompt(prompt, lambda: waits.append(2))) == ">>> "
    assert waits == [2]


def test_the_extension_reports_a_failure_once(monkeypatch, capsys):
    context = types.SimpleNamespace(applicationId="app-1")
    sql = types.SimpleNamespace(
        SparkSession=types.SimpleNamespace(getActiveSession=lambda: types.SimpleNamespace(sparkContext=context))
    )
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    monkeypatch.setattr(tidemark.spark, "_failed", set())

    def fail(_):
        raise ValueError("no jar")

    monkeypatch.setattr(tidemark.spark, "attach", fail)
    tidemark.load_ipython_extension(types.SimpleNamespace(events=types.SimpleNamespace(register=lambda *_: None)))
    tidemark.spark.attach_when_active()
    assert capsys.readouterr().err == "tidemark: cannot draw bars for this session: no jar\n"


class Remote:
    """A session of Spark Connect."""


Remote.__module__ = "pyspark.sql.connect.session"


def test_a_session_of_spark_connect_is_an_error_with_a_remedy():
    with pytest.raises(ValueError, match="tidemark spark conf"):
        tidemark.spark.attach(Remote())


@pytest.mark.parametrize("fault", [tidemark.UnreachableError("no master"), subprocess.TimeoutExpired("why", 2)])
def test_a_lost_or_late_answer_names_no_cause(monkeypatch, fault):
    def fail(*_, **__):
        raise fault

    notebook = Notebook(monkeypatch)
    monkeypatch.setattr(_program, "answers", fail)
    monkeypatch.setattr(_actions, "_shell", lambda: None)
    snapshots = [application(0), application(3, ended(at=2.5))]
    _actions.Actions(Client(snapshots), "app-1", {})._thread.join(10)
    assert notebook.shown[0]["text/plain"] == "✓ query of sql/0: 2.5 s"


class Snapshots:
    """A watch that yields what a test puts into it, until the test ends it."""

    def __init__(self):
        self._next = []
        self._changed = threading.Condition()

    def put(self, *snapshots):
        with self._changed:
            self._next += snapshots
            self._changed.notify_all()

    def __iter__(self):
        while True:
            with self._changed:
                assert self._changed.wait_for(lambda: self._next, 60)
                snapshot = self._next.pop(0)
            if snapshot is None:
                return
            yield snapshot


@pytest.fixture
def bars(monkeypatch):
    """Bars of an application with one running action, and the watch that feeds them."""
    Notebook(monkeypatch)
    monkeypatch.setattr(_actions, "_shell", lambda: None)
    monkeypatch.setattr(_program, "answers", lambda *_, **__: [])
    monkeypatch.setattr(_actions, "_LAST_LINES_WITHIN_S", 0.2)
    watch = Snapshots()
    made = _actions.Actions(Client(watch), "app-1", {})
    watch.put(application(0), application(3, action()))
    wait_for(lambda: made._bars)
    yield made, watch
    watch.put(None)
    made._thread.join(10)


def waited_s(made):
    """Returns the time that the end of a cell takes."""
    began = time.monotonic()
    made._wait_for_last_lines()
    return time.monotonic() - began


def test_an_action_of_a_thread_delays_one_cell_only(bars, monkeypatch):
    made, watch = bars
    assert waited_s(made) >= 0.2
    # Later cells would wait for minutes.
    monkeypatch.setattr(_actions, "_LAST_LINES_WITHIN_S", 600)
    made._wait_for_last_lines()
    watch.put(application(4, action(), action("sql/1")))
    wait_for(lambda: len(made._bars) == 2)
    watch.put(application(6, action(), ended("sql/1", 5.5)))
    made._wait_for_last_lines()
    assert list(made._bars) == ["sql/0"]


def test_a_cell_does_not_wait_while_spark_runs_jobs_of_others(bars, monkeypatch):
    made, _ = bars
    monkeypatch.setattr(_actions, "_LAST_LINES_WITHIN_S", 600)
    made._is_busy = lambda: True
    made._wait_for_last_lines()
    made._is_busy = lambda: 1 / 0  # The JVM has ended.
    made._wait_for_last_lines()


def test_a_cell_does_not_wait_for_a_slow_cause(bars, monkeypatch):
    made, watch = bars
    asked, answered = threading.Event(), threading.Event()
    monkeypatch.setattr(_program, "answers", lambda *_, **__: asked.set() or answered.wait(60) and [])
    watch.put(application(13, ended()))
    assert asked.wait(60)
    made._wait_for_last_lines()  # returns although the cause is still missing
    assert not answered.is_set() and made._bars
    answered.set()
    wait_for(lambda: not made._bars)


def test_bars_close_their_client_at_the_end(bars):
    made, watch = bars
    watch.put(None)
    made._thread.join(10)
    assert made._client.is_closed and not made.is_running()


def test_any_failure_of_a_bar_ends_the_bars_without_a_traceback(bars, capfd):
    made, watch = bars
    watch.put("no snapshot")
    made._thread.join(10)
    assert not made.is_running() and capfd.readouterr().err == ""


def test_the_first_trouble_is_logged_once(bars, caplog):
    made, _ = bars
    with caplog.at_level(logging.WARNING, "tidemark"):
        made._warn_once("cannot reach the master; retrying")
        made._warn_once("reconnected")
    assert [record.getMessage() for record in caplog.records] == [
        "no bars of app-1 at present: cannot reach the master; retrying"
    ]


class Context:
    """A running Spark context, with the settings of a session."""

    def __init__(self, **settings):
        self.applicationId = "app-1"
        self._settings = {"spark." + name.replace("_", "."): value for name, value in settings.items()}

    def getConf(self):
        return types.SimpleNamespace(get=lambda name, default=None: self._settings.get(name, default))


class Session:
    def __init__(self, context):
        self.sparkContext = context


@pytest.fixture
def attached(monkeypatch):
    """Records the listeners and the clients of attach(), whose bars end at once."""
    made = types.SimpleNamespace(listeners=[], clients=[])
    bars = types.SimpleNamespace(is_running=lambda: False)
    spark = tidemark.spark
    for name, value in (("_attached", {}), ("_reporting", {}), ("_failed", set())):
        monkeypatch.setattr(spark, name, value)
    monkeypatch.setattr(spark, "_add_listener", lambda _, settings: made.listeners.append(settings))
    monkeypatch.setattr(spark, "spark_conf", lambda **given: given["master"])
    monkeypatch.setattr(spark, "Client", lambda **given: made.clients.append(given))
    monkeypatch.setattr(spark, "Actions", lambda *_, **__: bars)
    return made


def test_attaching_again_adds_no_second_listener(attached):
    session = Session(Context())
    for master in ("a:1", "a:1", "b:1"):
        tidemark.spark.attach(session, master=master)
    assert attached.listeners == ["a:1", "b:1"] and len(attached.clients) == 3


def test_the_extension_attaches_once_to_each_application(attached, monkeypatch):
    monkeypatch.setenv("TIDEMARK_MASTER", "a:1")
    active = types.SimpleNamespace(getActiveSession=lambda: Session(Context()))
    monkeypatch.setitem(sys.modules, "pyspark.sql", types.SimpleNamespace(SparkSession=active))
    tidemark.spark.attach_when_active()
    tidemark.spark.attach_when_active()
    assert len(attached.clients) == 1


def test_a_session_with_the_plugin_is_read_with_its_own_token_and_certificates(attached, tmp_path):
    (tmp_path / "ca").write_text("")
    context = Context(
        plugins="org.tidemark.spark.TidemarkPlugin",
        tidemark_master="a:1",
        tidemark_token_file=str(tmp_path / "token"),
        tidemark_tls_ca=str(tmp_path / "ca"),
    )
    tidemark.spark.attach(Session(context))
    (client,) = attached.clients
    assert (client["master"], client["token_file"], client["tls_ca"]) == (
        "a:1",
        str(tmp_path / "token"),
        str(tmp_path / "ca"),
    )
    assert not attached.listeners


def test_the_extension_reports_a_jvm_that_has_ended_once(monkeypatch, capsys):
    def fail():
        raise ConnectionError("the JVM has ended")

    sql = types.SimpleNamespace(SparkSession=types.SimpleNamespace(getActiveSession=fail))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    monkeypatch.setattr(tidemark.spark, "_failed", set())
    tidemark.spark.attach_when_active()
    tidemark.spark.attach_when_active()
    assert capsys.readouterr().err == "tidemark: cannot draw bars for this session: the JVM has ended\n"


class Builder:
    def __init__(self):
        self._options = {"spark.jars": "theirs.jar"}

    def config(self, key, value):
        self._options[key] = value
        return self

    def getOrCreate(self):
        return self


@pytest.mark.parametrize(
    ("gateway", "words", "has_plugin"),
    [
        (None, "pyspark-shell", True),
        (None, "--packages a:b:1 pyspark-shell", True),
        (object(), "pyspark-shell", False),
        (None, "--jars other.jar pyspark-shell", False),
        (None, "--conf spark.jars=other.jar pyspark-shell", False),
        (None, "--conf spark.plugins=org.example.Theirs pyspark-shell", False),
    ],
)
def test_a_session_names_the_plugin_only_if_spark_can_load_it(monkeypatch, tmp_path, gateway, words, has_plugin):
    pyspark = types.ModuleType("pyspark")
    pyspark.SparkContext = types.SimpleNamespace(_gateway=gateway)
    monkeypatch.setitem(sys.modules, "pyspark", pyspark)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", words)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    defaults = "# spark.plugins no\nspark.plugins  org.example.Theirs \nspark.jars=default.jar\nspark.jars.packages a:b:1\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    monkeypatch.setattr(tidemark.spark, "attach", lambda spark, **_: spark)
    monkeypatch.setattr(tidemark.spark, "_check_jar", lambda _: None)
    (tmp_path / "tidemark.jar").touch()
    options = tidemark.spark.session(Builder(), jar=tmp_path / "tidemark.jar", master="a:1")._options
    if has_plugin:
        assert options["spark.plugins"] == "org.example.Theirs,org.tidemark.spark.TidemarkPlugin"
        assert options["spark.jars"] == f"theirs.jar,{(tmp_path / 'tidemark.jar').resolve()}"
    else:
        assert options == {"spark.jars": "theirs.jar"}
