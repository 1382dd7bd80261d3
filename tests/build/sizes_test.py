"""The size checker lets a file at its limit pass and names one that is a line longer, and a missing README.md."""
import os
import tempfile
import unittest

import sizes


class Sizes(unittest.TestCase):
    def faults(self, path, lines):
        with tempfile.TemporaryDirectory() as root:
            for folder in [*sizes.TOP_FOLDERS, "core/base"]:
                self.write(root, folder + "/README.md", 1)
            if path:
                self.write(root, path, lines)
            return sizes.violations(root)

    def write(self, root, path, lines):
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write("line\n" * lines)

    def test_files_at_their_limit_pass_and_longer_ones_are_named(self):
        limits = {"app/cli/main.cpp": 399, "core/base/error.h": 149, "tests/build/sizes.py": 399,
                  "widgets/views/main_window.cpp": 599, "core/base/README.md": 20}
        for path, limit in limits.items():
            self.assertEqual(self.faults(path, limit), [], path)
            (fault,) = self.faults(path, limit + 1)
            self.assertIn(f"{path}: {limit + 1} lines, at most {limit}", fault)

    def test_other_files_have_no_limit(self):
        self.assertEqual(self.faults("core/base/FORMAT.md", 1000), [])

    def test_a_folder_of_core_without_readme_is_named(self):
        self.assertEqual(self.faults("core/model/info.cpp", 3), ["core/model: README.md is missing"])


if __name__ == "__main__":
    unittest.main()
