#include "widgets/plots/plot_legend.h"

#include <QPainter>

namespace ulpscope::plots {
namespace {

constexpr int kMark = 18;   // px for a mark
constexpr int kGap = 12;    // between entries
constexpr double kMarkSize = 9;

}  // namespace

PlotLegend::PlotLegend(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.9);
  setFont(small);
}

void PlotLegend::setEntries(std::vector<LegendEntry> entries) {
  m_entries = std::move(entries);
  setAccessibleName(tr("Legend: %1").arg(text()));
  updateGeometry();
  update();
}

QString PlotLegend::text() const {
  QStringList texts;
  for (const LegendEntry& entry : m_entries) texts << entry.text;
  return texts.join(QStringLiteral(", "));
}

int PlotLegend::entryWidth(const LegendEntry& entry) const { return kMark + fontMetrics().horizontalAdvance(entry.text) + kGap; }

std::vector<QPoint> PlotLegend::places(int width, int& height) const {
  const int line = fontMetrics().height() + 2;
  std::vector<QPoint> places;
  QPoint at(0, 0);
  for (const LegendEntry& entry : m_entries) {
    if (at.x() > 0 && at.x() + entryWidth(entry) - kGap > width) at = {0, at.y() + line};
    places.push_back(at);
    at.rx() += entryWidth(entry);
  }
  height = m_entries.empty() ? 0 : at.y() + line;
  return places;
}

int PlotLegend::heightForWidth(int width) const {
  int height = 0;
  places(width, height);
  return height;
}

QSize PlotLegend::sizeHint() const {
  int width = 0;
  for (const LegendEntry& entry : m_entries) width += entryWidth(entry);
  return {width, heightForWidth(width)};
}

QSize PlotLegend::minimumSizeHint() const { return {60, m_entries.empty() ? 0 : fontMetrics().height() + 2}; }

void PlotLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  int height = 0;
  const std::vector<QPoint> at = places(width(), height);
  const int line = fontMetrics().height() + 2;
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    paintMark(painter, at[i] + QPointF(kMark / 2.0 - 2, line / 2.0), m_entries[i].style, kMarkSize);
    painter.setPen(themeOf(this).text);
    const int room = width() - at[i].x() - kMark;
    painter.drawText(QRect(at[i].x() + kMark, at[i].y(), room, line), Qt::AlignVCenter, fontMetrics().elidedText(m_entries[i].text, Qt::ElideRight, room));
  }
}

}  // namespace ulpscope::plots
