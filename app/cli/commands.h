// The commands of `ulpscope`: each adds its words to the parser and, when it is the one called, its work.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>

namespace CLI {
class App;
}

namespace ulpscope::cli {

// The exit code; an Error gives its kind's. Errors are printed, and written to --json, in one place: main.
using Outcome = base::Result<int>;

struct Invocation {
  std::function<Outcome()> action;  // set by the command that was called
};

void addRun(CLI::App& app, Invocation& invocation);
void addInspect(CLI::App& app, Invocation& invocation);
void addDemo(CLI::App& app, Invocation& invocation);
void addDoctor(CLI::App& app, Invocation& invocation);
void addScan(CLI::App& app, Invocation& invocation);
void addTrain(CLI::App& app, Invocation& invocation);
void addBench(CLI::App& app, Invocation& invocation);
void addCheck(CLI::App& app, Invocation& invocation);
void addCompare(CLI::App& app, Invocation& invocation);
void addCriteria(CLI::App& app, Invocation& invocation);
void addReport(CLI::App& app, Invocation& invocation);
void addPack(CLI::App& app, Invocation& invocation);
void addUnpack(CLI::App& app, Invocation& invocation);
void addRepair(CLI::App& app, Invocation& invocation);
void addSnippet(CLI::App& app, Invocation& invocation);
void addGui(CLI::App& app, Invocation& invocation);
void addWorker(CLI::App& app, Invocation& invocation);

// What `inspect --json` writes when there is nothing to show.
nlohmann::json inspectErrorDocument(const base::Error& error);

}  // namespace ulpscope::cli
