// The selected module and op site: what it is, its numbers, its part in a finding; and its values, where they were stored.
#pragma once

#include "widgets/models/site_model.h"
#include "widgets/views/operands_view.h"
#include "widgets/views/tensor_inspector.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QGridLayout;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTabBar;
class QTableView;

namespace ulpscope::views {

class InspectorPanel : public QWidget {
  Q_OBJECT

 public:
  enum Tab { kFacts, kTensor, kHistogram, kLadder };
  explicit InspectorPanel(Workbench& workbench, QWidget* parent = nullptr);
  void refreshTheme() { refresh(); }  // labels keep the colours that they were given
  QString title() const;
  QString factValue(const QString& name) const;  // of the facts shown; empty: no such fact
  QTableView* siteTable() const { return m_sites; }
  OperandsView* operands() const { return m_operands; }
  QPushButton* keepButton() const { return m_keep; }
  TensorInspector* tensor() const { return m_tensor; }
  QTabBar* tabBar() const { return m_tabs; }
  void showTab(Tab tab);

 private:
  QWidget* makeHeader();
  QWidget* makeFacts();
  void connectViews();
  void showFinding(const models::LoadedRun& run, std::int64_t site);
  void refresh();
  void showFacts(const std::vector<models::Fact>& facts);
  void showModule(const models::RunPointer& run, const QString& path);

  Workbench& m_workbench;
  models::SiteModel m_siteModel;
  QLabel* m_title;
  QLabel* m_subtitle;
  QPushButton* m_keep;
  QTabBar* m_tabs;
  QStackedWidget* m_pages;
  TensorInspector* m_tensor;
  QWidget* m_factArea;
  QGridLayout* m_factGrid;
  QLabel* m_findingTitle;
  QLabel* m_finding;
  OperandsView* m_operands;
  QLabel* m_sitesTitle;
  QTableView* m_sites;
  std::vector<models::Fact> m_facts;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
