#include "widgets/plots/thumbnail_paint.h"

#include "widgets/models/text.h"

#include <QImage>
#include <QPainter>
#include <QPainterPath>

namespace ulpscope::plots {
namespace {

using render::Thumbnail;

void paintImage(QPainter& painter, const QRect& area, const Thumbnail& t) {
  const QImage image(t.rgba.data(), t.width, t.height, QImage::Format_RGBA8888);
  const QSize size = image.size().scaled(area.size(), Qt::KeepAspectRatio).expandedTo({1, 1});
  const QRect target(area.center() - QPoint((size.width() - 1) / 2, (size.height() - 1) / 2), size);
  // Pixels of a small image stay pixels.
  painter.setRenderHint(QPainter::SmoothPixmapTransform, t.width > area.width());
  painter.drawImage(target, image);
}

void paintCurve(QPainter& painter, const QRect& area, const Thumbnail& t, const Theme& theme) {
  const double step = t.curve.size() > 1 ? (area.width() - 1.0) / static_cast<double>(t.curve.size() - 1) : 0;
  const auto y = [&](float share) { return area.bottom() - 3 - share * (area.height() - 7.0); };
  QPainterPath line;
  bool isOpen = false;
  for (std::size_t i = 0; i < t.curve.size(); ++i) {
    const render::CurveColumn& c = t.curve[i];
    const double x = area.left() + step * static_cast<double>(i);
    if (c.hasNonfinite) painter.fillRect(QRectF(x - 0.5, area.top(), std::max(1.0, step), area.height()), theme.origin.background);
    if (!c.hasValue) {
      isOpen = false;
      continue;
    }
    isOpen ? line.lineTo(x, y(c.high)) : line.moveTo(x, y(c.high));
    if (c.low < c.high) line.lineTo(x, y(c.low));
    isOpen = true;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.series, 1.2));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(line);
}

}  // namespace

void paintThumbnail(QPainter& painter, const QRect& area, const models::ThumbnailPointer& thumbnail, const Theme& theme) {
  painter.fillRect(area, theme.alternate);
  if (!thumbnail) return;
  painter.save();
  if (thumbnail->kind == Thumbnail::Kind::image) paintImage(painter, area, *thumbnail);
  if (thumbnail->kind == Thumbnail::Kind::curve) paintCurve(painter, area, *thumbnail, theme);
  if (thumbnail->kind == Thumbnail::Kind::text) {
    QFont small = painter.font();
    small.setPointSizeF(small.pointSizeF() * 0.85);
    painter.setFont(small);
    painter.setPen(theme.text);
    painter.setClipRect(area);
    painter.drawText(area.adjusted(3, 2, -3, -2), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, models::qt(thumbnail->text));
  }
  painter.restore();
}

}  // namespace ulpscope::plots
