// `ulpscope-engine worker` as a child process, spoken to through pipes. Knows nothing of messages.
#pragma once

#include "core/base/error.h"
#include "core/protocol/message.h"

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope::cli {

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : m_value(value) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : m_value(other.m_value) { other.m_value = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return m_value; }
  void reset();

 private:
  int m_value;
};

class EngineProcess {
 public:
  // The child does not see Ctrl+C (it stays in our process group, with SIGINT ignored): a cancel is a message, so that
  // the engine can end between two ops. Error kind run.
  static base::Result<EngineProcess> start(const std::string& program);
  // Kills the child when it still runs.
  ~EngineProcess();
  EngineProcess(EngineProcess&& other) noexcept;
  EngineProcess& operator=(EngineProcess&&) = delete;

  // False: it was ended and waited for, or is moved from.
  bool running() const { return m_pid > 0; }

  // False: the engine reads no more.
  bool send(std::string_view line);

  struct Heard {
    std::vector<std::string> lines;  // of the protocol
    std::vector<std::string> log;    // of its stderr
    bool ended = false;              // it closed its output
    bool overflowed = false;         // a line was too long to be a message
  };
  // Waits until something is heard, a signal comes or the time is over.
  Heard hear(std::chrono::milliseconds timeout);

  // Closes its input and waits for its end; kills it when the time is over. Gives how it ended: "exited with code 3",
  // "was ended by signal 11 (Segmentation fault)". Precondition: running().
  std::string finish(std::chrono::milliseconds patience);
  void kill();

 private:
  EngineProcess(pid_t pid, Descriptor input, Descriptor output, Descriptor log);

  pid_t m_pid;  // -1: reaped
  Descriptor m_input, m_output, m_log;
  protocol::LineReader m_lines, m_logLines;
};

}  // namespace ulpscope::cli
