import dataclasses
import importlib.metadata
import re
from enum import Enum

import pytest

import tidemark
from conftest import ROOT, run
from tidemark import _wire, job


def test_version_equals_the_version_of_the_project():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(tidemark VERSION {tidemark.__version__} " in cmake
    assert tidemark.__version__ in run("version")


def test_the_package_requires_only_grpcio_and_protobuf():
    needs = [need for need in importlib.metadata.requires("tidemark") if "extra ==" not in need]
    assert sorted(re.match(r"\w+", need).group() for need in needs) == ["grpcio", "protobuf"]


def test_the_package_contains_its_types_and_licence():
    files = {file.name for file in importlib.metadata.files("tidemark")}
    assert {"py.typed", "LICENSE"} <= files


VALUES = [kind for kind in vars(job).values() if dataclasses.is_dataclass(kind)]
# Fields of deltas, which this client does not request.
OF_DELTAS = {"base_sequence", "removed_stages"}


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_values_have_the_fields_of_their_messages(kind):
    message = _wire.message(f"tidemark.v1.{kind.__name__}").DESCRIPTOR
    fields = {field.name for field in message.fields} - OF_DELTAS
    assert {field.name for field in dataclasses.fields(kind)} == fields


ENUMS = [
    kind
    for kind in vars(job).values()
    if isinstance(kind, type) and issubclass(kind, Enum) and list(kind)
]


@pytest.mark.parametrize("kind", ENUMS, ids=lambda kind: kind.__name__)
def test_enums_have_the_values_of_the_wire(kind):
    prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).upper() + "_"
    file = _wire.message("tidemark.v1.GetJobRequest").DESCRIPTOR.file
    files = [file, *file.dependencies, *(f for d in file.dependencies for f in d.dependencies)]
    wire = next(
        f.enum_types_by_name[kind.__name__] for f in files if kind.__name__ in f.enum_types_by_name
    )
    names = [value.name[len(prefix) :].replace("UNSPECIFIED", "UNKNOWN") for value in wire.values]
    assert [member.name for member in kind] == (names[1:] if kind is job.View else names)
    assert [value.number for value in wire.values] == list(range(len(wire.values)))


def test_messages_of_another_program_are_left_alone():
    from google.protobuf import descriptor_pool

    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("tidemark.v1.Snapshot")
