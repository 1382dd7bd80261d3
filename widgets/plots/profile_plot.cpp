#include "widgets/plots/profile_plot.h"

#include "core/render/viewport.h"
#include "widgets/models/text.h"
#include "widgets/plots/plot_style.h"

#include <QVBoxLayout>

#include <cmath>
#include <limits>

namespace ulpscope::plots {
namespace {

// Free room right of the range: the rug of non-finite rows.
constexpr double kRugShare = 0.12;

}  // namespace

ProfilePlot::ProfilePlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_plot);
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->axisRect()->setAutoMargins(QCP::msNone);
  setAccessibleName(tr("Module maximum"));
  setAccessibleDescription(tr("The largest value of each heatmap row; the same numbers stand in the module tree's badges."));
  setFixedWidth(116);
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    const double row = m_plot->yAxis->pixelToCoord(event->position().y());
    if (row >= 0 && row < static_cast<double>(m_content.maxima.size())) emit rowClicked(static_cast<std::int64_t>(row));
  });
}

double ProfilePlot::position(double value) const {
  return m_content.isSigned ? render::symlog(value, m_content.range.low) : std::log10(value);
}

void ProfilePlot::setContent(const Content& content) {
  m_content = content;
  rebuild();
}

void ProfilePlot::setRows(double first, double last, int top, int bottom) {
  m_firstRow = first;
  m_lastRow = last;
  m_top = top;
  m_bottom = bottom;
  m_plot->axisRect()->setMargins(QMargins(8, m_top, 8, std::max(0, height() - m_bottom)));
  m_plot->yAxis->setRange(m_firstRow, m_lastRow);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ProfilePlot::setHighlight(std::int64_t row) {
  if (m_highlight == row) return;
  m_highlight = row;
  rebuild();
}

void ProfilePlot::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) rebuild();
  QWidget::changeEvent(event);
}

void ProfilePlot::rebuild() {
  const Theme& theme = themeOf(this);
  m_plot->clearItems();
  m_plot->clearPlottables();
  m_plot->setBackground(theme.base);
  m_plot->setBufferDevicePixelRatio(devicePixelRatioF());
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) styleAxis(axis, theme, font());
  m_plot->yAxis->setRangeReversed(true);
  m_plot->yAxis->setTickLabels(false);
  m_plot->yAxis->setTicks(false);
  m_plot->yAxis->grid()->setVisible(false);
  m_plot->xAxis->setLabel(tr("module maximum"));
  const double low = m_content.isSigned ? -position(m_content.range.high) : position(m_content.range.low);
  const double high = position(m_content.range.high);
  const double rug = high + (high - low) * kRugShare;
  m_plot->xAxis->setRange(low, rug + (high - low) * 0.06);
  if (m_content.isSigned) {
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    ticker->addTick(low, QStringLiteral("less"));
    ticker->addTick(0, QStringLiteral("0"));
    ticker->addTick(high, QStringLiteral("more"));
    m_plot->xAxis->setTicker(ticker);
  } else {
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    const std::vector<double> decades = render::decadeTicks(m_content.range);
    const std::size_t step = std::max<std::size_t>(1, (decades.size() + 2) / 3);
    for (std::size_t i = 0; i < decades.size(); i += step)
      ticker->addTick(std::log10(decades[i]), models::decadeText(decades[i]));
    m_plot->xAxis->setTicker(ticker);
  }
  // Value over row: the row axis is the key axis, a step a row. NaN makes a gap where a row has no number.
  QCPGraph* line = m_plot->addGraph(m_plot->yAxis, m_plot->xAxis);
  line->setLineStyle(QCPGraph::lsStepCenter);
  line->setPen(QPen(theme.series, 1.4));
  QCPGraph* bad = m_plot->addGraph(m_plot->yAxis, m_plot->xAxis);
  bad->setLineStyle(QCPGraph::lsNone);
  bad->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDiamond, QPen(theme.origin.background), QBrush(theme.origin.background), 7));
  QCPGraph* dots = m_plot->addGraph(m_plot->yAxis, m_plot->xAxis);
  dots->setLineStyle(QCPGraph::lsNone);
  dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, theme.series, 4));
  for (std::size_t i = 0; i < m_content.maxima.size(); ++i) {
    const render::Cell& cell = m_content.maxima[i];
    const double row = static_cast<double>(i) + 0.5;
    const bool hasValue = cell.kind == render::CellKind::value && std::isfinite(cell.value);
    const double at = hasValue ? std::clamp(position(cell.value), low, high)
                      : cell.kind == render::CellKind::exactZero ? (m_content.isSigned ? 0 : low) : std::numeric_limits<double>::quiet_NaN();
    line->addData(row, at);
    if (!std::isnan(at)) dots->addData(row, at);
    if (render::isNonfinite(cell.kind)) bad->addData(row, rug);
  }
  const auto straight = [&](QPointF a, QPointF b, const QPen& pen) {
    auto* item = new QCPItemStraightLine(m_plot);
    item->point1->setCoords(a);
    item->point2->setCoords(b);
    item->setPen(pen);
  };
  if (m_content.tolerance > 0) straight({position(m_content.tolerance), 0}, {position(m_content.tolerance), 1}, QPen(theme.bad, 1.2, Qt::DashLine));
  if (m_highlight >= 0) straight({0, static_cast<double>(m_highlight) + 0.5}, {1, static_cast<double>(m_highlight) + 0.5}, QPen(theme.muted, 1));
  setRows(m_firstRow, m_lastRow, m_top, m_bottom);
}

}  // namespace ulpscope::plots
