#include "engine_client.h"

#include "option_number.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kLoading = "loading";  // the engine's own word; every request begins with it
constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::seconds kEndPatience{2};
constexpr std::chrono::seconds kSameInterrupt{1};
// An engine in the middle of a long op does not hear: then it is killed. What it has written is whole, whenever that is.

volatile std::sig_atomic_t g_interrupts = 0;
void noteInterrupt(int) { g_interrupts = g_interrupts + 1; }

void watchSignals() {
  struct sigaction note {};
  note.sa_handler = noteInterrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &note, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

// Only the greeting has a time limit: an op of a large model may take any time, and the user can cancel. Loading
// LibTorch from a cold network disk can take tens of seconds.
Result<std::chrono::seconds> helloPatience() {
  const char* chosen = std::getenv("ULPSCOPE_ENGINE_TIMEOUT");
  if (!chosen || !*chosen) return std::chrono::seconds(60);
  const auto seconds = wholeNumber(chosen, std::string("$ULPSCOPE_ENGINE_TIMEOUT ") + chosen, {1, 86400});
  if (!seconds) return seconds.error();
  return std::chrono::seconds(seconds.value());
}

}  // namespace

Result<EngineClient> EngineClient::start() {
  auto program = protocol::findEngine();
  if (!program) return program.error();
  const auto patience = helloPatience();
  if (!patience) return patience.error();
  watchSignals();
  auto process = EngineProcess::start(program.value());
  if (!process) return process.error();
  EngineClient client(program.value(), std::move(process).value());
  if (const auto greeted = client.sayHello(patience.value()); !greeted) return greeted.error();
  return client;
}

EngineClient::~EngineClient() {
  if (!m_usable || !m_process.running()) return;  // EngineProcess kills what is left
  m_process.send(protocol::encodeShutdown(++m_lastId));
  m_process.finish(kEndPatience);
}

base::Status EngineClient::sayHello(std::chrono::seconds patience) {
  Request request{++m_lastId, m_program, Clock::now() + patience, {"starting the engine", "", "", 0, 0}};
  m_process.send(protocol::encodeHello(request.id));
  auto answer = waitFor(request);
  if (!answer) return answer.error();
  m_hello = std::move(answer).value();
  const int version = m_hello.is_object() && m_hello.value("protocol", json()).is_number_integer() ? m_hello["protocol"].get<int>() : 0;
  if (version == protocol::kVersion) return base::success();
  m_usable = false;
  return Error{ErrorKind::run, fmt::format("speaks protocol {}, this ulpscope speaks {}", version, protocol::kVersion), m_program,
               "install ulpscope and its engine from the same version"};
}

Result<json> EngineClient::ask(const std::function<std::string(int id)>& encode, const std::string& about, const RequestManner& manner) {
  Request request{++m_lastId, about, Clock::time_point::max(), {kLoading, "", "", 0, 0}};
  request.manner = manner;
  m_process.send(encode(request.id));  // when nobody reads, the end of its output tells why
  return waitFor(request);
}

Result<json> EngineClient::waitFor(Request& request) {
  for (;;) {
    const EngineProcess::Heard heard = m_process.hear(kTick);
    for (const std::string& line : heard.log) request.display.log(line);
    for (const std::string& line : heard.lines)
      if (auto answer = take(request, line)) return std::move(*answer);
    if (heard.ended) return ended(request);
    if (heard.overflowed) return failed(request, "the engine sent a line that is too long for a message");
    if (auto stop = lookAtSignals(request)) return std::move(*stop);
    if (Clock::now() >= request.deadline) return failed(request, "the engine gave no answer in time and was ended");
  }
}

std::optional<Result<json>> EngineClient::take(Request& request, const std::string& line) {
  auto message = protocol::parseMessage(line);
  if (!message) return Result<json>(failed(request, "the engine cannot be trusted, it sent what is " + message.error().what));
  const bool ours = message->id == request.id;
  if (message->kind == protocol::Message::Kind::progress) {
    if (!ours) return std::nullopt;
    request.last = message->progress;
    request.display.show(request.last, request.manner.unit);
  } else if (message->kind == protocol::Message::Kind::result) {
    if (ours) return Result<json>(std::move(message.value().body));
  } else if (message->kind == protocol::Message::Kind::error) {
    if (ours && message->error.kind == ErrorKind::cancelled) m_usable = false;  // nothing is left to wait for
    if (ours) return Result<json>(message->error);
    if (message->id == 0) return Result<json>(failed(request, "the engine did not understand: " + message->error.message()));
  }
  return std::nullopt;
}

void EngineClient::sendCancel(Request& request) {
  request.deadline = Clock::time_point::max();
  request.cancelledAt = Clock::now();
  m_process.send(protocol::encodeCancel(++m_lastId, request.id));
  if (!request.manner.lost.empty()) request.display.note("cancelling: what was done until now is being stored (Ctrl+C again gives it up)");
}

std::optional<Error> EngineClient::lookAtSignals(Request& request) {
  const int interrupts = g_interrupts;
  if (interrupts == 0) return std::nullopt;
  if (request.cancelsSeen == 0) sendCancel(request);
  const auto since = Clock::now() - request.cancelledAt;
  if (request.cancelsSeen == 0 || since < kSameInterrupt) request.cancelsSeen = interrupts;
  if (interrupts == request.cancelsSeen && since < request.manner.cancelPatience) return std::nullopt;
  m_usable = false;
  return cancelled(request);
}

Error EngineClient::cancelled(const Request& request) {
  const std::string lost = request.manner.lost.empty() ? "" : request.manner.lost + ": the engine was ended before it had stored what it did";
  return Error{ErrorKind::cancelled, "cancelled while " + request.where(), request.about, lost};
}

Error EngineClient::failed(const Request& request, const std::string& what) {
  m_usable = false;
  std::string remedy = "sessions already written are whole; `ulpscope doctor` checks the engine";
  if (!request.manner.lost.empty()) remedy = request.manner.lost + "; " + remedy;
  if (m_hello.is_null()) remedy = "check that LibTorch is installed, or reinstall the engine";
  else if (request.last.stage == kLoading) remedy = "the model file may be damaged: see whether PyTorch's torch.jit.load takes it, and save it anew; `ulpscope doctor` checks the engine";
  return Error{ErrorKind::run, what + fmt::format(" (while {})", request.where()), request.about, remedy};
}

Error EngineClient::ended(const Request& request) {
  const std::string how = m_process.finish(kEndPatience);
  if (g_interrupts > 0) {
    m_usable = false;
    return cancelled(request);
  }
  return failed(request, "the engine " + how);
}

}  // namespace ulpscope::cli
