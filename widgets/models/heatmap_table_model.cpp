#include "widgets/models/heatmap_table_model.h"

#include "widgets/models/text.h"

namespace ulpscope::models {

void HeatmapTableModel::setContent(std::shared_ptr<const HeatmapContent> content) {
  beginResetModel();
  m_content = std::move(content);
  endResetModel();
}

int HeatmapTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() || !m_content ? 0 : static_cast<int>(m_content->rowCount()); }

int HeatmapTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() || !m_content ? 0 : static_cast<int>(m_content->columnCount()); }

QVariant HeatmapTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const render::Cell cell = m_content->cellAt(index.row(), index.column());
  if (role == Qt::DisplayRole) return qt(render::cellText(cell));
  if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole)
    return QStringLiteral("%1 · sample %2 · %3 %4").arg(rowTitle(m_content->rows[static_cast<std::size_t>(index.row())]),
                                                        m_content->sampleId(m_content->sampleAt(index.column())), m_content->metric, qt(render::exactText(cell)));
  if (role == kSortRole) return cell.value;
  if (role == Qt::TextAlignmentRole) return QVariant(static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
  return {};
}

QVariant HeatmapTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (!m_content || section < 0) return {};
  if (orientation == Qt::Vertical) {
    if (section >= rowCount()) return {};
    const render::ModuleRow& row = m_content->rows[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole) return row.isOpSite() ? QStringLiteral("    ") + rowText(row) : rowText(row);
    return role == Qt::ToolTipRole ? QVariant(rowTitle(row)) : QVariant();
  }
  return role == Qt::DisplayRole && section < columnCount() ? QVariant(m_content->sampleId(m_content->sampleAt(section))) : QVariant();
}

}  // namespace ulpscope::models
