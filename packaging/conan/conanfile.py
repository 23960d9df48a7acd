"""nnrt for Conan 2: headers. One C file of the program defines NNRT_IMPLEMENTATION before it includes them."""
import os

from conan import ConanFile
from conan.tools.files import copy


class Nnrt(ConanFile):
    name = "nnrt"
    version = "@VERSION@"
    description = "@DESCRIPTION@"
    license = "@LICENSE@"
    author = "@AUTHOR@ <@EMAIL@>"
    url = homepage = "@HOMEPAGE@"
    topics = ("neural-network", "inference", "onnx", "tflite", "header-only")
    package_type = "header-library"
    settings = "os"
    no_copy_source = True
    exports_sources = "include/*", "LICENSE"

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.h", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_target_name", "nnrt::nnrt")
        if self.settings.os not in ("Windows", "Macos", "baremetal"):
            self.cpp_info.system_libs = ["m"]
