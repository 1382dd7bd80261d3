#include "widgets/plots/color_bar.h"

#include "core/base/number_text.h"
#include "core/render/viewport.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QPainter>

#include <algorithm>

namespace ulpscope::plots {
namespace {

constexpr int kBarWidth = 14;
constexpr int kLeft = 12;
constexpr int kTriangle = 8;

QString tickText(double value, const render::ColorRange& range) {
  if (value == 0) return QStringLiteral("0");
  return range.scale == render::Scale::linear ? models::qt(base::shortNumber(value)) : models::decadeText(value);
}

}  // namespace

ColorBar::ColorBar(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Colour bar"));
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
}

QSize ColorBar::sizeHint() const {
  const QFontMetrics metrics(font());
  return {kLeft + kBarWidth + 8 + std::max(metrics.horizontalAdvance(models::decadeText(-1e-10)), metrics.horizontalAdvance(QStringLiteral("-0.0005"))) + 8 + metrics.height() + 8, 200};
}

void ColorBar::setContent(const Content& content) {
  m_content = content;
  const bool isSigned = content.map == render::ColorMap::vik;
  const double from = isSigned ? -content.range.high : content.range.scale == render::Scale::linear ? 0 : content.range.low;
  setAccessibleDescription(tr("%1 from %2 to %3, %4").arg(content.title, models::qt(base::shortNumber(from)), models::qt(base::shortNumber(content.range.high)), models::qt(render::label(content.range.scale))));
  update();
}

void ColorBar::setSpan(int top, int bottom) {
  if (m_top == top && m_bottom == bottom) return;
  m_top = top;
  m_bottom = bottom;
  update();
}

QRect ColorBar::barRect() const { return {kLeft, m_top + kTriangle + 2, kBarWidth, std::max(1, m_bottom - m_top - 2 * kTriangle - 4)}; }

double ColorBar::yOf(double value) const {
  const QRect bar = barRect();
  return bar.bottom() - render::colorPosition(value, m_content.range, m_content.map) * (bar.height() - 1);
}

void ColorBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = themeOf(this);
  painter.fillRect(rect(), theme.base);
  const QRect bar = barRect();
  for (int y = 0; y < bar.height(); ++y)
    painter.fillRect(QRect(bar.left(), bar.bottom() - y, bar.width(), 1), toColor(render::colorAt(m_content.map, y / std::max(1.0, bar.height() - 1.0))));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const double middle = bar.left() + kBarWidth / 2.0;
  painter.setBrush(m_content.valuesAbove ? QBrush(toColor(render::colorAt(m_content.map, 1))) : QBrush(theme.line));
  painter.drawPolygon(QPolygonF({{middle, bar.top() - 2.0 - kTriangle}, {middle + kBarWidth / 2.0, bar.top() - 2.0}, {middle - kBarWidth / 2.0, bar.top() - 2.0}}));
  painter.setBrush(m_content.valuesBelow ? QBrush(toColor(render::colorAt(m_content.map, 0))) : QBrush(theme.line));
  painter.drawPolygon(QPolygonF({{middle, bar.bottom() + 3.0 + kTriangle}, {middle + kBarWidth / 2.0, bar.bottom() + 3.0}, {middle - kBarWidth / 2.0, bar.bottom() + 3.0}}));
  const QFontMetrics metrics = painter.fontMetrics();
  const double textX = bar.right() + 8;
  double lastY = 1e9;
  for (const double value : render::rangeTicks(m_content.range, m_content.map)) {
    const double y = yOf(value);
    painter.setPen(theme.muted);
    painter.drawLine(QPointF(bar.right() + 1, y), QPointF(bar.right() + 4, y));
    if (lastY - y < metrics.height()) continue;
    painter.drawText(QPointF(textX, y + metrics.ascent() / 2.0 - 1), tickText(value, m_content.range));
    lastY = y;
  }
  if (m_content.tolerance > 0) {
    const double y = yOf(m_content.tolerance);
    painter.setPen(QPen(theme.bad, 2));
    painter.drawLine(QPointF(bar.left() - 5, y), QPointF(bar.right() + 5, y));
  }
  painter.setPen(theme.muted);
  painter.translate(width() - metrics.height() - 2, bar.center().y());
  painter.rotate(90);
  painter.drawText(QRectF(-bar.height() / 2.0 - 20, -metrics.height(), bar.height() + 40, metrics.height()), Qt::AlignCenter, m_content.title);
}

}  // namespace ulpscope::plots
