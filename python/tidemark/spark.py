"""The settings that add Tidemark's connector to a Spark application (docs/spark.md)."""

from __future__ import annotations

import os
import zipfile
from typing import Dict, Mapping, Optional

from tidemark import _security
from tidemark._security import Path

_PLUGIN = "org.tidemark.spark.TidemarkPlugin"
# A class that Maven includes only in the complete jar.
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
    """Returns the settings that `tidemark spark conf` prints, for the builder of a new session:

        builder = SparkSession.builder
        for key, value in tidemark.spark_conf(master="host:7411", jar="tidemark-spark.jar").items():
            builder = builder.config(key, value)

    Defaults come from the environment, as for the command line: TIDEMARK_MASTER,
    TIDEMARK_SPARK_JAR, TIDEMARK_TOKEN_FILE, TIDEMARK_TLS_CA and so on. `existing` contains settings
    of the application, whose jars and plug-ins remain in use.

    Raises ValueError if there is no jar argument, the jar is not the connector's, the master is a
    unix socket, or the arguments conflict. Raises FileNotFoundError if the jar does not exist.
    """
    how = _security.access(
        master, token, token_file, tls_ca, tls_certificate, tls_key, tls_server_name
    )
    file = os.fspath(jar) if jar is not None else os.environ.get("TIDEMARK_SPARK_JAR", "")
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
