// The middle of the window: heatmap, row profile and colour bar under their controls; or the same values as a table.
#pragma once

#include "widgets/jobs/tensor_loader.h"
#include "widgets/models/heatmap_table_model.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/views/heatmap_builder.h"
#include "widgets/views/workbench.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QAction;
class QCheckBox;
class QLabel;
class QMenu;
class QStackedWidget;
class QTableView;

namespace ulpscope::plots {
class ColorBar;
class ProfilePlot;
}  // namespace ulpscope::plots

namespace ulpscope::views {

class HeatmapControls;
class LegendWidget;
class ScanActions;
class StaleBand;

class HeatmapPanel : public QWidget {
  Q_OBJECT

 public:
  explicit HeatmapPanel(Workbench& workbench, QWidget* parent = nullptr);

  // What a run that goes on has measured so far, in place of the results before it; cells that are not there yet are "not run".
  // Cheap to call: the newest content is shown four times a second at most. rows, cells (as large as rows x samples), columns,
  // sampleIds and metric must be set; rows may be more from call to call. "Live" above the map goes back to the earlier results
  // and forth.
  enum class LiveState { running, cancelled };
  void showLive(std::shared_ptr<const models::HeatmapContent> content, LiveState state = LiveState::running);
  // The run is over, one way or the other: the workbench's runs are shown again.
  void endLive();
  bool isLive() const { return m_live != nullptr; }

  plots::HeatmapView* heatmap() const { return m_heatmap; }
  QTableView* table() const { return m_table; }
  StaleBand* staleBand() const { return m_stale; }
  const models::HeatmapContent* content() const { return m_content.get(); }  // nullptr: nothing shown yet
  const render::ColorRange& range() const { return m_range; }
  QString heading() const;
  // Of the heatmap's context menu at a cell: copy, unfold, keep in FP32.
  void fillMenu(QMenu& menu);
  void refreshIcons();
  QString tooltipOf(std::int64_t row, std::int64_t sample);

 signals:
  void worstElementRead();  // what tooltipOf() could not say yet
  void cellHovered(const QString& text);

 private:
  QWidget* makeMap();
  QWidget* makeHeading();
  void makeActions();
  void connectViews();
  void refresh();
  void showMessage(const QString& message);
  void showContent(const std::shared_ptr<const models::HeatmapContent>& content, const plots::HeatmapLook& look);
  void showRuns();
  void showLiveNow();
  LiveState m_liveState = LiveState::running;
  bool showsLive() const;
  void refreshSelection();
  void alignSides();
  void select(std::int64_t row, std::int64_t sample);
  void toggleFold(std::int64_t row);
  void copyCell();
  void copyVisibleBlock();
  void copyTableBlock();
  void copy(const models::CellBlock& block);
  void showMenu(const QPoint& position);
  QString textOf(std::int64_t row, std::int64_t sample) const;
  QString worstElementOf(const models::RunPointer& run, std::int64_t site, std::int64_t sample);
  void tellWorstElement(const QString& line);
  QStringList factsOf(std::int64_t row, std::int64_t sample) const;
  std::int64_t rowOfSelection() const;

  Workbench& m_workbench;
  HeatmapControls* m_controls = nullptr;
  StaleBand* m_stale = nullptr;
  QLabel* m_heading = nullptr;
  QCheckBox* m_liveBox = nullptr;
  QLabel* m_message = nullptr;
  LegendWidget* m_legend = nullptr;
  QStackedWidget* m_stack = nullptr;
  plots::HeatmapView* m_heatmap = nullptr;
  plots::ProfilePlot* m_profile = nullptr;
  plots::ColorBar* m_colorBar = nullptr;
  QTableView* m_table = nullptr;
  QAction* m_copyCell = nullptr;
  QAction* m_copyBlock = nullptr;
  ScanActions* m_scanActions = nullptr;
  models::HeatmapTableModel m_tableModel;
  HeatmapBuilder m_builder;
  std::shared_ptr<const models::HeatmapContent> m_content;  // shown
  std::shared_ptr<const models::HeatmapContent> m_live;     // the newest of a run that goes on
  QTimer m_liveTimer;
  std::optional<render::ColorRange> m_liveRange;
  render::ColorRange m_range;
  QString m_sessionId;
  // The worst element under the pointer, read when it is asked for: of one op site and sample at a time.
  struct WorstElement {
    jobs::TensorRequest of;
    bool byUlp = false;
    QString line;  // empty: being read
  };
  jobs::TensorLoader m_elementLoader;
  WorstElement m_worstElement;
  // A click on a module's own row, while its op sites stand below it: its worst site is selected, the row stays this one.
  QString m_chosenModule;
  std::int64_t m_chosenSite = -1;
};

}  // namespace ulpscope::views
