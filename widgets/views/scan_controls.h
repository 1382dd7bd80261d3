// What the next scan is to be: kind, samples, how finely, with which FP32 regions; the button that starts it, and why it cannot.
#pragma once

#include "widgets/views/workbench.h"

#include <QWidget>

#include <array>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QStringListModel;
class QToolButton;

namespace ulpscope::views {

class ScanControls : public QWidget {
  Q_OBJECT

 public:
  explicit ScanControls(Workbench& workbench, QWidget* parent = nullptr);
  QComboBox* kindBox() const { return m_kind; }
  QLineEdit* sampleField(models::ScanChoice::Slot slot) const { return m_fields[slot]; }
  QSpinBox* stepsBox() const { return m_steps; }
  QSpinBox* gridBox() const { return m_grid; }
  QDoubleSpinBox* limitBox() const { return m_limit; }
  QCheckBox* regionsBox() const { return m_regions; }
  QToolButton* swapButton() const { return m_swap; }
  QPushButton* scanButton() const { return m_scan; }  // cancels while a scan goes on
  QString reason() const;  // why no scan can be started now; empty: one can

 private:
  QWidget* labelled(const QString& text, QWidget* editor);
  void makeEditors();
  void makeLayout();
  void connectEditors();
  void refreshSession();
  void refresh();
  void start();

  Workbench& m_workbench;
  QStringListModel* m_ids;
  std::shared_ptr<const session::Session> m_session;  // whose ids the fields complete
  std::array<QLineEdit*, models::ScanChoice::kSlotCount> m_fields{};
  std::array<QWidget*, models::ScanChoice::kSlotCount> m_slots{};
  QComboBox* m_kind;
  QSpinBox *m_steps, *m_grid;
  QDoubleSpinBox* m_limit;
  QWidget *m_stepsGroup = nullptr, *m_gridGroup = nullptr, *m_limitGroup = nullptr;
  QCheckBox* m_regions;
  QToolButton* m_swap;
  QPushButton* m_scan;
  QLabel* m_reason;
};

}  // namespace ulpscope::views
