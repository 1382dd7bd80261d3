// What the shown op site was given: a table, and a line where there is more to say.
#pragma once

#include "widgets/models/operands_model.h"

#include <QWidget>

class QLabel;
class QTableView;

namespace ulpscope::views {

class OperandsView : public QWidget {
  Q_OBJECT

 public:
  explicit OperandsView(QWidget* parent = nullptr);
  void setSite(const models::RunPointer& run, std::int64_t site);
  QTableView* table() const { return m_table; }
  QString note() const;  // empty: none is shown

 signals:
  void siteChosen(std::int64_t site);  // by Enter or a double click on what it made

 private:
  void fitHeight();

  models::OperandsModel m_model;
  QLabel* m_note;
  QTableView* m_table;
};

}  // namespace ulpscope::views
