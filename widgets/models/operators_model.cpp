#include "widgets/models/operators_model.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <map>

namespace ulpscope::models {
namespace {

QString elsewhereText(const model::Operator& op) {
  QStringList tables;
  for (const auto& [table, policyClass] : op.otherTables) tables << QStringLiteral("%1: %2").arg(qt(table), qt(policyClass));
  return tables.isEmpty() ? QStringLiteral("the same") : tables.join(QStringLiteral(", "));
}

QString modulesText(const model::Operator& op) {
  QStringList paths;
  for (const std::string& path : op.modulePaths) paths << modulePathText(qt(path));
  return paths.join(QStringLiteral(", "));
}

RowTableModel::Row rowOf(const model::Operator& op, qlonglong number) {
  const auto& order = model::policyClasses();
  const auto rank = std::find(order.begin(), order.end(), op.policyClass) - order.begin();
  return {number,
          {textCell(model::qualifiedName(op.op, op.overload)), {qt(op.policyClass), static_cast<qlonglong>(rank), false, qt(model::treatment(op))}, countCell(op.sites),
           {qt(op.kernel.kernel), {}, false, qt(model::kernelMeaning(op.kernel.kernel))}, textCell(op.kernel.hasAutocastKernel ? QStringLiteral("yes") : QStringLiteral("no")),
           textCell(elsewhereText(op)), textCell(modulesText(op))}};
}

}  // namespace

OperatorsModel::OperatorsModel(QObject* parent)
    : RowTableModel({QStringLiteral("Op"), QStringLiteral("Class"), QStringLiteral("Sites"), QStringLiteral("Kernel"), QStringLiteral("Autocast kernel"), QStringLiteral("In other PyTorch series"), QStringLiteral("Modules")}, parent) {}

void OperatorsModel::setInspection(const protocol::Inspection& inspection) {
  m_operators = model::operatorsOf(inspection.ops, inspection.kernels);
  std::vector<Row> rows;
  for (const model::Operator& op : m_operators) rows.push_back(rowOf(op, static_cast<qlonglong>(rows.size())));
  setRows(std::move(rows));
}

void OperatorsModel::clear() {
  m_operators.clear();
  setRows({});
}

QString operatorsSummary(const std::vector<model::Operator>& operators, const QString& policyTable) {
  std::map<std::string, std::int64_t> classes;
  std::int64_t sites = 0;
  for (const model::Operator& op : operators) {
    ++classes[op.policyClass];
    sites += op.sites;
  }
  QStringList parts{QStringLiteral("%1 at %2 under %3").arg(qt(base::counted(static_cast<std::int64_t>(operators.size()), "op")), qt(base::counted(sites, "site")), policyTable)};
  if (classes.contains("refused")) parts << QStringLiteral("raises under autocast: %1").arg(classes.at("refused"));
  for (const std::string& name : model::policyClasses())
    if (name != "refused" && classes.contains(name)) parts << QStringLiteral("%1: %2").arg(qt(name)).arg(classes.at(name));
  return parts.join(QStringLiteral("  ·  "));
}

}  // namespace ulpscope::models
