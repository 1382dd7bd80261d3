#include "widgets/models/criteria_model.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <QLocale>

#include <cmath>

namespace ulpscope::models {

void CriteriaModel::setLines(const std::vector<session::CriteriaLine>& lines, bool showAll) {
  std::vector<session::CriteriaLine> shown;
  for (const session::CriteriaLine& line : lines)
    if (showAll || line.listed) shown.push_back(line);
  const bool sameRows = shown.size() == m_lines.size() && std::equal(shown.begin(), shown.end(), m_lines.begin(), [](const auto& a, const auto& b) { return a.pointer == b.pointer; });
  if (sameRows) {
    m_lines = std::move(shown);
    if (!m_lines.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, kColumnCount - 1));
    return;
  }
  beginResetModel();
  m_lines = std::move(shown);
  endResetModel();
}

int CriteriaModel::rowOf(const QString& pointer) const {
  for (std::size_t i = 0; i < m_lines.size(); ++i)
    if (qt(m_lines[i].pointer) == pointer) return static_cast<int>(i);
  return -1;
}

int CriteriaModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_lines.size()); }
int CriteriaModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumnCount; }

QVariant CriteriaModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const session::CriteriaLine& line = m_lines[static_cast<std::size_t>(index.row())];
  if (role == kPointerRole) return qt(line.pointer);
  if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole) return qt(line.meaning);
  if (role == Qt::TextAlignmentRole && index.column() == kLimit) return QVariant(static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
  if (role == Qt::EditRole && index.column() == kLimit) return line.limit ? qt(base::exactNumber(*line.limit)) : QString();
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case kAbout: return qt(line.about);
    case kName: return qt(line.name);
    case kLimit: return line.limit ? (line.atLeast ? QStringLiteral("≥ ") : QStringLiteral("≤ ")) + qt(base::exactNumber(*line.limit)) : tr("not judged");
    case kMeaning: return qt(line.meaning);
    default: return {};
  }
}

QVariant CriteriaModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return QStringList{tr("About"), tr("What"), tr("Limit"), tr("Measured as")}.value(section);
}

Qt::ItemFlags CriteriaModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  return index.column() == kLimit ? flags | Qt::ItemIsEditable : flags;
}

bool CriteriaModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != kLimit || role != Qt::EditRole) return false;
  const session::CriteriaLine& line = m_lines[static_cast<std::size_t>(index.row())];
  const QString text = value.toString().trimmed();
  std::optional<double> limit;
  if (!text.isEmpty()) {
    bool isNumber = false;
    limit = QLocale::c().toDouble(text, &isNumber);
    if (!isNumber || !std::isfinite(*limit)) {
      emit refused(tr("%1 · %2: \"%3\" is no finite number; write one as 0.001 or 1e-3, or nothing for \"not judged\"").arg(qt(line.about), qt(line.name), text));
      return false;
    }
  }
  if (limit == line.limit) return true;
  emit limitEdited(qt(line.pointer), limit);
  return true;
}

}  // namespace ulpscope::models
