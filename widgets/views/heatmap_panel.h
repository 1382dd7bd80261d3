// The middle of the window: heatmap, row profile and colour bar under their controls; or the same values as a table.
#pragma once

#include "widgets/models/heatmap_table_model.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace ulpscope::plots {
class ColorBar;
class ProfilePlot;
}  // namespace ulpscope::plots

namespace ulpscope::views {

class LegendWidget;

class HeatmapPanel : public QWidget {
  Q_OBJECT

 public:
  explicit HeatmapPanel(Workbench& workbench, QWidget* parent = nullptr);

  plots::HeatmapView* heatmap() const { return m_heatmap; }
  QTableView* table() const { return m_table; }
  const models::HeatmapContent* content() const { return m_content.get(); }
  const render::ColorRange& range() const { return m_range; }
  QString heading() const;
  void refreshIcons();

 signals:
  void cellHovered(const QString& text);

 private:
  QWidget* makeBar();
  QWidget* makeMap();
  void connectViews();
  void refresh();
  void refreshRange();
  void showContent(const models::RunPointer& run);
  void refreshSelection();
  void alignSides();
  QString textOf(std::int64_t row, std::int64_t sample) const;
  std::int64_t rowOf(const QString& path) const;
  render::Metric metric() const;
  const std::vector<render::ModuleRow>& rowsOf(const models::LoadedRun& run) const;
  render::ColorMap colorMap() const;
  double tolerance() const;

  Workbench& m_workbench;
  QComboBox* m_metric = nullptr;
  QComboBox* m_rows = nullptr;
  QComboBox* m_order = nullptr;
  QComboBox* m_colors = nullptr;
  QToolButton* m_showTable = nullptr;
  QToolButton* m_fit = nullptr;
  QLabel* m_heading = nullptr;
  QLabel* m_message = nullptr;
  LegendWidget* m_legend = nullptr;
  QStackedWidget* m_stack = nullptr;
  plots::HeatmapView* m_heatmap = nullptr;
  plots::ProfilePlot* m_profile = nullptr;
  plots::ColorBar* m_colorBar = nullptr;
  QTableView* m_table = nullptr;
  models::HeatmapTableModel m_tableModel;
  std::shared_ptr<const models::HeatmapContent> m_content;
  render::ColorRange m_range;
  std::vector<render::ModuleRow> m_rowsOther;  // the run compared with, for tooltips of B - A
  render::HeatmapData m_dataA, m_dataB;
};

}  // namespace ulpscope::views
