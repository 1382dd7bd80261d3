"""Reads every #include of app, widgets and core and names those that run against the architecture: arrows.py SOURCE_TREE

app -> widgets -> core; inside core a folder includes folders before it in CORE_ORDER only; Qt, Torch and HDF5 stay where
PLACES says, also by way of our own headers; a header of core that another folder includes reaches neither Torch nor HDF5 (core/train
may include the engine's private ones).
"""
import os
import re
import sys

LAYERS = ["core", "widgets", "app"]
CORE_ORDER = ["base", "model", "session", "analysis", "storage", "protocol", "render", "report", "engine", "train"]
LIBRARIES = {
    "Qt": re.compile(r"(Q[A-Z]\w*|Qt\w*)(/.+)?$|q\w+\.h$"),
    "Torch": re.compile(r"(torch|ATen|c10|caffe2)/.+$"),
    "HDF5": re.compile(r"(hdf5(_hl)?|H5\w*)\.h$"),
}
PLACES = {
    "Qt": ("widgets/", "app/gui/"),
    "Torch": ("core/engine/", "core/train/", "app/engine/"),
    "HDF5": ("core/storage/",),
}
HIDDEN_BY_CORE = ("Torch", "HDF5")
# Two folders that share private headers: what trains runs models as what compares them does.
SHARES_PRIVATE_HEADERS = {("core/train", "core/engine")}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def read_tree(root):
    """{path: [(is_quoted, included name)]} of every C++ file of the layers"""
    tree = {}
    for layer in LAYERS:
        for folder, _, names in os.walk(os.path.join(root, layer)):
            for name in names:
                if name.endswith((".h", ".cpp", ".inl")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        includes = [(mark == '"', what) for mark, what in INCLUDE.findall(file.read())]
                    tree[os.path.relpath(path, root)] = includes
    return tree


def resolve(tree, path, name):
    """The file of the tree that an include names, from the root as the style asks or beside the file; else None."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return name if name in tree else beside if beside in tree else None


def library_of(name):
    return next((library for library, pattern in LIBRARIES.items() if pattern.match(name)), None)


def reached_libraries(tree, path, seen=None):
    """{library: the chain of files and the header by which path reaches it}"""
    seen = set() if seen is None else seen
    seen.add(path)
    reached = {}
    for _, name in tree[path]:
        target = resolve(tree, path, name)
        if target is None and library_of(name):
            reached.setdefault(library_of(name), [path, name])
        if target is not None and target not in seen:
            for library, chain in reached_libraries(tree, target, seen).items():
                reached.setdefault(library, [path] + chain)
    return reached


def folder_fault(source, target):
    """Why source's folder may not include target's, or None."""
    here, there = source.split("/"), target.split("/")
    if LAYERS.index(there[0]) > LAYERS.index(here[0]):
        return f"{here[0]} may not include {there[0]}"
    if here[0] == there[0] == "core" and here[1] != there[1]:
        unknown = [part[1] for part in (here, there) if part[1] not in CORE_ORDER]
        if unknown:
            return f"core/{unknown[0]} has no place in the order of core"
        if CORE_ORDER.index(there[1]) > CORE_ORDER.index(here[1]):
            return f"core/{here[1]} may not include core/{there[1]}"
    return None


def include_faults(tree, path):
    for quoted, name in tree[path]:
        target = resolve(tree, path, name)
        if target is not None:
            fault = folder_fault(path, target)
            if fault:
                yield f"{path} includes {name}: {fault}"
        elif quoted and not library_of(name) and name.split("/")[0] in LAYERS:
            yield f"{path} includes {name}: there is no such file"


def library_faults(tree, path):
    reached = reached_libraries(tree, path)
    for library, chain in reached.items():
        if not path.startswith(PLACES[library]):
            yield f"{path} reaches {library} ({' -> '.join(chain[1:])}): only {', '.join(PLACES[library])} may"
    if "Qt" in reached and "Torch" in reached:
        yield f"{path} reaches both Qt and Torch"


def public_headers(tree):
    """Headers of core that a file of another folder includes, unless the folders share private headers."""
    public = set()
    for path, includes in tree.items():
        for _, name in includes:
            target = resolve(tree, path, name)
            folders = (os.path.dirname(path), os.path.dirname(target or ""))
            if target and target.startswith("core/") and folders[0] != folders[1] and folders not in SHARES_PRIVATE_HEADERS:
                public.add(target)
    return sorted(public)


def public_header_faults(tree):
    for header in public_headers(tree):
        for library, chain in reached_libraries(tree, header).items():
            if library in HIDDEN_BY_CORE:
                yield f"{header} is included from other folders and shows {library} ({' -> '.join(chain[1:])})"


def violations(root):
    tree = read_tree(root)
    faults = [fault for path in sorted(tree) for fault in [*include_faults(tree, path), *library_faults(tree, path)]]
    return faults + list(public_header_faults(tree)), len(tree)


def main(arguments):
    faults, count = violations(arguments[1])
    for fault in faults:
        print(fault)
    if count == 0:
        sys.exit(f"{arguments[1]}: no C++ file in {', '.join(LAYERS)}")
    print(f"{count} files, {len(faults)} wrong includes")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(sys.argv)
