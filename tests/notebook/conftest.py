"""Executes notebooks with the interpreter that runs these tests, in which a wheel is installed."""

import json
import os
import pathlib
import sys

import nbclient
import nbformat
import pytest

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Notebook:
    """The outputs of an executed notebook, by cell."""

    def __init__(self, cells):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="here").execute()
        self.outputs = [cell.outputs for cell in notebook.cells]

    def bundles(self, cell):
        """Returns the displayed values of a cell by type."""
        return [output.data for output in self.outputs[cell] if output.output_type == "display_data"]

    def text(self, cell):
        return "".join(output.text for output in self.outputs[cell] if output.output_type == "stream")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """The user's cache. Later tests do not see the master of this one."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    for variable in ("TIDEMARK_MASTER", "TIDEMARK_TOKEN_FILE"):
        monkeypatch.setenv(variable, "")
    return folder / "tidemark"


@pytest.fixture
def execute(tmp_path, monkeypatch):
    folder = tmp_path / "kernels" / "here"
    folder.mkdir(parents=True)
    words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": words, "display_name": "here", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return Notebook


@pytest.fixture
def pyspark(monkeypatch):
    """Lets notebooks import PySpark, if the test has one."""
    home = os.environ.get("TIDEMARK_SPARK", "")
    if not home:
        pytest.skip("runs with ./dev test -C spark")
    libraries = map(str, pathlib.Path(home, "python", "lib").glob("py4j-*.zip"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pathlib.Path(home).parent), *libraries]))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
