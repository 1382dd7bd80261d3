#include "widgets/views/heatmap_controls.h"

#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"
#include "widgets/views/flow_layout.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStandardItemModel>
#include <QToolButton>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::qt;

// why empty: the choice can be had.
void setItem(QComboBox* combo, int index, const QString& why) {
  QStandardItem* item = qobject_cast<QStandardItemModel*>(combo->model())->item(index);
  item->setEnabled(why.isEmpty());
  item->setToolTip(why);
}

bool isItemEnabled(const QComboBox* combo, int index) { return combo->model()->flags(combo->model()->index(index, 0)) & Qt::ItemIsEnabled; }

void setAvailable(QComboBox* combo, const QString& tip, const QString& why) {
  combo->setEnabled(why.isEmpty());
  combo->setToolTip(why.isEmpty() ? tip : why);
}

}  // namespace

HeatmapControls::HeatmapControls(QWidget* parent) : QWidget(parent) {
  auto* flow = new FlowLayout(this);
  flow->setContentsMargins(10, 6, 8, 6);
  flow->setSpacing(8);
  m_metric = addCombo(tr("Metric"), tr("Metric"));
  for (const render::Metric metric : render::heatmapMetrics()) m_metric->addItem(qt(session::label(metric)));
  m_rows = addCombo(tr("Rows"), tr("Rows"));
  m_rows->addItems({tr("worst op site"), tr("module outputs")});
  m_scale = addCombo(tr("Scale"), tr("Scale"));
  for (const render::Scale scale : {render::Scale::logarithmic, render::Scale::linear}) m_scale->addItem(qt(render::label(scale)));
  m_order = addCombo(tr("Samples by"), tr("Order of samples"));
  for (const render::SampleOrder order : render::sampleOrders()) m_order->addItem(qt(render::label(order)));
  m_colors = addCombo(tr("Colours"), tr("Colours"));
  for (const render::ColorMap map : {render::ColorMap::viridis, render::ColorMap::cividis}) m_colors->addItem(qt(render::label(map)));
  m_scale->setToolTip(tr("Logarithmic or linear colours and profile"));
  m_fit = new QToolButton(this);
  m_fit->setToolTip(tr("Show all modules and samples (Ctrl+0)"));
  m_fit->setAccessibleName(tr("Show all"));
  m_table = new QToolButton(this);
  m_table->setCheckable(true);
  m_table->setText(tr("Table"));
  m_table->setToolTip(tr("The same values as a table"));
  m_table->setAccessibleName(tr("Show as table"));
  m_table->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  flow->addWidget(m_fit);
  flow->addWidget(m_table);
  connect(m_fit, &QToolButton::clicked, this, &HeatmapControls::fitClicked);
  connect(m_table, &QToolButton::toggled, this, &HeatmapControls::changed);
}

QComboBox* HeatmapControls::addCombo(const QString& label, const QString& name) {
  auto* pair = new QWidget(this);
  auto* combo = new QComboBox(pair);
  combo->setAccessibleName(name);
  combo->setToolTip(name);
  auto* text = new QLabel(label, pair);
  text->setBuddy(combo);
  auto* layout = new QHBoxLayout(pair);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(5);
  layout->addWidget(text);
  layout->addWidget(combo);
  this->layout()->addWidget(pair);
  connect(combo, &QComboBox::currentIndexChanged, this, &HeatmapControls::changed);
  return combo;
}

HeatmapChoice HeatmapControls::choice() const {
  HeatmapChoice choice;
  choice.metric = render::heatmapMetrics()[static_cast<std::size_t>(std::max(0, m_metric->currentIndex()))];
  choice.moduleOutputs = m_rows->isEnabled() && m_rows->currentIndex() == 1;
  choice.scale = m_scale->currentIndex() == 1 ? render::Scale::linear : render::Scale::logarithmic;
  const int order = std::max(0, m_order->currentIndex());
  if (isItemEnabled(m_order, order)) choice.order = render::sampleOrders()[static_cast<std::size_t>(order)];
  choice.colors = m_colors->currentIndex() == 1 ? render::ColorMap::cividis : render::ColorMap::viridis;
  return choice;
}

bool HeatmapControls::showsTable() const { return m_table->isChecked(); }

void HeatmapControls::refresh(const Workbench& workbench) {
  const bool isDifference = workbench.view() == RunView::difference;
  const models::RunPointer& shown = workbench.shownRun();
  refreshMetrics(isDifference ? std::vector{workbench.runA(), workbench.runB()} : std::vector{shown});
  refreshOrders(workbench.runB());
  setAvailable(m_metric, tr("Metric"), {});
  setAvailable(m_order, tr("Order of samples"), {});
  setAvailable(m_rows, tr("Rows: a module's worst op site, or what it returned"), shown && !shown->outputRows.empty() ? QString() : tr("This run recorded no module outputs"));
  setAvailable(m_colors, tr("Colours"), isDifference ? tr("A difference is shown in vik: blue less, red more, symmetric about 0") : QString());
}

// A metric that nobody computed would be an empty map.
void HeatmapControls::refreshMetrics(const std::vector<models::RunPointer>& runs) {
  const std::vector<render::Metric> metrics = render::heatmapMetrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    QString why;
    for (const models::RunPointer& run : runs)
      if (why.isEmpty() && run && run->metrics && !run->metrics->has(metrics[i]))
        why = tr("%1 did not compute it (--observe %2)").arg(run->shortName(), qt(session::name(run->run->settings.observe)));
    setItem(m_metric, static_cast<int>(i), why);
  }
}

void HeatmapControls::refreshOrders(const models::RunPointer& run) {
  const std::vector<render::SampleOrder>& orders = render::sampleOrders();
  for (std::size_t i = 0; i < orders.size(); ++i)
    setItem(m_order, static_cast<int>(i), run ? qt(render::unavailable(orders[i], *run->session, *run->run)) : QString());
}

void HeatmapControls::setLive() {
  const QString why = tr("A run is going on: its cells come in as they are; the choice returns when it is over");
  setAvailable(m_metric, {}, why);
  setAvailable(m_rows, {}, why);
  setAvailable(m_order, {}, why);
}

void HeatmapControls::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && m_table != nullptr) refreshIcons();
}

void HeatmapControls::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_table->setIcon(plots::themedIcon(QStringLiteral("table"), theme.text, theme.muted));
  m_fit->setIcon(plots::themedIcon(QStringLiteral("fit"), theme.text, theme.muted));
}

}  // namespace ulpscope::views
