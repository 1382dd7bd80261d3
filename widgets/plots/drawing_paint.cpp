#include "widgets/plots/drawing_paint.h"

#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QFontMetricsF>

#include <algorithm>

namespace ulpscope::plots {
namespace {

using models::qt;

constexpr int kLeastPixels = 256;

class DrawingPainter {
 public:
  DrawingPainter(QPainter& painter, QPointF at, double scale) : m_painter(painter), m_at(at), m_scale(scale) {}

  void operator()(const render::Box& box) {
    m_painter.setPen(box.outline == render::Ink::none ? QPen(Qt::NoPen) : QPen(colorOf(box.outline), m_scale));
    m_painter.setBrush(box.fill != render::Ink::none ? QBrush(colorOf(box.fill)) : box.isColored ? QBrush(toColor(box.color)) : QBrush(Qt::NoBrush));
    m_painter.drawRect(QRectF(map(box.x, box.y), QSizeF(box.width * m_scale, box.height * m_scale)));
  }

  void operator()(const render::Line& line) {
    if (line.points.size() < 2) return;
    QPen pen(colorOf(line.stroke.ink), line.stroke.width * m_scale);
    pen.setJoinStyle(Qt::RoundJoin);
    if (line.stroke.dash != render::Dash::solid) {  // in widths of the pen
      const double width = line.stroke.width;
      pen.setDashPattern(line.stroke.dash == render::Dash::dashed ? QVector<qreal>{5 / width, 3 / width} : QVector<qreal>{1.5 / width, 2.5 / width});
      pen.setCapStyle(Qt::FlatCap);
    }
    m_painter.setPen(pen);
    QPolygonF points;
    for (const render::Place& p : line.points) points << map(p.x, p.y);
    m_painter.drawPolyline(points);
  }

  void operator()(const render::Signs& signs) {
    const bool hollow = render::isHollow(signs.sign);
    m_painter.setPen(hollow ? QPen(colorOf(signs.ink), 1.2 * m_scale) : QPen(Qt::NoPen));
    m_painter.setBrush(colorOf(hollow ? render::Ink::paper : signs.ink));
    const std::vector<render::Place> corners = render::cornersOf(signs.sign, signs.size);
    for (const render::Place& at : signs.at) {
      if (corners.empty()) m_painter.drawEllipse(map(at.x, at.y), signs.size / 2 * m_scale, signs.size / 2 * m_scale);
      QPolygonF polygon;
      for (const render::Place& corner : corners) polygon << map(at.x + corner.x, at.y + corner.y);
      if (!polygon.isEmpty()) m_painter.drawPolygon(polygon);
    }
  }

  void operator()(const render::Words& words) {
    QFont font = m_painter.font();
    font.setPixelSize(std::max(1, qRound(words.size * m_scale)));
    keepLetters(font);
    const QString text = qt(words.text);
    const double width = QFontMetricsF(font).horizontalAdvance(text);
    const double back = words.anchor == render::Anchor::start ? 0 : words.anchor == render::Anchor::middle ? width / 2 : width;
    m_painter.save();
    m_painter.setFont(font);
    m_painter.setPen(colorOf(words.ink));
    m_painter.translate(map(words.at.x, words.at.y));
    if (words.isVertical) m_painter.rotate(-90);
    m_painter.drawText(QPointF(-back, 0), text);
    m_painter.restore();
  }

  void operator()(const render::Raster& raster) {
    if (!raster.light) return;
    const QImage image(raster.light->data(), raster.columns, raster.rows, raster.columns * 4, QImage::Format_RGBA8888);
    // What shows paper may smooth a small picture: its pixels are made squares of many.
    const int times = std::max(1, kLeastPixels / std::max({raster.columns, raster.rows, 1}));
    m_painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    m_painter.drawImage(QRectF(map(raster.x, raster.y), QSizeF(raster.width * m_scale, raster.height * m_scale)), times > 1 ? image.scaled(times * raster.columns, times * raster.rows) : image);
  }

 private:
  QPointF map(double x, double y) const { return m_at + QPointF(x, y) * m_scale; }
  static QColor colorOf(render::Ink ink) { return toColor(render::inkColor(ink, render::Theme::light)); }

  QPainter& m_painter;
  QPointF m_at;
  double m_scale;
};

}  // namespace

void keepLetters(QFont& font) { font.setLetterSpacing(QFont::AbsoluteSpacing, 1.0 / 64); }

void paintDrawing(QPainter& painter, const render::Drawing& drawing, QPointF at, double scale) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  DrawingPainter paint(painter, at, scale);
  for (const render::DrawnShape& shape : drawing.shapes) std::visit(paint, shape);
  painter.restore();
}

}  // namespace ulpscope::plots
