#include "widgets/models/row_table_model.h"

#include "core/base/number_text.h"

#include <cmath>

namespace ulpscope::models {

TableCell textCell(const QString& text) { return {text, {}, false}; }
TableCell textCell(const std::string& text) { return textCell(qt(text)); }

TableCell numberCell(double value) {
  // NaN would break the order of a sort.
  return {qt(base::shortNumber(value)), std::isnan(value) ? -HUGE_VAL : value, true};
}

TableCell countCell(std::int64_t value) { return {qt(base::groupedInteger(value)), static_cast<qlonglong>(value), true}; }

RowTableModel::RowTableModel(QStringList headers, QObject* parent) : QAbstractTableModel(parent), m_headers(std::move(headers)) {}

int RowTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }

int RowTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_headers.size()); }

QVariant RowTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = m_rows[static_cast<std::size_t>(index.row())];
  const TableCell& cell = row.cells[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole: return cell.text;
    case Qt::ToolTipRole: return cell.tooltip.isEmpty() ? cell.text : cell.tooltip;
    case Qt::AccessibleTextRole: return cell.tooltip.isEmpty() ? QVariant() : QVariant(cell.tooltip);
    case kSortRole: return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case kKeyRole: return row.key;
    case Qt::TextAlignmentRole: return QVariant(static_cast<int>(cell.isNumber ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter));
    default: return {};
  }
}

QVariant RowTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= m_headers.size()) return {};
  if (role == Qt::DisplayRole) return m_headers[section];
  if (role == Qt::TextAlignmentRole) {
    const bool isNumber = !m_rows.empty() && m_rows.front().cells[static_cast<std::size_t>(section)].isNumber;
    return QVariant(static_cast<int>((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  return {};
}

int RowTableModel::rowOfKey(const QVariant& key) const {
  for (std::size_t i = 0; i < m_rows.size(); ++i)
    if (m_rows[i].key == key) return static_cast<int>(i);
  return -1;
}

void RowTableModel::setRows(std::vector<Row> rows) {
  beginResetModel();
  m_rows = std::move(rows);
  endResetModel();
}

void RowTableModel::setHeaders(const QStringList& headers) {
  m_headers = headers;
  emit headerDataChanged(Qt::Horizontal, 0, static_cast<int>(headers.size()) - 1);
}

}  // namespace ulpscope::models
