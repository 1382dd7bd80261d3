#include "widgets/plots/profile_plot.h"

#include "core/base/number_text.h"
#include "core/render/viewport.h"
#include "widgets/models/text.h"
#include "widgets/plots/heatmap_paint.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::plots {
namespace {

constexpr int kWidth = 116;
constexpr int kMargin = 8;
constexpr double kRug = 1.12;      // where non-finite rows stand: right of the range
constexpr double kEnd = 1.18;
constexpr double kLineWidth = 1.5;
constexpr double kDotFrom = 5;     // px a row from which its value is a dot too
constexpr double kMarkStep = 3;    // px between the marks of non-finite rows

struct Tick {
  double share;
  QString words;
};

std::vector<Tick> ticksOf(const ProfilePlot::Content& content) {
  if (content.isSigned) return {{0, QObject::tr("less")}, {0.5, QStringLiteral("0")}, {1, QObject::tr("more")}};
  const std::vector<double> values = render::rangeTicks(content.range, render::ColorMap::viridis);
  const bool isLinear = content.range.scale == render::Scale::linear;
  const std::size_t step = isLinear ? values.size() - 1 : std::max<std::size_t>(1, (values.size() + 2) / 3);
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < values.size(); i += step)
    ticks.push_back({render::colorPosition(values[i], content.range, render::ColorMap::viridis),
                     isLinear ? models::qt(base::shortNumber(values[i])) : models::decadeText(values[i])});
  return ticks;
}

}  // namespace

ProfilePlot::ProfilePlot(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Row maximum"));
  setAccessibleDescription(tr("The largest value of each heatmap row; the same numbers stand in the module tree's badges."));
  setFixedWidth(kWidth);
}

void ProfilePlot::setContent(const Content& content) {
  m_content = content;
  update();
}

void ProfilePlot::setRows(double first, double last, int top, int bottom) {
  m_firstRow = first;
  m_lastRow = last;
  m_top = top;
  m_bottom = bottom;
  update();
}

void ProfilePlot::setHighlight(std::int64_t row) {
  if (m_highlight == row) return;
  m_highlight = row;
  update();
}

QRectF ProfilePlot::plotRect() const { return {kMargin, static_cast<double>(m_top), width() - 2.0 * kMargin, std::max(1.0, static_cast<double>(m_bottom - m_top))}; }

double ProfilePlot::atShare(double share) const { return plotRect().left() + share / kEnd * plotRect().width(); }

double ProfilePlot::xOf(double value) const {
  return atShare(render::colorPosition(value, m_content.range, m_content.isSigned ? render::ColorMap::vik : render::ColorMap::viridis));
}

double ProfilePlot::rowAt(double y) const { return m_firstRow + (y - m_top) * (m_lastRow - m_firstRow) / plotRect().height(); }

render::Cell ProfilePlot::worstOf(double firstRow, double lastRow) const {
  const auto begin = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(firstRow)));
  const auto end = std::min(static_cast<std::int64_t>(m_content.maxima.size()), std::max(begin + 1, static_cast<std::int64_t>(std::ceil(lastRow))));
  render::Cell worst;
  for (std::int64_t row = begin; row < end; ++row) worst = render::worse(worst, m_content.maxima[static_cast<std::size_t>(row)]);
  return worst;
}

void ProfilePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = themeOf(this);
  painter.fillRect(rect(), theme.base);
  paintAxis(painter);
  painter.setClipRect(plotRect().adjusted(-kMargin, 0, kMargin, 0));
  if (m_highlight >= 0) {
    const double y = m_top + (static_cast<double>(m_highlight) + 0.5 - m_firstRow) * plotRect().height() / (m_lastRow - m_firstRow);
    painter.setPen(QPen(theme.muted, 1));
    painter.drawLine(QPointF(0, y), QPointF(width(), y));
  }
  paintLine(painter);
  paintNonfinite(painter);
  if (m_content.tolerance <= 0) return;
  painter.setPen(QPen(theme.bad, 1.2, Qt::DashLine));
  painter.drawLine(QPointF(xOf(m_content.tolerance), m_top), QPointF(xOf(m_content.tolerance), m_bottom));
}

void ProfilePlot::paintAxis(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const QFontMetrics metrics = painter.fontMetrics();
  const double below = m_bottom + 5;
  for (const Tick& tick : ticksOf(m_content)) {
    const double x = atShare(tick.share);
    painter.setPen(QPen(theme.line, 1, Qt::DotLine));
    painter.drawLine(QPointF(x, m_top), QPointF(x, m_bottom));
    const int textWidth = metrics.horizontalAdvance(tick.words);
    painter.setPen(theme.muted);
    painter.drawText(QRectF(std::clamp(x - textWidth / 2.0, 0.0, std::max(0.0, width() - textWidth - 1.0)), below, textWidth + 1, metrics.height()), Qt::AlignCenter, tick.words);
  }
  painter.drawText(QRectF(0, below + 2 + metrics.height(), width(), metrics.height() + 2), Qt::AlignHCenter | Qt::AlignTop,
                   metrics.elidedText(tr("row maximum"), Qt::ElideRight, width()));
  painter.setPen(QPen(theme.line, 1));
  painter.drawRect(plotRect());
}

// A line of pixels after the other, from the value above to its own: never more points than pixels, and the worst of a pixel's rows wins.
void ProfilePlot::paintLine(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const double rowHeight = plotRect().height() / (m_lastRow - m_firstRow);
  double before = std::numeric_limits<double>::quiet_NaN();
  for (int y = m_top; y < m_bottom; ++y) {
    const double row = rowAt(rowHeight >= 1 ? y + 0.5 : y);
    const render::Cell cell = worstOf(row, rowHeight >= 1 ? row : rowAt(y + 1));
    const bool hasNumber = cell.kind == render::CellKind::exactZero || (cell.kind == render::CellKind::value && std::isfinite(cell.value));
    const double at = hasNumber ? xOf(cell.kind == render::CellKind::exactZero ? 0 : cell.value) : std::numeric_limits<double>::quiet_NaN();
    if (hasNumber) {
      const double from = std::isnan(before) ? at : std::min(before, at), to = std::isnan(before) ? at : std::max(before, at);
      painter.fillRect(QRectF(from - kLineWidth / 2, y, to - from + kLineWidth, 1), theme.series);
    }
    before = at;
  }
  if (rowHeight < kDotFrom) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.series);
  for (auto row = std::max<std::int64_t>(0, static_cast<std::int64_t>(m_firstRow)); row < std::min<double>(m_lastRow, static_cast<double>(m_content.maxima.size())); ++row) {
    const render::Cell& cell = m_content.maxima[static_cast<std::size_t>(row)];
    if (cell.kind == render::CellKind::value && std::isfinite(cell.value))
      painter.drawEllipse(QPointF(xOf(cell.value), m_top + (static_cast<double>(row) + 0.5 - m_firstRow) * rowHeight), 2.2, 2.2);
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void ProfilePlot::paintNonfinite(QPainter& painter) const {
  const QColor& color = themeOf(this).origin.background;
  const double rowHeight = plotRect().height() / (m_lastRow - m_firstRow);
  const Stamp mark = diamondStamp(painter, 3.5, color, RowMark::origin);
  double last = -1e9;
  for (auto row = std::max<std::int64_t>(0, static_cast<std::int64_t>(m_firstRow)); row < std::min<double>(m_lastRow, static_cast<double>(m_content.maxima.size())); ++row) {
    const double y = m_top + (static_cast<double>(row) + 0.5 - m_firstRow) * rowHeight;
    if (!render::isNonfinite(m_content.maxima[static_cast<std::size_t>(row)].kind) || y - last < kMarkStep) continue;
    last = y;
    mark.paint(painter, {atShare(kRug), y});
  }
}

void ProfilePlot::mousePressEvent(QMouseEvent* event) {
  const double row = rowAt(event->position().y());
  if (event->button() == Qt::LeftButton && row >= 0 && row < static_cast<double>(m_content.maxima.size())) emit rowClicked(static_cast<std::int64_t>(row));
}

}  // namespace ulpscope::plots
