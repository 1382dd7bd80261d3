#include "widgets/views/inspector_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr int kSitesHeight = 170;

QString typeOf(const session::Session& session, const QString& path) {
  for (const model::ModuleNode& node : session.model.modules)
    if (node.path == models::core(path)) return qt(node.typeName);
  return {};
}

void setColor(QLabel* label, const QColor& color) {
  QPalette palette = label->palette();
  palette.setColor(QPalette::WindowText, color);
  label->setPalette(palette);
}

}  // namespace

InspectorPanel::InspectorPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_tensor = new TensorInspector(workbench, this);
  m_tabs = new QTabBar(this);
  m_tabs->setAccessibleName(tr("Inspector"));
  m_tabs->setExpanding(false);
  m_tabs->setDrawBase(false);
  m_tabs->setStyleSheet(QStringLiteral("QTabBar::tab { padding: 6px 7px; }"));  // four in a narrow dock
  for (const QString& name : {tr("Facts"), tr("Tensor"), tr("Histogram"), tr("Ladder")}) m_tabs->addTab(name);
  m_pages = new QStackedWidget(this);
  QWidget* header = makeHeader();
  m_pages->addWidget(makeFacts());
  m_pages->addWidget(m_tensor);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addWidget(header);
  layout->addWidget(m_tabs);
  layout->addWidget(m_pages, 1);
  connectViews();
  refresh();
}

QWidget* InspectorPanel::makeHeader() {
  auto* header = new QWidget(this);
  m_title = makeText({}, 1, true, header);
  QFont large = m_title->font();
  large.setPointSizeF(large.pointSizeF() * 1.15);
  m_title->setFont(large);
  m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_subtitle = makeText({}, 1, false, header);
  m_keep = new QPushButton(tr("Keep in FP32"), header);
  m_keep->setToolTip(tr("Keep in FP32: autocast disabled locally, inputs cast to FP32 (Ctrl+K)"));
  m_keep->setAccessibleName(tr("Keep the selected module in FP32"));
  auto* layout = new QVBoxLayout(header);
  layout->setContentsMargins(12, 4, 12, 0);
  layout->setSpacing(6);
  layout->addWidget(m_title);
  layout->addWidget(m_subtitle);
  layout->addWidget(m_keep, 0, Qt::AlignLeft);
  return header;
}

QWidget* InspectorPanel::makeFacts() {
  auto* body = new QWidget;
  m_factArea = new QWidget(body);
  m_factGrid = new QGridLayout(m_factArea);
  m_factGrid->setContentsMargins(0, 0, 0, 0);
  m_factGrid->setHorizontalSpacing(10);
  m_factGrid->setVerticalSpacing(5);
  m_factGrid->setColumnStretch(0, 6);
  m_factGrid->setColumnStretch(1, 5);
  m_findingTitle = makeText({}, 1, true, body);
  m_finding = makeText({}, 1, false, body);
  m_finding->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_operands = new OperandsView(body);
  m_sitesTitle = makeText({}, 1, true, body);
  m_sites = makeTable(body, &m_siteModel, tr("Op sites of the module"));
  m_sites->setMinimumHeight(kSitesHeight);
  auto* layout = new QVBoxLayout(body);
  layout->setContentsMargins(12, 4, 12, 10);
  layout->setSpacing(8);
  for (QWidget* widget : std::initializer_list<QWidget*>{m_factArea, m_findingTitle, m_finding, m_operands, m_sitesTitle}) layout->addWidget(widget);
  layout->addWidget(m_sites, 1);
  layout->addStretch(0);  // takes the room when the table is hidden
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(body);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setAccessibleName(tr("Facts"));
  return scroll;
}

void InspectorPanel::connectViews() {
  connect(m_tabs, &QTabBar::currentChanged, this, [this](int tab) {
    m_pages->setCurrentIndex(tab == kFacts ? 0 : 1);
    if (tab != kFacts) m_tensor->showPage(static_cast<TensorInspector::Page>(tab - kTensor));
  });
  connect(m_keep, &QPushButton::clicked, this, [this] {
    if (const auto& path = m_workbench.selection().modulePath()) m_workbench.toggle(*path, models::RegionKind::inputsToFp32);
  });
  connect(m_sites->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (m_isRefreshing || !current.isValid()) return;
    const auto& path = m_workbench.selection().modulePath();
    const auto site = current.data(models::RowTableModel::kKeyRole).toLongLong();
    if (path) m_workbench.selection().select(*path, site, -1);
  });
  connect(m_operands, &OperandsView::siteChosen, this, [this](std::int64_t site) {
    const models::RunPointer& run = m_workbench.shownRun();
    if (run) m_workbench.selection().select(qt(run->run->sites[static_cast<std::size_t>(site)].modulePath), site, -1);
  });
  connect(&m_workbench, &Workbench::viewChanged, this, &InspectorPanel::refresh);
  connect(&m_workbench, &Workbench::regionsChanged, this, &InspectorPanel::refresh);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &InspectorPanel::refresh);
}

void InspectorPanel::showTab(Tab tab) { m_tabs->setCurrentIndex(tab); }

QString InspectorPanel::title() const { return m_title->text(); }

QString InspectorPanel::factValue(const QString& name) const {
  for (const models::Fact& fact : m_facts)
    if (fact.name == name) return fact.value;
  return {};
}

void InspectorPanel::showFacts(const std::vector<models::Fact>& facts) {
  m_facts = facts;
  while (QLayoutItem* item = m_factGrid->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  const plots::Theme& theme = plots::themeOf(this);
  int row = 0;
  for (const models::Fact& fact : facts) {
    QLabel* name = makeText({}, 1, false, m_factArea);
    name->setText(fact.name);
    setColor(name, theme.muted);
    QLabel* value = makeText({}, 1, true, m_factArea);
    value->setText(fact.value);
    value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setColor(value, fact.alarming ? theme.bad : theme.text);
    m_factGrid->addWidget(name, row, 0, Qt::AlignTop);
    m_factGrid->addWidget(value, row, 1);
    ++row;
  }
}

void InspectorPanel::showModule(const models::RunPointer& run, const QString& path) {
  const models::Selection& selection = m_workbench.selection();
  const std::int64_t site = models::siteToShow(*run, selection);
  const std::size_t own = run->sitesOf(path).size();
  m_title->setText(models::modulePathText(path));
  m_subtitle->setText(tr("%1 · %2").arg(typeOf(*run->session, path), own > 0 ? qt(base::counted(static_cast<std::int64_t>(own), "op site")) : tr("no op sites of its own, the worst inside is shown")) +
                      QStringLiteral(" · ") + run->shortName());
  const bool isKept = m_workbench.regions().names(path, models::RegionKind::inputsToFp32);
  m_keep->setText(isKept ? tr("Put back under autocast") : tr("Keep in FP32"));
  showFacts(site >= 0 ? models::siteFacts(*run, site, selection.sample()) : std::vector<models::Fact>());
  showFinding(*run, site);
  m_operands->setVisible(site >= 0);
  m_operands->setSite(run, site);
  m_siteModel.setModule(run, path);
  m_sitesTitle->setText(own > 0 ? tr("Op sites") : tr("Op sites inside"));
  fitColumns(m_sites);
  const int row = m_siteModel.rowOfKey(static_cast<qlonglong>(site));
  if (row >= 0) m_sites->setCurrentIndex(m_siteModel.index(row, 0));
}

void InspectorPanel::showFinding(const models::LoadedRun& run, std::int64_t site) {
  QString finding = models::diagnosisText(run, site);
  m_findingTitle->setText(finding.isEmpty() ? tr("Operands as the op got them") : tr("First non-finite here"));
  const QString operands = models::operandsText(run, site);
  if (!finding.isEmpty() && !operands.isEmpty()) finding += tr("\n\nOperands as the op got them\n");
  finding += operands;
  m_finding->setText(finding);
  m_finding->setVisible(!finding.isEmpty());
  m_findingTitle->setVisible(!finding.isEmpty());
}

void InspectorPanel::refresh() {
  const auto& path = m_workbench.selection().modulePath();
  const models::RunPointer& run = m_workbench.shownRun();
  const bool hasModule = path.has_value() && run;
  m_isRefreshing = true;
  for (QWidget* widget : std::initializer_list<QWidget*>{m_keep, m_tabs, m_pages, m_factArea, m_findingTitle, m_finding, m_operands, m_sitesTitle, m_sites}) widget->setVisible(hasModule);
  setColor(m_subtitle, plots::themeOf(this).muted);
  if (hasModule) {
    showModule(run, *path);
  } else {
    m_title->setText(tr("Nothing selected"));
    m_subtitle->setText(tr("Click a module in the tree or a cell of the heatmap."));
    m_facts.clear();
  }
  m_isRefreshing = false;
}

}  // namespace ulpscope::views
