#include "commands.h"
#include "core/protocol/message.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

namespace ulpscope::cli {
namespace {

Outcome snippetAction(const std::string& name) {
  const auto path = protocol::findData("python/" + name);
  if (!path) return path.error();
  std::ifstream file(path.value(), std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return base::Error{base::ErrorKind::input, "cannot be read", path.value(), "reinstall Ulpscope"};
  std::fputs(text.str().c_str(), stdout);  // main looks whether it could be written
  return 0;
}

constexpr const char* kHelp =
    "Prints Python lines that export your model, its inputs and its eager outputs, or the recorder, which runs it where it is.\n\n"
    "Examples:\n"
    "  ulpscope snippet > export.py\n"
    "  ulpscope snippet --trace\n"
    "  ulpscope snippet --recorder > ulpscope_recorder.py\n";

}  // namespace

void addSnippet(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("snippet", kHelp);
  auto script = std::make_shared<bool>(false), trace = std::make_shared<bool>(false), recorder = std::make_shared<bool>(false);
  CLI::Option* scripted = command->add_flag("--script", *script, "for torch.jit.script (default)");
  CLI::Option* traced = command->add_flag("--trace", *trace, "for torch.jit.trace")->excludes(scripted);
  command->add_flag("--recorder", *recorder, "a Python module that records FP32 and autocast in your own PyTorch, and training loops")->excludes(scripted)->excludes(traced);
  command->callback([script, trace, recorder, &invocation] {
    invocation.action = [trace, recorder] { return snippetAction(*recorder ? "ulpscope_recorder.py" : *trace ? "snippet_trace.py" : "snippet_script.py"); };
  });
}

}  // namespace ulpscope::cli
