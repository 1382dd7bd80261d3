#include "app/engine/worker.h"

#include "app/engine/freed_memory.h"
#include "app/engine/requests.h"
#include "core/protocol/message.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace ulpscope::worker {
namespace {

using protocol::Message;

constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kProgressInterval = std::chrono::milliseconds(100);

// Whole lines, from any thread.
class Output {
 public:
  explicit Output(int descriptor) : m_descriptor(descriptor) {}
  void send(const std::string& message) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    std::string line = message;
    if (line.empty() || line.back() != '\n') line += '\n';
    for (std::size_t at = 0; at < line.size();) {
      const ssize_t written = ::write(m_descriptor, line.data() + at, line.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // the client is gone; the end of input ends us
      at += static_cast<std::size_t>(written);
    }
  }

 private:
  int m_descriptor;
  std::mutex m_mutex;
};

// Requests wait here for the one thread that works on them.
class Queue {
 public:
  void push(Message message) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_messages.push_back(std::move(message));
    m_changed.notify_one();
  }
  void close() {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_closed = true;
    m_stop.request_stop();
    m_changed.notify_one();
  }
  // Cancels request `id`, waiting or running.
  void cancel(int id) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (m_running == id) m_stop.request_stop();
    for (const Message& m : m_messages)
      if (m.id == id) m_cancelled.push_back(id);
  }
  // False: the request that runs did not end in time.
  bool waitUntilDone(std::chrono::milliseconds patience) {
    std::unique_lock<std::mutex> lock(m_mutex);
    return m_idle.wait_for(lock, patience, [&] { return m_done; });
  }
  std::optional<Message> next(std::stop_token& stop) {
    std::unique_lock<std::mutex> lock(m_mutex);
    m_running = 0;
    m_changed.wait(lock, [&] { return m_closed || !m_messages.empty(); });
    if (m_closed) {
      m_done = true;
      m_idle.notify_all();
      return std::nullopt;
    }
    Message message = std::move(m_messages.front());
    m_messages.pop_front();
    m_stop = std::stop_source();
    for (const int id : m_cancelled)
      if (id == message.id) m_stop.request_stop();
    m_running = message.id;
    stop = m_stop.get_token();
    return message;
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed, m_idle;
  std::deque<Message> m_messages;
  std::vector<int> m_cancelled;
  std::stop_source m_stop;
  int m_running = 0;
  bool m_closed = false;
  bool m_done = false;
};

base::ProgressSink throttledProgress(Output& output, int id) {
  return [&output, id, last = std::chrono::steady_clock::time_point(), stage = std::string()](const base::Progress& progress) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (progress.stage == stage && now - last < kProgressInterval) return;
    stage = progress.stage;
    last = now;
    output.send(protocol::encodeProgress(id, progress));
  };
}

// Nobody watches the runs of a replay or a comparison op by op.
engine::RunHooks runHooks(Output& output, int id) {
  engine::RunHooks hooks;
  hooks.progress = throttledProgress(output, id);
  return hooks;
}

engine::RunHooks hooksOf(Output& output, int id) {
  engine::RunHooks hooks = runHooks(output, id);
  hooks.experiment = [&output, id](const protocol::LiveExperiment& experiment) { output.send(protocol::encodeExperiment(id, experiment)); };
  hooks.cells = [&output, id](const protocol::CellBlock& block) { output.send(protocol::encodeCells(id, block)); };
  return hooks;
}

train::TrainingHooks trainingHooksOf(Output& output, int id) {
  return {throttledProgress(output, id), [&output, id](const std::string& run, const session::LedgerLine& line) { output.send(protocol::encodeLedger(id, {run, line})); }};
}

base::Result<nlohmann::json> answer(engine::Engine& engine, const Message& message, Output& output, std::stop_token stop) {
  if (stop.stop_requested()) return base::Error{base::ErrorKind::cancelled, "cancelled", "run", ""};
  switch (message.kind) {
    case Message::Kind::hello: return answerHello(message.body);
    case Message::Kind::inspect: return answerInspect(engine, message.body);
    case Message::Kind::open: return answerOpen(engine, message.body);
    case Message::Kind::run: return answerRun(engine, message.body, hooksOf(output, message.id), stop);
    case Message::Kind::train: return answerTrain(engine, message.body, trainingHooksOf(output, message.id), runHooks(output, message.id), stop);
    case Message::Kind::scan: return answerScan(engine, message.body, throttledProgress(output, message.id), stop);
    case Message::Kind::benchmark: return answerBenchmark(engine, message.body, throttledProgress(output, message.id), stop);
    default: return base::Error{base::ErrorKind::internal, "is no request of this engine", "protocol", ""};
  }
}

int runToCancel(const nlohmann::json& parameters) {
  const auto run = parameters.find("run");
  return run != parameters.end() && run->is_number_integer() ? run->get<int>() : 0;
}

void work(Queue& queue, Output& output) {
  engine::Engine engine;
  std::stop_token stop;
  while (auto message = queue.next(stop)) {
    const auto result = answer(engine, *message, output, stop);
    output.send(result ? protocol::encodeResult(message->id, result.value()) : protocol::encodeError(message->id, result.error()));
    giveFreedMemoryBack();
  }
}

}  // namespace

int serve(int input, int output) {
  keepFreedMemory();
  Output out(output);
  Queue queue;
  std::thread worker([&] { work(queue, out); });
  protocol::LineReader lines;
  char buffer[65536];
  for (bool open = true; open;) {
    const ssize_t got = ::read(input, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    for (const std::string& line : lines.feed({buffer, static_cast<std::size_t>(got)})) {
      auto message = protocol::parseMessage(line);
      if (!message)
        out.send(protocol::encodeError(0, message.error()));
      else if (message->kind == Message::Kind::cancel || message->kind == Message::Kind::shutdown) {
        if (message->kind == Message::Kind::cancel) queue.cancel(runToCancel(message->body));
        else open = false;
        out.send(protocol::encodeResult(message->id, nlohmann::json::object()));
      } else
        queue.push(std::move(message).value());
    }
  }
  queue.close();
  // A model that loops without an op never looks at the stop token; with the client gone nobody else would end it.
  if (!queue.waitUntilDone(kPatience)) ::_exit(0);
  worker.join();
  return 0;
}

}  // namespace ulpscope::worker
