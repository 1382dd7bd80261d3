"""The checker of the architecture finds each kind of wrong include in a small bad tree and nothing in a good one."""
import os
import sys
import tempfile
import unittest

import arrows

GOOD = {
    "core/base/error.h": "#include <string>",
    "core/storage/h5.h": "#include <hdf5.h>",
    "core/storage/store.h": '#include "core/base/error.h"',
    "core/storage/store.cpp": '#include "core/storage/store.h"\n#include "core/storage/h5.h"',
    "core/engine/load.h": '#include "core/base/error.h"',
    "core/engine/load.cpp": '#include "core/engine/load.h"\n#include <torch/script.h>',
    "widgets/views/tree.h": '#include <QTreeView>\n#include "core/base/error.h"',
    "app/gui/main.cpp": '#include <QApplication>\n#include "widgets/views/tree.h"',
    "app/engine/main.cpp": '#include <torch/script.h>\n#include "core/engine/load.h"',
}


class Arrows(unittest.TestCase):
    def faults(self, **changed):
        files = {**GOOD, **{name.replace("__", "/").replace("_h", ".h").replace("_cpp", ".cpp"): text
                            for name, text in changed.items()}}
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text + "\n")
            return arrows.violations(root)[0]

    def assert_only_fault(self, fault, **changed):
        faults = self.faults(**changed)
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(fault, faults[0])

    def test_a_good_tree_has_no_fault(self):
        self.assertEqual(self.faults(), [])

    def test_core_may_not_include_widgets(self):
        faults = self.faults(core__base__bad_h='#include "widgets/views/tree.h"')
        self.assertIn("core may not include widgets", faults[0])
        self.assertIn("reaches Qt (widgets/views/tree.h -> QTreeView)", faults[1])

    def test_widgets_may_not_include_app(self):
        self.assert_only_fault("widgets may not include app", app__gui__start_h="",
                               widgets__views__bad_cpp='#include "app/gui/start.h"')

    def test_a_folder_of_core_may_not_include_a_later_one(self):
        self.assert_only_fault("core/base may not include core/storage",
                               core__base__bad_cpp='#include "core/storage/store.h"')

    def test_a_folder_of_core_without_a_place_in_the_order_is_named(self):
        self.assert_only_fault("core/misc has no place", core__misc__bad_cpp='#include "core/base/error.h"')

    def test_qt_in_core_and_in_the_command_line_is_found(self):
        for file in ("core__render__bad_cpp", "app__cli__bad_cpp"):
            for header in ("<QString>", "<QtCore/QString>", "<QtWidgets>", '"qcustomplot.h"', "<qglobal.h>"):
                self.assert_only_fault("reaches Qt", **{file: f"#include {header}"})

    def test_torch_outside_the_engine_is_found(self):
        for header in ("<torch/script.h>", "<ATen/ATen.h>", "<c10/util/Half.h>"):
            self.assert_only_fault("reaches Torch", core__storage__bad_cpp=f"#include {header}")

    def test_hdf5_outside_storage_is_found(self):
        for header in ("<hdf5.h>", "<H5public.h>", "<H5Cpp.h>"):
            self.assert_only_fault("reaches HDF5", core__report__bad_cpp=f"#include {header}")

    def test_a_private_header_of_storage_may_not_be_used_elsewhere(self):
        faults = self.faults(core__report__bad_cpp='#include "core/storage/h5.h"')
        self.assertIn("reaches HDF5 (core/storage/h5.h -> hdf5.h)", faults[0])
        self.assertIn("core/storage/h5.h is included from other folders and shows HDF5", faults[1])

    def test_a_public_header_of_the_engine_may_not_show_torch(self):
        self.assert_only_fault("core/engine/load.h is included from other folders and shows Torch",
                               core__engine__load_h="#include <torch/script.h>")

    def test_training_shares_the_engines_private_headers_and_nobody_elses(self):
        torch = "#include <torch/script.h>"
        self.assertEqual(self.faults(core__engine__hook_h=torch, core__train__step_cpp='#include "core/engine/hook.h"'), [])
        self.assert_only_fault("core/train/step.h is included from other folders and shows Torch", core__train__step_h=torch,
                               app__engine__train_cpp='#include "core/train/step.h"')

    def test_a_file_that_does_not_exist_is_named(self):
        self.assert_only_fault("there is no such file", core__base__bad_cpp='#include "core/base/gone.h"')

    def test_an_empty_tree_is_an_error(self):
        with tempfile.TemporaryDirectory() as root, self.assertRaises(SystemExit) as caught:
            arrows.main(["arrows.py", root])
        self.assertIn("no C++ file", str(caught.exception.code))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
