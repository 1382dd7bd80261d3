// Flipped decisions: the sentence to sign, the samples as table or gallery, and the margin plot beside them.
#pragma once

#include "widgets/jobs/decided_loader.h"
#include "widgets/models/decision_order.h"
#include "widgets/models/decisions_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace ulpscope::plots {
class MarginPlot;
}

namespace ulpscope::views {

class FlipSentence;
class GalleryPanel;
class MarginFilter;

class FlipsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit FlipsPanel(Workbench& workbench, QWidget* parent = nullptr);
  QTableView* table() const { return m_table; }
  GalleryPanel* gallery() const { return m_gallery; }
  MarginFilter* marginFilter() const { return m_filter; }
  FlipSentence* sentence() const { return m_sentence; }
  plots::MarginPlot* marginPlot() const { return m_marginPlot; }
  QString summary() const;
  QString conditions() const;  // of the sentence, one a line
  enum Page { kTable, kGallery, kConditions };
  void showPage(Page page);
  void setShowAll(bool all);

 private:
  QWidget* makeBar();
  QWidget* makeSamples();
  QWidget* makePlot();
  void setSentence(const models::RunPointer& run, double marginBelow);
  void refreshRun();
  void refreshFilter();
  void showDecided();
  void refreshSelection();
  void selectRow(const QModelIndex& current);
  void selectSample(std::int64_t sample);

  Workbench& m_workbench;
  models::DecisionsModel m_decisions;
  models::DecisionOrder m_order;
  jobs::DecidedLoader m_loader;
  models::RunPointer m_decidedOf;  // asked for last
  models::DecidedPointer m_decided;
  FlipSentence* m_sentence = nullptr;
  QStackedWidget* m_pages = nullptr;
  QTableView* m_table = nullptr;
  GalleryPanel* m_gallery = nullptr;
  MarginFilter* m_filter = nullptr;
  QPlainTextEdit* m_conditions = nullptr;
  QToolButton* m_pageButtons[3] = {};  // by Page
  QToolButton* m_showAll = nullptr;
  QLabel* m_summary = nullptr;
  plots::MarginPlot* m_marginPlot = nullptr;
  QString m_sessionId;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
