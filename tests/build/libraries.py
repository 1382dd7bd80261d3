"""Names the libraries a program loads, itself or through others, that it must not: libraries.py PROGRAM FORBIDDEN...

FORBIDDEN are beginnings of library names, for instance libtorch libc10 libQt5. Exit 1 when one is found or the program
cannot be examined. With --needs before them it is the other way round: each must be loaded.
"""
import os
import subprocess
import sys


def loaded_libraries(program):
    """Names as the dynamic loader resolves them, libraries of libraries included."""
    result = subprocess.run(["ldd", program], text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    if result.returncode != 0:
        sys.exit(f"{program}: ldd says: {result.stdout.strip()} {result.stderr.strip()}")
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    missing = [words[0] for words in lines if "not found" in " ".join(words)]
    if missing:
        sys.exit(f"{program}: {', '.join(missing)} not found")
    names = [words[0].rsplit("/", 1)[-1] for words in lines]
    if not any(name.startswith("libc.so") for name in names):
        sys.exit(f"{program}: ldd names no libc, so nothing was examined")
    return names


def main(arguments):
    program, prefixes = arguments[1], arguments[2:]
    needs = prefixes[:1] == ["--needs"]
    prefixes = prefixes[1:] if needs else prefixes
    if not prefixes:
        sys.exit(__doc__)
    names = loaded_libraries(program)
    matches = {prefix: [name for name in names if name.startswith(prefix)] for prefix in prefixes}
    faults = [prefix for prefix, found in matches.items() if bool(found) != needs]
    for prefix in faults:
        print(f"{program} " + (f"does not load {prefix}*" if needs else f"loads {', '.join(matches[prefix])}"))
    print(f"{program}: {len(names)} libraries examined")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(sys.argv)
