// ulpscope-engine: the only program with Torch. `worker` serves JSON lines on standard input and output.
#include "app/engine/worker.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("ulpscope-engine " ULPSCOPE_VERSION);
    return 0;
  }
  if (argc != 2 || std::strcmp(argv[1], "worker") != 0) {
    std::fputs("usage: ulpscope-engine worker   (started by ulpscope and ulpscope-gui)\n", stderr);
    return 2;
  }
  // A client that goes away ends us by the end of input, not by a signal in the middle of a write; Ctrl+C in a terminal goes
  // to the client, which asks us to cancel; so do the signals of a closed terminal or of a cancelled job, which go to the whole group.
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  // Models can print: what they write to standard output goes to the log, not into the protocol.
  const int protocolOutput = ::dup(STDOUT_FILENO);
  if (protocolOutput < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    std::perror("ulpscope-engine: cannot set up standard output");
    return 4;
  }
  // Into a pipe it would be written when the program ends, after the client has its answer and listens no more.
  if (std::setvbuf(stdout, nullptr, _IOLBF, 0) != 0) return 4;
  return ulpscope::worker::serve(STDIN_FILENO, protocolOutput);
}
