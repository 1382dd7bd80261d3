# Shared by the scripts beside it; sourced, not run.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"

say() {
  printf '[%s +%ss] %s\n' "$(date +%H:%M:%S)" "$SECONDS" "$*"
}

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# quietly WHAT COMMAND...: runs the command, and shows the end of what it said only if it fails.
quietly() {
  local what="$1" log
  shift
  log="$(mktemp)"
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 40 "$log" >&2
  fail "$what failed; all it said is in $log"
}

# configure OPTION...: both commands build with the same compiler flags in one folder, so that the second one finds the
# first one's objects.
configure() {
  quietly "cmake" cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DULPSCOPE_WERROR=ON "$@"
}

compile() {
  local progress=()
  [ -t 1 ] || progress=(--quiet)  # in a log a line for each of some hundred steps tells nothing
  ninja -C "$build" -j "$(nproc)" "${progress[@]}" "$@" || fail "the build failed; the first error stands above"
}
