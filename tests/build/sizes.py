"""Names files that have grown beyond the style's limits and folders without a README.md: sizes.py SOURCE_TREE

Sources (.inl: compiled several times by inclusion) under 400 lines (the recorder apart, which users copy as one file), headers under 150, the main window under 600, a folder's README.md at most 20 lines.
"""
import os
import sys

TOP_FOLDERS = ["app", "core", "widgets", "resources", "tests", "packaging"]
LIMITS = {".cpp": 399, ".inl": 399, ".py": 399, ".h": 149}
MAIN_WINDOW_LIMIT, README_LIMIT = 599, 20
ONE_FILE = {"ulpscope_recorder.py": 3600}


def limit_of(name):
    if name == "README.md":
        return README_LIMIT
    if name == "main_window.cpp":
        return MAIN_WINDOW_LIMIT
    return ONE_FILE.get(name, LIMITS.get(os.path.splitext(name)[1]))


def files(root):
    for top in TOP_FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                yield os.path.relpath(os.path.join(folder, name), root)


def needs_readme(root):
    """The top folders and, in place of core, each folder in it."""
    core = os.path.join(root, "core")
    inner = [os.path.join("core", name) for name in sorted(os.listdir(core)) if os.path.isdir(os.path.join(core, name))]
    return [top for top in TOP_FOLDERS if top != "core"] + inner


def violations(root):
    faults = []
    for path in files(root):
        limit = limit_of(os.path.basename(path))
        if limit is not None:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                length = sum(1 for _ in file)
            if length > limit:
                faults.append(f"{path}: {length} lines, at most {limit} are allowed; split it")
    faults += [f"{folder}: README.md is missing" for folder in needs_readme(root)
               if not os.path.exists(os.path.join(root, folder, "README.md"))]
    return faults


def main(arguments):
    faults = violations(arguments[1])
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(sys.argv)
