// The choices above the heatmap: metric, rows, scale, order of samples, colours; show all, table.
#pragma once

#include "widgets/views/heatmap_builder.h"

#include <QWidget>

class QComboBox;
class QToolButton;

namespace ulpscope::views {

class HeatmapControls : public QWidget {
  Q_OBJECT

 public:
  explicit HeatmapControls(QWidget* parent = nullptr);
  HeatmapChoice choice() const;
  bool showsTable() const;
  // What the runs shown have not is disabled and says why.
  void refresh(const Workbench& workbench);
  // While a run goes on: its one metric, its rows, its order. refresh() takes it back.
  void setLive();
  void refreshIcons();

 signals:
  void changed();
  void fitClicked();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QComboBox* addCombo(const QString& label, const QString& name);
  void refreshMetrics(const std::vector<models::RunPointer>& runs);
  void refreshOrders(const models::RunPointer& run);

  QComboBox* m_metric = nullptr;
  QComboBox* m_rows = nullptr;
  QComboBox* m_scale = nullptr;
  QComboBox* m_order = nullptr;
  QComboBox* m_colors = nullptr;
  QToolButton* m_fit = nullptr;
  QToolButton* m_table = nullptr;
};

}  // namespace ulpscope::views
