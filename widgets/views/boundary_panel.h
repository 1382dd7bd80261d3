// The session's scans: one of them as plot and tables, another over it, one of its points in full; and what the next is to be.
#pragma once

#include "widgets/jobs/scan_loader.h"
#include "widgets/models/number_order.h"
#include "widgets/models/scan_models.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTabWidget;
class QToolButton;

namespace ulpscope::plots {
class BoundaryPlot;
class NearPlot;
class PlanePlot;
class PlotLegend;
}  // namespace ulpscope::plots

namespace ulpscope::views {

class ScanControls;
class ScanPointView;

class BoundaryPanel : public QWidget {
  Q_OBJECT

 public:
  enum Page { kPoint, kEvents, kPoints, kSamples, kSet };

  explicit BoundaryPanel(Workbench& workbench, QWidget* parent = nullptr);
  ScanControls* controls() const { return m_controls; }
  ScanPointView* pointView() const { return m_pointView; }
  QComboBox* scanBox() const { return m_scans; }
  QComboBox* overlayBox() const { return m_overlays; }
  QTabWidget* pages() const { return m_pages; }
  QTableView* pointTable() const { return m_pointTable; }
  QTableView* eventTable() const { return m_eventTable; }
  QTableView* sampleTable() const { return m_sampleTable; }
  QTableView* setTable() const { return m_setTable; }
  plots::BoundaryPlot* segmentPlot() const { return m_segment; }
  plots::PlanePlot* planePlot() const { return m_plane; }
  plots::NearPlot* nearPlot() const { return m_near; }
  QToolButton* nextStripButton() const { return m_nextStrip; }
  QToolButton* copyButton() const { return m_copy; }
  QToolButton* wholeButton() const { return m_whole; }
  QString headline() const;
  QString conditions() const;
  QString warnings() const;
  QString emptyText() const;  // shown where there is no scan; empty: there is one
  // The one shown; nullptr: none, or it is being read.
  const models::ScanPointer& scan() const { return m_scan; }
  const models::ScanPointer& overlay() const { return m_overlay; }
  int selectedPoint() const { return m_point; }  // row of the points' table; -1: none
  void selectPoint(int row);

 signals:
  void addRequested();  // the point shown as a sample of a new set
  void shown();         // another scan, or none

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeBoxes();
  void makePlots();
  void makeTables();
  QWidget* makeResults();
  QWidget* makePlotSide();
  void connectViews();
  void connectTables();
  void connectPlots();
  void refreshSession();
  void fillOverlays(int number);
  void load();
  void loadOverlay();
  void onLoaded(const models::ScanPointer& scan);
  void onOverlay(const models::ScanPointer& scan);
  void showScans(const models::ScanPointer& scan, const models::ScanPointer& overlay);
  void showPages();
  void showHeadline();
  void showLegend();
  void showPoint();
  void showSample(const QString& id);
  void nextStrip();
  int firstPoint() const;
  const session::PairAtPoint* overlaidAt(int row) const;
  void setWarning(const QString& text);
  void refreshColors();

  Workbench& m_workbench;
  jobs::ScanLoader m_loader, m_overlayLoader;
  models::ScanPointer m_scan, m_overlay;
  QString m_shownPath;
  int m_shownNumber = 0, m_wanted = 0;  // 0: none; m_wanted: just made, to be shown next
  int m_point = -1, m_strip = -1;
  bool m_isSelecting = false;
  models::ScanPointsModel m_points;
  models::ScanEventsModel m_events;
  models::NearSamplesModel m_samples;
  models::DecidedWithinModel m_set;
  models::NumberOrder *m_sampleOrder = nullptr, *m_setOrder = nullptr;
  ScanControls* m_controls = nullptr;
  QComboBox *m_scans = nullptr, *m_overlays = nullptr;
  QToolButton *m_zoomIn = nullptr, *m_zoomOut = nullptr, *m_whole = nullptr, *m_nextStrip = nullptr, *m_copy = nullptr;
  QLabel *m_headline = nullptr, *m_conditions = nullptr, *m_warnings = nullptr, *m_empty = nullptr;
  QStackedWidget *m_stack = nullptr, *m_plots = nullptr;
  QWidget *m_results = nullptr, *m_tools = nullptr;
  plots::BoundaryPlot* m_segment = nullptr;
  plots::PlanePlot* m_plane = nullptr;
  plots::NearPlot* m_near = nullptr;
  plots::PlotLegend* m_legend = nullptr;
  QTabWidget* m_pages = nullptr;
  ScanPointView* m_pointView = nullptr;
  QTableView *m_pointTable = nullptr, *m_eventTable = nullptr, *m_sampleTable = nullptr, *m_setTable = nullptr;
  QSplitter* m_splitter = nullptr;
};

}  // namespace ulpscope::views
