"""The settings that put Tidemark's connector into an application of Spark; see docs/spark.md."""

from __future__ import annotations

import os
import zipfile
from typing import Dict, Mapping, Optional

from tidemark import _security
from tidemark._security import Path

_PLUGIN = "org.tidemark.spark.TidemarkPlugin"
# One that it needs, and that Maven puts only into the jar that works.
_PART = "org.tidemark.spark.jvm.guard.Guard"


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
    """What `tidemark spark conf` prints, for a builder of sessions that has not begun one yet:

        builder = SparkSession.builder
        for key, value in tidemark.spark_conf(master="host:7411", jar="tidemark-spark.jar").items():
            builder = builder.config(key, value)

    What is None is taken from the environment as by the command line: TIDEMARK_MASTER,
    TIDEMARK_SPARK_JAR, TIDEMARK_TOKEN_FILE, TIDEMARK_TLS_CA and so on. `existing`: settings that
    the application has; jars and plug-ins in them stay in use.

    ValueError: no jar was named, it is another than the connector's, its master is
    a unix socket, or arguments that do not go together. FileNotFoundError: there is
    no such jar.
    """
    how = _security.access(
        master, token, token_file, tls_ca, tls_certificate, tls_key, tls_server_name
    )
    file = os.fspath(jar) if jar is not None else os.environ.get("TIDEMARK_SPARK_JAR", "")
    if not file:
        raise ValueError(
            "the connector's jar is not named; pass jar=, or set TIDEMARK_SPARK_JAR. To build it: "
            "mvn -f agent/pom.xml -pl spark -am package"
        )
    file = os.path.realpath(file)
    if not os.path.isfile(file):
        raise FileNotFoundError(f"no such jar: {file}; an application that lacks it does not start")
    _check_jar(file)
    if how.address.startswith(("unix:", "unix-abstract:")):
        raise ValueError(
            f"master must be host:port, not {how.address}: connectors in a JVM know no unix sockets"
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
            raise ValueError(f"{file} is not Tidemark's connector: it has no {name}")


def _appended(items: str, item: str) -> str:
    if item in (known.strip() for known in items.split(",")):
        return items
    return f"{items},{item}" if items else item
