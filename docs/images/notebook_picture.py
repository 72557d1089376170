"""Executes a notebook and draws it while its second query runs: notebook_picture.py FOLDER

Runs in an environment with the wheel, PySpark, nbclient, ipykernel and nbconvert (./dev screenshots). Writes notebook.png
and adds its words to pages.json, so that a test can compare the picture with the program.
"""

import copy
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import nbclient
import nbconvert
import nbformat

# The cells of docs/tours/notebook.md.
QUERY = 'spark.range(0, 10**9, 1, 64).selectExpr("id % 1000 AS key", "id").groupBy("key").sum("id").show(3)'
CELLS = ["import tidemark\nspark = tidemark.spark.session()", QUERY, QUERY]
SHOWN_FROM = 40  # percent
WIDTH, HEIGHT = 900, 250


def shown(cell):
    """Returns the text of the bar below a cell."""
    texts = [output.data.get("text/plain", "") for output in cell.outputs if output.output_type == "display_data"]
    return "".join(texts)


def percent(cell):
    found = re.search(r"≈ (\d+) %", shown(cell))
    return int(found[1]) if found else 0


def executed(folder):
    """Returns a copy of the notebook, made while its last cell runs."""
    kernel = folder / "kernels" / "here"
    kernel.mkdir(parents=True)
    words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": words, "display_name": "here", "language": "python"}))
    # nbconvert may be installed in another environment, which then contains its templates.
    paths = os.pathsep.join([str(folder), str(pathlib.Path(nbconvert.__file__).parents[4] / "share/jupyter")])
    os.environ.update(JUPYTER_PATH=paths, JUPYTER_RUNTIME_DIR=str(folder), IPYTHONDIR=str(folder),
                      XDG_CACHE_HOME=str(folder))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="here")
    running = threading.Thread(target=client.execute)
    running.start()
    copied = None
    while running.is_alive():
        if copied is None and percent(notebook.cells[-1]) >= SHOWN_FROM:
            copied = copy.deepcopy(notebook)
        time.sleep(0.1)
    if copied is None:
        sys.exit(f"the bar of the last cell did not reach {SHOWN_FROM} %: {shown(notebook.cells[-1])}")
    for cell in copied.cells:  # Spark writes warnings at its start.
        cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
    return copied


def main():
    images = pathlib.Path(sys.argv[1])
    picture = images / "notebook.png"
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        notebook = executed(folder)
        page, drawn = folder / "notebook.html", folder / "notebook.png"
        page.write_text(nbconvert.HTMLExporter(template_name="lab").from_notebook_node(notebook)[0])
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={drawn}",
             f"--user-data-dir={folder / 'browser'}", f"--window-size={WIDTH},{HEIGHT}",
             "--force-device-scale-factor=1.25", page.as_uri()],
            check=True, stderr=subprocess.DEVNULL)
        picture.write_bytes(subprocess.run(["pngquant", "96", "-"], input=drawn.read_bytes(), check=True,
                                           capture_output=True).stdout)
    bars = [shown(cell).partition(": ")[2].replace(" localhost", "") for cell in notebook.cells]
    pages = json.loads((images / "pages.json").read_text())
    pages[picture.name] = {
        "sha256": hashlib.sha256(picture.read_bytes()).hexdigest(),
        "labels": sorted({words for bar in bars for words in re.findall(r"[a-z]+(?: [a-z]+)*", bar)}),
    }
    (images / "pages.json").write_text(json.dumps(pages, indent=1, ensure_ascii=False) + "\n")
    print(picture.name)


main()
