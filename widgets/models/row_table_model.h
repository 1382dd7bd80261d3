// A table of texts with sort values: what the small tables (non-finite, decisions, runs, sites) are made of.
#pragma once

#include "widgets/models/text.h"

#include <QAbstractTableModel>

#include <vector>

namespace ulpscope::models {

struct TableCell {
  QString text;
  QVariant sort;           // not set: the text
  bool isNumber = false;   // right-aligned
  QString tooltip = {};    // empty: the text
};

TableCell textCell(const QString& text);
TableCell textCell(const std::string& text);
TableCell numberCell(double value);         // base::shortNumber; NaN sorts below everything
TableCell countCell(std::int64_t value);

class RowTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  // keyRole: what a row stands for, meaning as the derived model says (an index, an id).
  enum Role { kKeyRole = Qt::UserRole + 1 };
  struct Row {
    QVariant key;
    std::vector<TableCell> cells;  // one a column
  };

  explicit RowTableModel(QStringList headers, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  int rowOfKey(const QVariant& key) const;  // -1: none

 protected:
  void setRows(std::vector<Row> rows);
  void setHeaders(const QStringList& headers);  // same number of columns

 private:
  QStringList m_headers;
  std::vector<Row> m_rows;
};

}  // namespace ulpscope::models
