// A point of a scan becomes a sample of a new set: its name, what is true of it, where the file goes.
#pragma once

#include "widgets/jobs/scan_inputs.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace ulpscope::views {

class AddPointDialog : public QDialog {
  Q_OBJECT

 public:
  AddPointDialog(const jobs::ScanPlace& place, const QString& sessionPath, QWidget* parent);
  jobs::PointWriter::Order order() const;
  QLineEdit* idField() const { return m_id; }
  QLineEdit* pathField() const { return m_path; }
  QComboBox* labelBox() const { return m_label; }  // shown where the set has labels
  QPushButton* writeButton() const { return m_write; }
  QString statement() const;  // what the new file will hold and leave out
  QString problem() const;    // empty: it can be written

 private:
  void makeFields(const QString& sessionPath);
  void makeLayout();
  void choosePath();
  void refresh();

  jobs::ScanPlace m_place;
  QLineEdit *m_id, *m_path;
  QComboBox* m_label;
  QLabel *m_statement, *m_problem;
  QPushButton* m_write = nullptr;
};

// "boundary: a..b t=0.53125": no sample's name yet.
QString boundaryId(const jobs::ScanPlace& place);

}  // namespace ulpscope::views
