#include "widgets/views/legend_widget.h"

#include "widgets/plots/heatmap_paint.h"

#include "core/render/viewport.h"

#include <QImage>
#include <QPainter>

#include <memory>

namespace ulpscope::views {
namespace {

constexpr int kSwatch = 12;
constexpr int kGap = 5;
constexpr int kBetween = 13;

QString words(render::CellKind kind, bool isDifference) {
  switch (kind) {
    case render::CellKind::exactZero: return isDifference ? QStringLiteral("no change") : QStringLiteral("exact zero");
    case render::CellKind::nan: return QStringLiteral("NaN");
    case render::CellKind::plusInf: return QStringLiteral("+inf");
    case render::CellKind::minusInf: return QStringLiteral("−inf");
    case render::CellKind::notRun: return QStringLiteral("no number");
    case render::CellKind::cured: return QStringLiteral("finite again");
    case render::CellKind::value: return {};
  }
  return {};
}

// The same pixels as the heatmap's.
QImage swatch(render::CellKind kind, double ratio, render::Theme theme) {
  const int size = static_cast<int>(kSwatch * ratio);
  render::Viewport viewport = render::wholeMap(1, 1, size, size);
  viewport.pixelRatio = std::max(1, static_cast<int>(ratio + 0.5));
  const auto data = std::make_shared<const render::HeatmapData>(1, 1, std::vector{render::Cell{kind, false, 0}});
  const auto rgba = render::heatmapPixels({data, {0}}, viewport, {{}, render::ColorMap::viridis, theme});
  QImage image = QImage(rgba.data(), size, size, size * 4, QImage::Format_RGBA8888).copy();
  image.setDevicePixelRatio(ratio);
  return image;
}

}  // namespace

LegendWidget::LegendWidget(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Legend: exact zero, NaN, +inf, -inf, no number (not run, or a view)"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

std::vector<render::CellKind> LegendWidget::kinds() const {
  using enum render::CellKind;
  std::vector<render::CellKind> kinds{exactZero, nan, plusInf, minusInf, notRun};
  if (m_isDifference) kinds.push_back(cured);
  return kinds;
}

void LegendWidget::setIsDifference(bool isDifference) {
  if (m_isDifference == isDifference) return;
  m_isDifference = isDifference;
  updateGeometry();
  update();
}

QSize LegendWidget::sizeHint() const {
  int width = 2;
  for (const render::CellKind kind : kinds()) width += kSwatch + kGap + fontMetrics().horizontalAdvance(words(kind, m_isDifference)) + kBetween;
  return {width, fontMetrics().height() + 4};
}

void LegendWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const plots::Theme& theme = plots::themeOf(this);
  int x = width() - sizeHint().width() + kBetween;
  const int top = (height() - kSwatch) / 2;
  for (const render::CellKind kind : kinds()) {
    painter.drawImage(QPoint(x, top), swatch(kind, devicePixelRatioF(), theme.forRender()));
    if (kind == render::CellKind::plusInf || kind == render::CellKind::minusInf) plots::paintTriangle(painter, {x + kSwatch / 2.0, top + kSwatch / 2.0}, 5, kind);
    painter.setPen(theme.muted);
    painter.drawRect(x, top, kSwatch - 1, kSwatch - 1);
    x += kSwatch + kGap;
    const int textWidth = painter.fontMetrics().horizontalAdvance(words(kind, m_isDifference));
    painter.setPen(theme.text);
    painter.drawText(QRect(x, 0, textWidth + 2, height()), Qt::AlignLeft | Qt::AlignVCenter, words(kind, m_isDifference));
    x += textWidth + kBetween;
  }
}

}  // namespace ulpscope::views
