"""Configuring without a library stops with one line that names the package which brings it.

missing_dependency_test.py CMAKE SOURCE_TREE
"""
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = "", ""


def configure(*options):
    with tempfile.TemporaryDirectory() as build:
        return subprocess.run([CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", build, *options], text=True, capture_output=True)


class MissingDependency(unittest.TestCase):
    def assert_stops_naming(self, what, package, *options):
        result = configure(*options)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        lines = [line for line in result.stderr.splitlines() if "Ulpscope:" in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(what, lines[0])
        self.assertIn(package, lines[0])  # on the same line: it can be found and copied

    def test_libtorch(self):
        self.assert_stops_naming("LibTorch was not found", "apt-get install libtorch-dev",
                                 "-DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON")

    def test_qt(self):
        self.assert_stops_naming("Qt 6.4 or later", "apt-get install qt6-base-dev qt6-svg-dev",
                                 "-DCMAKE_DISABLE_FIND_PACKAGE_Qt6=ON", "-DULPSCOPE_GUI=ON")

    def test_hdf5(self):
        self.assert_stops_naming("HDF5", "apt-get install libhdf5-dev", "-DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON")

    def test_image_libraries(self):
        self.assert_stops_naming("libpng was not found", "apt-get install libpng-dev", "-DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON")
        self.assert_stops_naming("libjpeg was not found", "apt-get install libjpeg62-turbo-dev", "-DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON")

    def test_python_of_the_tests(self):
        self.assert_stops_naming("cannot import torch", "apt-get install python3-torch python3-torchvision python3-h5py",
                                 "-DULPSCOPE_PYTHON=/bin/false", "-DULPSCOPE_GUI=OFF")


if __name__ == "__main__":
    SOURCE, CMAKE = sys.argv.pop(2), sys.argv.pop(1)
    unittest.main()
