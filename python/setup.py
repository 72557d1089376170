"""Compiles the .proto files into the package as one set of descriptors (tidemark/_wire.py)."""

import importlib.resources
import os
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

SERVICES = ["tidemark/v1/job_service.proto", "tidemark/rpc/v1/error_details.proto"]


class BuildDescriptors(build_py):
    def run(self):
        super().run()
        folder = "" if self.editable_mode else self.build_lib
        compile_descriptors(os.path.join(folder, "tidemark", "_wire.binpb"))


def compile_descriptors(file):
    from grpc_tools import protoc

    words = [
        "protoc",
        "-Iproto",
        f"-I{importlib.resources.files('grpc_tools') / '_proto'}",
        "--include_imports",
        f"--descriptor_set_out={file}",
    ]
    if protoc.main(words + SERVICES) != 0:
        sys.exit("protoc could not compile proto/")


setup(cmdclass={"build_py": BuildDescriptors})
