import builtins
import inspect
import re

import tidemark
from conftest import ROOT

GUIDE = (ROOT / "docs" / "python.md").read_text()


def test_the_guide_lists_exactly_the_functions_and_errors():
    named = set(re.findall(r"^\| `([\w.]+)", GUIDE, re.MULTILINE))
    functions = {name for name in tidemark.__all__ if inspect.isfunction(getattr(tidemark, name))}
    errors = {name for name in tidemark.__all__ if name.endswith("Error")} - {
        "TidemarkError",
        "IndicatorError",
    }
    methods = {
        f"Client.{name}"
        for name, value in vars(tidemark.Client).items()
        if inspect.isfunction(value) and not name.startswith("_") and name != "close"
    }
    assert named == functions | errors | methods


def test_errors_have_the_base_classes_of_the_guide():
    rows = re.findall(r"^\| `(\w+Error)` \| `(\w+)` \|", GUIDE, re.MULTILINE)
    assert len(rows) == 5
    for error, also in rows:
        assert issubclass(getattr(tidemark, error), tidemark.TidemarkError)
        assert issubclass(getattr(tidemark, error), getattr(builtins, also))
