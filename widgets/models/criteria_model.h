// The limits of a criteria file, one a row; the limit column is edited in place.
#pragma once

#include "core/session/criteria_lines.h"

#include <QAbstractTableModel>

#include <vector>

namespace ulpscope::models {

class CriteriaModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kAbout, kName, kLimit, kMeaning, kColumnCount };
  // kPointerRole: JSON pointer of the row's limit.
  enum Role { kPointerRole = Qt::UserRole + 1 };

  explicit CriteriaModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  // showAll: also the limits that the file does not name.
  void setLines(const std::vector<session::CriteriaLine>& lines, bool showAll);
  int rowOf(const QString& pointer) const;  // -1: not shown

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // Takes a number in C notation, or nothing for "not judged". Changes nothing here: it asks by limitEdited(), so that undo sees it.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 signals:
  void limitEdited(const QString& pointer, std::optional<double> limit);
  void refused(const QString& why);

 private:
  std::vector<session::CriteriaLine> m_lines;
};

}  // namespace ulpscope::models
