#include "widgets/plots/headroom_plot.h"

#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "core/render/viewport.h"
#include "widgets/models/sample_outcome.h"
#include "widgets/models/text.h"
#include "widgets/plots/plot_legend.h"
#include "widgets/plots/plot_style.h"

#include <QToolTip>

#include <cmath>
#include <limits>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::HeadroomState;

constexpr const char* kOverlay = "overlay";  // QCustomPlot's own, with a buffer for itself
constexpr std::size_t kMostMarks = 400;  // points on the lines; with more sites the lines alone stand
constexpr int kPageSteps = 10;
constexpr double kEdgeRoom = 0.03;  // of the axis, from its lower end to the marks of what lies below
constexpr int kWideFrom = 380;  // px: limits with their values

// NaN makes a gap in a line; 0 has no logarithm. What lies below the axis stands at its edge, where addEdgeMarks() marks it.
double position(double value, const render::HeadroomAxis& axis) {
  return value > 0 && std::isfinite(value) ? std::max(axis.low, std::log10(value)) : std::numeric_limits<double>::quiet_NaN();
}

MarkStyle styleOf(HeadroomState state, const Theme& theme) {
  switch (state) {
    case HeadroomState::overflow: return {Mark::triangleUp, theme.bad};
    case HeadroomState::beyond: return {Mark::triangleUp, theme.warn, false};
    case HeadroomState::tight: return {Mark::square, theme.warn};
    default: return {Mark::dot, theme.series};
  }
}

QSharedPointer<QCPAxisTicker> decadeTicker(const render::HeadroomAxis& axis) {
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  const int first = static_cast<int>(std::ceil(axis.low)), last = static_cast<int>(std::floor(axis.high));
  const int step = std::max(1, (last - first + 5) / 6);
  for (int decade = first; decade <= last; ++decade)
    if (decade % step == 0) ticker->addTick(decade, decade == 0 ? QStringLiteral("1") : models::decadeText(std::pow(10, decade)));
  return ticker;
}

}  // namespace

HeadroomPlot::HeadroomPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_legend(new PlotLegend(this)) {
  hostPlot(this, m_plot, m_legend);
  m_plot->setMinimumSize(160, 80);
  connect(m_plot, &QCustomPlot::afterReplot, this, [this] { m_isDrawn = true; });
  setMinimumSize(240, 120);
  setAccessibleName(tr("Headroom plot"));
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    selectIndex(indexAt(event->position()));
  });
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
    const std::ptrdiff_t index = indexAt(event->position());
    if (index >= 0) QToolTip::showText(event->globalPosition().toPoint(), tooltipOf(m_content.sites[static_cast<std::size_t>(index)].site), m_plot);
    else QToolTip::hideText();
  });
  rebuild();
}

QWidget* HeadroomPlot::surface() const { return m_plot; }
QString HeadroomPlot::legendText() const { return m_legend->text(); }

void HeadroomPlot::setContent(Content content) {
  m_content = std::move(content);
  rebuild();
}

void HeadroomPlot::setSelectedSite(std::int64_t site) {
  if (m_selected == site) return;
  m_selected = site;
  updateOverlay();
}

void HeadroomPlot::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) rebuild();
  QWidget::changeEvent(event);
}

void HeadroomPlot::keyPressEvent(QKeyEvent* event) {
  const auto last = static_cast<std::ptrdiff_t>(m_content.sites.size()) - 1;
  const std::ptrdiff_t at = indexOf(m_selected);
  const auto go = [&](std::ptrdiff_t to) { selectIndex(std::clamp(to, std::ptrdiff_t{0}, last)); };
  switch (event->key()) {
    case Qt::Key_Left: return go(at - 1);
    case Qt::Key_Right: return go(at + 1);
    case Qt::Key_PageUp: return go(at - kPageSteps);
    case Qt::Key_PageDown: return go(at + kPageSteps);
    case Qt::Key_Home: return go(0);
    case Qt::Key_End: return go(last);
    default: QWidget::keyPressEvent(event);
  }
}

void HeadroomPlot::selectIndex(std::ptrdiff_t index) {
  if (index >= 0 && index < static_cast<std::ptrdiff_t>(m_content.sites.size())) emit siteClicked(m_content.sites[static_cast<std::size_t>(index)].site);
}

std::ptrdiff_t HeadroomPlot::indexOf(std::int64_t site) const {
  const auto found = std::lower_bound(m_content.sites.begin(), m_content.sites.end(), site, [](const render::HeadroomSite& s, std::int64_t wanted) { return s.site < wanted; });
  return found == m_content.sites.end() || found->site != site ? -1 : found - m_content.sites.begin();
}

std::ptrdiff_t HeadroomPlot::indexAt(QPointF pixel) const {
  const double x = m_plot->xAxis->pixelToCoord(pixel.x());
  const bool isInside = m_plot->axisRect()->rect().contains(pixel.toPoint());
  return isInside && x >= 0.5 && x < static_cast<double>(m_content.sites.size()) + 0.5 ? static_cast<std::ptrdiff_t>(std::lround(x)) - 1 : -1;
}

std::optional<QPointF> HeadroomPlot::pixelOf(std::int64_t site) const {
  const std::ptrdiff_t index = indexOf(site);
  if (index < 0) return std::nullopt;
  const double y = position(m_content.sites[static_cast<std::size_t>(index)].referenceMax, m_axis);
  if (std::isnan(y)) return std::nullopt;
  return QPointF(m_plot->xAxis->coordToPixel(static_cast<double>(index + 1)), m_plot->yAxis->coordToPixel(y));
}

QString HeadroomPlot::tooltipOf(std::int64_t site) const {
  const std::ptrdiff_t index = indexOf(site);
  if (index < 0) return {};
  const auto i = static_cast<std::size_t>(index);
  const render::HeadroomSite& s = m_content.sites[i];
  const auto number = [](double v) { return std::isnan(v) ? QStringLiteral("–") : qt(base::groupedNumber(v)); };
  QString text = tr("%1\nmax |x|: FP32 %2, %3 %4\nsmallest |x|: FP32 %5, %3 %6\nheadroom %7 bits: %8")
                     .arg(qt(session::siteLabel(m_content.run->run->sites[static_cast<std::size_t>(site)])), number(s.referenceMax), models::lowName(*m_content.run->run), number(s.candidateMax),
                          number(s.referenceSmallest), number(s.candidateSmallest), qt(base::shortNumber(s.bits)), qt(render::label(s.state)));
  if (!m_content.otherMaxima.empty() && !std::isnan(m_content.otherMaxima[i])) text += tr("\nmax |x| in %1: %2").arg(m_content.otherName, number(m_content.otherMaxima[i]));
  return text;
}

void HeadroomPlot::setAxes(const Theme& theme) {
  m_plot->setBackground(theme.base);
  m_plot->setBufferDevicePixelRatio(devicePixelRatioF());
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis, m_plot->yAxis2}) styleAxis(axis, theme, font());
  m_plot->yAxis2->setVisible(!m_content.sites.empty());
  m_plot->yAxis2->setTickLabelColor(theme.text);
  m_plot->yAxis2->setNumberFormat(QStringLiteral("g"));  // else "6.10e-05" within a text becomes a power
  m_plot->yAxis2->grid()->setVisible(false);
  m_plot->xAxis->setLabel(tr("op site, in execution order"));
  m_plot->yAxis->setLabel(tr("|x|"));
  const auto count = static_cast<double>(m_content.sites.size());
  m_plot->xAxis->setRange(0.5 - 0.01 * count, std::max(1.5, count + 0.5 + 0.01 * count));
  QSharedPointer<QCPAxisTickerFixed> ticker(new QCPAxisTickerFixed);
  ticker->setTickStep(static_cast<double>(render::indexTickStep(std::max(1.0, count), 8)));
  m_plot->xAxis->setTicker(ticker);
  m_plot->xAxis->setNumberFormat(QStringLiteral("f"));
  m_plot->xAxis->setNumberPrecision(0);
  m_axis = render::headroomAxis(m_content.sites, m_content.run ? m_content.run->run->settings.autocast : base::DType::float16);
  for (QCPAxis* y : {m_plot->yAxis, m_plot->yAxis2}) y->setRange(m_axis.low, m_axis.high);
  m_plot->yAxis->setTicker(decadeTicker(m_axis));
}

void HeadroomPlot::rebuild() {
  const Theme& theme = themeOf(this);
  m_plot->clearPlottables();
  m_plot->clearItems();
  setAxes(theme);
  if (!m_content.sites.empty()) {
    addLimits(theme);
    addSeries(theme);
    addMarks(theme);
  } else {
    m_legend->setEntries({});
  }
  updateOverlay();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void HeadroomPlot::addSeries(const Theme& theme) {
  const auto add = [&](const QPen& pen, const QCPScatterStyle& scatter, auto value) {
    QCPGraph* graph = m_plot->addGraph();
    graph->setPen(pen);
    graph->setScatterStyle(m_content.sites.size() <= kMostMarks ? scatter : QCPScatterStyle(QCPScatterStyle::ssNone));
    for (std::size_t i = 0; i < m_content.sites.size(); ++i) graph->addData(static_cast<double>(i + 1), position(value(i), m_axis));
  };
  const auto& sites = m_content.sites;
  QColor pale = theme.muted;
  pale.setAlpha(120);
  const QCPScatterStyle none(QCPScatterStyle::ssNone);
  if (!m_content.otherMaxima.empty()) add(QPen(pale, 4), none, [this](std::size_t i) { return m_content.otherMaxima[i]; });
  add(QPen(theme.muted, 1, Qt::DotLine), none, [&](std::size_t i) { return sites[i].candidateSmallest; });
  add(QPen(theme.text, 1.2), {QCPScatterStyle::ssCircle, QPen(theme.text, 1.1), QBrush(theme.base), 5}, [&](std::size_t i) { return sites[i].referenceMax; });
  add(QPen(theme.series, 1.2, Qt::DashLine), {QCPScatterStyle::ssDisc, theme.series, theme.series, 4}, [&](std::size_t i) { return sites[i].candidateMax; });
}

void HeadroomPlot::addMarks(const Theme& theme) {
  const QString low = models::lowName(*m_content.run->run);
  std::vector<LegendEntry> entries{{{Mark::ring, theme.text, false}, tr("max |x| FP32")}, {{Mark::dot, theme.series}, tr("max |x| %1").arg(low)}, {{Mark::dashes, theme.muted, false}, tr("smallest |x| %1").arg(low)}};
  if (!m_content.otherMaxima.empty()) entries.push_back({{Mark::line, theme.muted, false}, tr("max |x| %1, %2").arg(low, m_content.otherName)});
  for (const HeadroomState state : {HeadroomState::overflow, HeadroomState::beyond, HeadroomState::tight}) {
    const MarkStyle style = styleOf(state, theme);
    QCPGraph* graph = m_plot->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle({markPath(style.mark, 11), QPen(style.color, 1.6), style.isFilled ? QBrush(style.color) : QBrush(theme.base), 6});
    qlonglong count = 0;
    for (std::size_t i = 0; i < m_content.sites.size(); ++i) {
      const render::HeadroomSite& s = m_content.sites[i];
      if (s.state != state) continue;
      ++count;
      graph->addData(static_cast<double>(i + 1), position(std::isnan(s.referenceMax) ? s.candidateMax : s.referenceMax, m_axis));
    }
    if (count > 0) entries.push_back({style, QStringLiteral("%1: %2").arg(qt(render::label(state)), qt(base::groupedInteger(count)))});
  }
  for (LegendEntry& entry : addEdgeMarks(theme)) entries.push_back(std::move(entry));
  m_legend->setEntries(std::move(entries));
  setAccessibleDescription(tr("Largest and smallest magnitudes of each op site on a logarithmic scale; %1. Left and Right go to the next site; the table beside it has the same numbers.").arg(m_legend->text()));
}

// At the lower edge: sites with values below the axis, and sites of zeros, which have no place on it.
std::vector<LegendEntry> HeadroomPlot::addEdgeMarks(const Theme& theme) {
  std::vector<LegendEntry> entries;
  const auto add = [&](const MarkStyle& style, std::int64_t count, const QString& name, auto isMarked) {
    if (count == 0) return;
    QCPGraph* graph = m_plot->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle({markPath(style.mark, 10), QPen(style.color, 1.4), style.isFilled ? QBrush(style.color) : QBrush(theme.base), 6});
    for (std::size_t i = 0; i < m_content.sites.size(); ++i)
      if (isMarked(m_content.sites[i])) graph->addData(static_cast<double>(i + 1), m_axis.low + kEdgeRoom * (m_axis.high - m_axis.low));
    entries.push_back({style, QStringLiteral("%1: %2").arg(name, qt(base::groupedInteger(count)))});
  };
  add({Mark::triangleDown, theme.muted}, m_axis.below, tr("below the axis"), [this](const render::HeadroomSite& s) { return render::isBelow(s, m_axis); });
  add({Mark::cross, theme.muted}, m_axis.zeros, tr("zeros only"), [](const render::HeadroomSite& s) { return render::isZeros(s); });
  return entries;
}

void HeadroomPlot::addLimits(const Theme& theme) {
  const base::FormatLimits limits = base::limits(m_content.run->run->settings.autocast);
  for (const auto& [limit, color] : {std::pair{limits.maxFinite, theme.bad}, std::pair{limits.minNormal, theme.warn}, std::pair{limits.minSubnormal, theme.bad}}) {
    auto* line = new QCPItemStraightLine(m_plot);
    line->setPen(QPen(color, 1.2, Qt::DashLine));
    line->point1->setCoords(0, std::log10(limit));
    line->point2->setCoords(1, std::log10(limit));
  }
  setLimitTicks();
}

// Named beside the plot, where no point is; one that lies far outside stands at the edge, with an arrow.
void HeadroomPlot::setLimitTicks() {
  if (m_content.sites.empty()) return;
  const base::DType low = m_content.run->run->settings.autocast;
  const base::FormatLimits limits = base::limits(low);
  const QCPRange range = m_plot->yAxis->range();
  const bool hasRoom = m_plot->width() > kWideFrom;
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  const auto add = [&](double limit, const QString& name) {
    const double at = std::log10(limit);
    const QString arrow = at > range.upper ? QStringLiteral("↑ ") : at < range.lower ? QStringLiteral("↓ ") : QString();
    const QString value = hasRoom ? u' ' + qt(limit >= 1 && limit < 1e6 ? base::groupedNumber(limit) : base::shortNumber(limit)) : QString();
    ticker->addTick(std::clamp(at, range.lower, range.upper), arrow + name + value);
  };
  add(limits.maxFinite, tr("%1 max").arg(qt(base::name(low))));
  if (range.contains(std::log10(limits.minSubnormal))) add(limits.minSubnormal, tr("subnormal"));
  add(limits.minNormal, tr("normal"));
  m_plot->yAxis2->setTicker(ticker);
}

void HeadroomPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setLimitTicks();
}

void HeadroomPlot::updateOverlay() {
  QCPLayer* overlay = m_plot->layer(QLatin1String(kOverlay));
  for (QCPLayerable* child : overlay->children())
    if (auto* item = qobject_cast<QCPAbstractItem*>(child)) m_plot->removeItem(item);
  if (const std::ptrdiff_t index = indexOf(m_selected); index >= 0) {
    auto* line = new QCPItemStraightLine(m_plot);
    line->setLayer(overlay);
    line->setPen(QPen(themeOf(this).accent, 1.5));
    line->point1->setCoords(static_cast<double>(index + 1), 0);
    line->point2->setCoords(static_cast<double>(index + 1), 1);
  }
  if (m_isDrawn) overlay->replot();
}

}  // namespace ulpscope::plots
