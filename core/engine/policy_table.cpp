#include "core/engine/policy_table.h"

#include "core/base/nearest_names.h"

#include <sstream>

namespace ulpscope::engine {

std::string name(PolicyClass policyClass) {
  switch (policyClass) {
    case PolicyClass::none: return "none";
    case PolicyClass::lowerPrecision: return "lower_precision_fp";
    case PolicyClass::fp32: return "fp32";
    case PolicyClass::fp32SetOptDtype: return "fp32_set_opt_dtype";
    case PolicyClass::fp32AppendDtype: return "fp32_append_dtype";
    case PolicyClass::promote: return "promote";
    case PolicyClass::refused: return "refused";
  }
  return "none";
}

namespace {

template <typename Visit>
void forEachWord(std::string_view words, Visit&& visit) {
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) visit("aten::" + word);
}

}  // namespace

PolicyTable::PolicyTable(std::string device, std::string series, std::string source, const std::vector<Row>& rows)
    : PolicyTable(std::move(device), std::move(series), std::move(source), Classes{}.changed("", rows)) {}

PolicyTable::Classes PolicyTable::Classes::changed(std::string_view removed, const std::vector<Row>& added) const {
  Classes changed = *this;
  forEachWord(removed, [&](const std::string& op) { ULPSCOPE_CHECK(changed.byOp.erase(op) == 1); });
  for (const Row& row : added)
    forEachWord(row.ops, [&](const std::string& op) {
      const bool isNew = changed.byOp.emplace(op, row.policyClass).second;
      ULPSCOPE_CHECK(isNew);
    });
  return changed;
}

PolicyClass PolicyTable::classOf(const std::string& qualifiedOp) const {
  const auto found = m_classes.byOp.find(qualifiedOp);
  return found == m_classes.byOp.end() ? PolicyClass::none : found->second;
}

namespace {

// Oldest first; the last of a device is the newest known.
const std::vector<const PolicyTable*>& allTables() {
  static const std::vector<const PolicyTable*> tables{&cuda113(), &cuda26(), &cuda212(), &cpu113(), &cpu26(), &cpu212()};
  return tables;
}

}  // namespace

base::Result<const PolicyTable*> findPolicyTable(const std::string& wanted) {
  const PolicyTable* found = nullptr;
  for (const PolicyTable* table : allTables())
    if (wanted == table->name() || wanted == table->device()) found = table;
  if (found) return found;
  return base::Error{base::ErrorKind::usage, "is no policy table that is known", "--policy " + wanted, "use cuda or cpu (the newest), or " + base::quotedChoice(policyTableNames())};
}

std::vector<std::string> policyTableNames() {
  std::vector<std::string> names;
  for (const PolicyTable* table : allTables()) names.push_back(table->name());
  return names;
}

std::vector<const PolicyTable*> tablesOf(const std::string& device) {
  std::vector<const PolicyTable*> tables;
  for (const PolicyTable* table : allTables())
    if (table->device() == device) tables.push_back(table);
  return tables;
}

std::string refusalText() {
  return "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. Many models use a sigmoid layer right "
         "before the binary cross entropy layer. In this case, combine the two layers using "
         "torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss. binary_cross_entropy_with_logits and "
         "BCEWithLogits are safe to autocast.";
}

}  // namespace ulpscope::engine
