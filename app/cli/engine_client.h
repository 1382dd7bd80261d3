// A conversation with the engine: hello, one request, its answer; Ctrl+C and every way an engine can fail on the way.
#pragma once

#include "engine_process.h"
#include "progress_display.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>

namespace ulpscope::cli {

// What is said of a request, and how long it may take to end.
struct RequestManner {
  std::string unit = "samples";                    // that its progress counts
  std::string lost = "";                           // what is gone when its engine dies; empty: nothing that was not stored before
  // How long it has after Ctrl+C to answer all the same, where there is something to store; then and only then a note says so.
  std::chrono::milliseconds cancelPatience{100};
};

class EngineClient {
 public:
  // Finds and starts the engine and says hello. From here to the end of the program SIGINT, SIGTERM and SIGHUP mean
  // cancel.
  // Error kind usage when $ULPSCOPE_ENGINE_TIMEOUT (seconds for the hello) is no number.
  static base::Result<EngineClient> start();
  EngineClient(EngineClient&&) = default;
  // Asks the engine to end; one that does not within two seconds is killed.
  ~EngineClient();

  const std::string& program() const { return m_program; }
  const nlohmann::json& hello() const { return m_hello; }

  // encode: makes the request with the id given. about: the file concerned, for errors of the engine itself. Gives the
  // engine's result or its error; error kind run when the engine crashed, cancelled after Ctrl+C. Another Ctrl+C ends an engine that is
  // storing what it did; within a second it is the same Ctrl+C (`timeout` and a terminal send it to the program and to its group).
  base::Result<nlohmann::json> ask(const std::function<std::string(int id)>& encode, const std::string& about, const RequestManner& manner = {});

 private:
  struct Request {
    int id;
    std::string about;
    std::chrono::steady_clock::time_point deadline;  // max(): none
    base::Progress last;                             // where it stood
    std::chrono::steady_clock::time_point cancelledAt{};
    int cancelsSeen = 0;                             // Ctrl+C pressed when the cancel was sent, or within a second of it
    ProgressDisplay display{};
    RequestManner manner = {};
    std::string where() const { return progressText(last, manner.unit); }
  };

  EngineClient(std::string program, EngineProcess process) : m_program(std::move(program)), m_process(std::move(process)) {}
  base::Result<nlohmann::json> waitFor(Request& request);
  std::optional<base::Result<nlohmann::json>> take(Request& request, const std::string& line);
  // Sends the cancel at the first Ctrl+C; an error when patience or the user's is over.
  std::optional<base::Error> lookAtSignals(Request& request);
  void sendCancel(Request& request);
  static base::Error cancelled(const Request& request);
  base::Error failed(const Request& request, const std::string& what);
  base::Error ended(const Request& request);
  base::Status sayHello(std::chrono::seconds patience);

  std::string m_program;
  EngineProcess m_process;
  nlohmann::json m_hello;
  int m_lastId = 0;
  bool m_usable = true;  // false: it is dead or cannot be trusted
};

}  // namespace ulpscope::cli
