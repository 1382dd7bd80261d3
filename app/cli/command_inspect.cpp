#include "commands.h"
#include "core/base/number_text.h"
#include "core/model/model_info.h"
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

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

struct InspectWords {
  std::string model, target = "cuda", json;
};

struct Inspection {
  json raw;
  model::ModelInfo model;
  std::vector<model::StaticOp> ops;
  std::string policyTable;
  std::vector<std::string> warnings;
};

Result<Inspection> inspectionFrom(const json& result) try {
  auto info = model::modelInfoFromJson(result.at("model"));
  if (!info) return info.error();
  Inspection inspection{result, std::move(info).value(), {}, result.at("policy_table"),
                        result.at("warnings").get<std::vector<std::string>>()};
  for (const json& op : result.at("ops"))
    inspection.ops.push_back({op.at("module"), op.at("op"), op.at("overload"), op.at("source"), op.at("class"),
                              op.at("other_tables").get<std::map<std::string, std::string>>()});
  return inspection;
} catch (const json::exception& e) {
  return Error{ErrorKind::internal, std::string("the engine's description of the model is damaged: ") + e.what(), "", ""};
}

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

// In the order in which they matter to a reader.
const std::vector<std::pair<std::string, std::string>> kClassMeanings = {
    {"lower_precision_fp", "inputs are cast to FP16 or BF16"},
    {"fp32", "inputs are cast to FP32"},
    {"fp32_set_opt_dtype", "computes in FP32, unless the call names a dtype"},
    {"fp32_append_dtype", "computes in FP32"},
    {"promote", "inputs are cast to the widest dtype among them"},
    {"refused", "raises under autocast"},
    {"opened", "a fused layer: its own ops run instead, one by one"},
    {"none", "runs in the dtypes it is given; ops inside it may stand on a list"}};

std::string opsText(const Inspection& inspection) {
  if (inspection.ops.empty()) return "OP SITES\n  none\n";
  std::map<std::string, int> classes;
  std::string rows;
  for (const model::StaticOp& op : inspection.ops) {
    ++classes[op.policyClass];
    const std::string name = op.op + (op.overload.empty() ? "" : "." + op.overload);
    const std::string module = op.modulePath.empty() ? "(root)" : op.modulePath;
    rows += fmt::format("  {:<20} {:<32} {:<36} {}\n", op.policyClass, name, module, op.source);
  }
  std::string text = "OP SITES, as they stand in the code, and what autocast (" + inspection.policyTable + ") does to each\n" + rows + "  in all: ";
  for (const auto& [name, count] : classes) text += fmt::format("{}{} {}", name == classes.begin()->first ? "" : ", ", count, name);
  text += "\n";
  for (const auto& [name, meaning] : kClassMeanings)
    if (classes.contains(name)) text += fmt::format("  {}: {}\n", name, meaning);
  return text;
}

// The same op under the device's other tables, where those say something else.
std::string differencesText(const Inspection& inspection) {
  std::map<std::string, int> rows;
  for (const model::StaticOp& op : inspection.ops)
    for (const auto& [table, policyClass] : op.otherTables)
      if (policyClass != op.policyClass)
        ++rows[fmt::format("  {:<12} {:<20} instead of {:<20} {}", table, policyClass, op.policyClass, op.op + (op.overload.empty() ? "" : "." + op.overload))];
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
  text += treeText(info) + "\n" + opsText(inspection) + "\n" + differencesText(inspection);
  std::vector<std::string> warnings = info.warnings;
  for (const std::string& warning : inspection.warnings)
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(warning);
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

json inspectDocument(const json& result) {
  json document = {{"schema", 1}, {"status", "ok"}, {"error", nullptr}};
  for (const char* key : {"model", "ops", "policy_table", "warnings"}) document[key] = result.at(key);
  return document;
}

Outcome inspectAction(const InspectWords& words) {
  if (words.model.empty()) return Error{ErrorKind::usage, "which model? MODEL is missing", "inspect", "for instance: ulpscope inspect model.ts"};
  auto client = EngineClient::start();
  if (!client) return client.error();
  const std::string path = std::filesystem::absolute(words.model).lexically_normal().string();
  const auto answer = client.value().ask([&](int id) { return protocol::encodeInspect(id, path, words.target); }, shownPath(path));
  if (!answer) return answer.error();
  const auto inspection = inspectionFrom(answer.value());
  if (!inspection) return inspection.error();
  if (words.json != "-") std::fputs(inspectText(inspection.value()).c_str(), stdout);
  const auto written = writeJson(words.json, inspectDocument(answer.value()));
  if (!written) return written.error();
  return 0;
}

constexpr const char* kHelp =
    "Shows a model's modules, its op sites and what autocast does to each, without running it.\n\n"
    "Examples:\n"
    "  ulpscope inspect model.ts\n"
    "  ulpscope inspect model.ts --target cuda@1.13\n"
    "  ulpscope inspect model.ts --json - | jq '.ops[] | select(.class == \"fp32\")'\n";

}  // namespace

json inspectErrorDocument(const Error& error) {
  return {{"schema", 1},      {"status", error.kind == ErrorKind::cancelled ? "cancelled" : "error"},
          {"error", base::toJson(error)}, {"model", nullptr}, {"ops", json::array()}, {"policy_table", nullptr}, {"warnings", json::array()}};
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
