#include "commands.h"
#include "core/base/number_text.h"
#include "core/model/operators.h"
#include "core/protocol/inspection.h"
#include "engine_client.h"
#include "json_output.h"
#include "run_command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using nlohmann::json;
using protocol::Inspection;
using protocol::TargetDevice;

struct InspectWords {
  std::string model, target = "cuda", json;
};

std::string signature(const model::ModelInfo& info) {
  std::string text;
  for (const model::Argument& argument : info.arguments)
    text += (text.empty() ? "" : ", ") + argument.name + ": " + argument.type + (argument.hasDefault ? " (optional)" : "");
  return "forward(" + text + ")";
}

std::int64_t parameterCount(const model::ModelInfo& info) {
  std::int64_t count = 0;
  for (const model::ModuleNode& module : info.modules) count += module.parameterCount;
  return count;
}

std::string treeText(const model::ModelInfo& info) {
  std::string text = "MODULES\n";
  for (const model::ModuleNode& module : info.modules) {
    const auto depth = module.path.empty() ? 0 : 1 + std::count(module.path.begin(), module.path.end(), '.');
    const std::string name = module.path.empty() ? "(root)" : model::leafName(module.path);
    text += fmt::format("  {:<40} {}", std::string(static_cast<std::size_t>(2 * depth), ' ') + name, module.typeName);
    if (module.parameterCount > 0) text += ", " + base::counted(module.parameterCount, "parameter");
    for (const std::string& alias : module.aliases) text += ", also " + alias;
    text += "\n";
  }
  return text;
}

std::string opsText(const Inspection& inspection) {
  if (inspection.ops.empty()) return "OP SITES\n  none\n";
  std::map<std::string, int> classes;
  std::string rows;
  for (const model::StaticOp& op : inspection.ops) {
    ++classes[op.policyClass];
    const std::string name = model::qualifiedName(op.op, op.overload);
    const std::string module = op.modulePath.empty() ? "(root)" : op.modulePath;
    rows += fmt::format("  {:<20} {:<32} {:<36} {}\n", op.policyClass, name, module, op.source);
  }
  std::string text = "OP SITES, as they stand in the code, and what autocast (" + inspection.policyTable + ") does to each\n" + rows + "  in all: ";
  for (const auto& [name, count] : classes) text += fmt::format("{}{} {}", name == classes.begin()->first ? "" : ", ", count, name);
  text += "\n";
  for (const std::string& name : model::policyClasses())
    if (classes.contains(name)) text += fmt::format("  {}: {}\n", name, model::classMeaning(name));
  return text;
}

std::string operatorRow(const model::Operator& op) {
  std::string row = fmt::format("  {:<20} {:<32} {:>5}  {:<12} {}", op.policyClass, model::qualifiedName(op.op, op.overload), op.sites, op.kernel.kernel, op.kernel.hasAutocastKernel ? "yes" : "no");
  return row + (model::isCustom(op.op) ? "   " + model::treatment(op) : "") + "\n";
}

// What the engine's build has for each, which is another question than what a table says of it.
std::string operatorsText(const Inspection& inspection) {
  const std::vector<model::Operator> operators = model::operatorsOf(inspection.ops, inspection.kernels);
  if (operators.empty()) return "";
  const TargetDevice& target = inspection.target;
  std::string text = fmt::format("OPERATORS, and what LibTorch {} registers for {}\n  {:<20} {:<32} {:>5}  {:<12} {}\n", target.libtorch, target.name, "class", "op", "sites", "kernel", "autocast kernel");
  std::set<std::string> kernels;
  for (const model::Operator& op : operators) {
    text += operatorRow(op);
    kernels.insert(op.kernel.kernel);
  }
  for (const std::string& kernel : kernels) text += "  " + kernel + ": " + model::kernelMeaning(kernel) + "\n";
  for (const std::string& note : protocol::targetNotes(target)) text += "  note: " + note + "\n";
  return text + "\n";
}

// The same op under the device's other tables, where those say something else.
std::string differencesText(const Inspection& inspection) {
  std::map<std::string, int> rows;
  for (const model::StaticOp& op : inspection.ops)
    for (const auto& [table, policyClass] : op.otherTables)
      if (policyClass != op.policyClass)
        ++rows[fmt::format("  {:<12} {:<20} instead of {:<20} {}", table, policyClass, op.policyClass, model::qualifiedName(op.op, op.overload))];
  if (inspection.ops.empty()) return "";
  std::string text = "DIFFERENT IN OTHER TABLES OF THIS DEVICE (--target NAME)\n";
  for (const auto& [row, count] : rows) text += fmt::format("{} ({})\n", row, base::counted(count, "site"));
  return text + (rows.empty() ? "  nothing\n" : "") + "\n";
}

std::string inspectText(const Inspection& inspection) {
  const model::ModelInfo& info = inspection.model;
  std::string text = fmt::format("{}: {}, {}\n{}\ncode {:.12}, weights {:.12} (SHA-256)\n\n",
                                 std::filesystem::path(info.path).filename().string(),
                                 base::counted(static_cast<std::int64_t>(info.modules.size()), "module"),
                                 base::counted(parameterCount(info), "parameter"), signature(info),
                                 info.fingerprint.codeSha256, info.fingerprint.weightsSha256);
  text += treeText(info) + "\n" + opsText(inspection) + "\n" + operatorsText(inspection) + differencesText(inspection);
  std::vector<std::string> warnings = info.warnings;
  for (const std::string& warning : inspection.warnings)
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(warning);
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

json inspectDocument(const json& result) {
  json document = {{"schema", 1}, {"status", "ok"}, {"error", nullptr}};
  for (const char* key : {"model", "ops", "policy_table", "target", "warnings"}) document[key] = result.at(key);
  return document;
}

Outcome inspectAction(const InspectWords& words) {
  if (words.model.empty()) return Error{ErrorKind::usage, "which model? MODEL is missing", "inspect", "for instance: ulpscope inspect model.ts"};
  auto client = EngineClient::start();
  if (!client) return client.error();
  const std::string path = std::filesystem::absolute(words.model).lexically_normal().string();
  const auto answer = client.value().ask([&](int id) { return protocol::encodeInspect(id, path, words.target); }, shownPath(path));
  if (!answer) return answer.error();
  const auto inspection = protocol::inspectionFromJson(answer.value());
  if (!inspection) return inspection.error();
  if (words.json != "-") std::fputs(inspectText(inspection.value()).c_str(), stdout);
  const auto written = writeJson(words.json, inspectDocument(answer.value()));
  if (!written) return written.error();
  return 0;
}

constexpr const char* kHelp =
    "Shows a model's modules, its op sites, what autocast does to each and what the engine's LibTorch registers for its ops, without running it.\n"
    "It says nothing of a device that is not here. ROCm calls its device cuda too.\n\n"
    "Examples:\n"
    "  ulpscope inspect model.ts\n"
    "  ulpscope inspect model.ts --target cuda@1.13\n"
    "  ulpscope inspect model.ts --json - | jq '.ops[] | select(.class == \"fp32\")'\n";

}  // namespace

json inspectErrorDocument(const Error& error) {
  return {{"schema", 1},      {"status", error.kind == ErrorKind::cancelled ? "cancelled" : "error"},
          {"error", base::toJson(error)}, {"model", nullptr}, {"ops", json::array()}, {"policy_table", nullptr}, {"target", nullptr}, {"warnings", json::array()}};
}

void addInspect(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("inspect", kHelp);
  auto words = std::make_shared<InspectWords>();
  command->add_option("MODEL", words->model, "TorchScript file (.pt, .ts)");
  command->add_option("--target", words->target, "whose autocast: cuda (default) or cpu, by the newest table known, or by another: cuda@1.13")->type_name("T");
  command->add_option("--json", words->json, "write the description to F ('-': standard output)")->type_name("F");
  command->callback([words, &invocation] { invocation.action = [words] { return inspectAction(*words); }; });
}

}  // namespace ulpscope::cli
