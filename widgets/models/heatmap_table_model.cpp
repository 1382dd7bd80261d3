#include "widgets/models/heatmap_table_model.h"

#include "widgets/models/text.h"

namespace ulpscope::models {

void HeatmapTableModel::setContent(std::shared_ptr<const HeatmapContent> content) {
  beginResetModel();
  m_content = std::move(content);
  endResetModel();
}

int HeatmapTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !m_content ? 0 : static_cast<int>(m_content->rows.size());
}

int HeatmapTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || !m_content ? 0 : static_cast<int>(m_content->columns.size());
}

QVariant HeatmapTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const render::Cell& cell = m_content->data.at(index.row(), m_content->columns[static_cast<std::size_t>(index.column())]);
  if (role == Qt::DisplayRole) return qt(render::cellText(cell));
  if (role == kSortRole) return cell.value;
  if (role == Qt::TextAlignmentRole) return QVariant(static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
  return {};
}

QVariant HeatmapTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || !m_content || section < 0) return {};
  if (orientation == Qt::Vertical)
    return section < rowCount() ? modulePathText(qt(m_content->rows[static_cast<std::size_t>(section)].path)) : QVariant();
  return section < columnCount() ? m_content->sampleIds.value(m_content->columns[static_cast<std::size_t>(section)]) : QVariant();
}

}  // namespace ulpscope::models
