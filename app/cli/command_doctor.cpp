#include "commands.h"
#include "core/protocol/message.h"
#include "core/session/demo.h"
#include "core/storage/session_store.h"
#include "engine_client.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace ulpscope::cli {
namespace {

using base::Error;
using nlohmann::json;

// One line a check; any fault makes the exit code 4.
class Checks {
 public:
  void good(const std::string& what) { fmt::print("ok     {}\n", what); }
  void fault(const Error& error) {
    fmt::print("fault  {}\n", error.message());
    m_faults = true;
  }
  int exitCode() const { return m_faults ? base::exitCode(base::ErrorKind::run) : 0; }

 private:
  bool m_faults = false;
};

std::string valueText(const json& object, const char* key) {
  const json value = object.value(key, json());
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.is_null() ? "not said" : value.dump();
  std::string text;
  for (const json& item : value) text += (text.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

void checkEngine(Checks& checks) {
  const auto client = EngineClient::start();
  if (!client) return checks.fault(client.error());
  const json& hello = client->hello();
  checks.good("engine " + client->program());
  checks.good(fmt::format("engine answers: protocol {}, LibTorch {}", valueText(hello, "protocol"), valueText(hello, "libtorch")));
  checks.good("policy tables: " + valueText(hello, "policy_tables"));
  checks.good(fmt::format("threads {}, BLAS {}", valueText(hello, "threads"), valueText(hello, "blas")));
}

void checkData(Checks& checks) {
  const auto folder = protocol::findData("demo");
  if (!folder) return checks.fault(folder.error());
  const auto demos = session::listDemos(folder.value());
  if (!demos) return checks.fault(demos.error());
  if (demos->empty()) return checks.fault({base::ErrorKind::input, "there are no demos", folder.value(), "reinstall Ulpscope"});
  checks.good(fmt::format("demos {}: {}", folder.value(), demos->size()));
  const auto snippet = protocol::findData("python/snippet_script.py");
  if (!snippet) return checks.fault(snippet.error());
  checks.good("Python snippets");
}

Outcome doctorAction() {
  Checks checks;
  checks.good("ulpscope " ULPSCOPE_VERSION);
  checks.good("HDF5 " + storage::hdf5Version());
  std::fflush(stdout);
  checkEngine(checks);
  checkData(checks);
  return checks.exitCode();
}

}  // namespace

void addDoctor(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("doctor", "Checks the installation: engine, LibTorch, HDF5, data. Exit code 4 when something is at fault.\n");
  command->callback([&invocation] { invocation.action = doctorAction; });
}

}  // namespace ulpscope::cli
