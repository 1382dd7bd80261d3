#include "widgets/views/gallery_delegate.h"

#include "widgets/models/gallery_model.h"
#include "widgets/models/text.h"
#include "widgets/plots/marks.h"

#include <QListView>
#include <QPainter>

namespace ulpscope::views {
namespace {

using models::GalleryModel;
using render::Thumbnail;

constexpr int kPadding = 6;
constexpr int kGap = 4;
constexpr double kMarkSize = 9;

// Below the picture: outcome, id and decision, the true label, margin.
int linesOf(bool hasLabels) { return hasLabels ? 4 : 3; }

void paintImage(QPainter& painter, const QRect& area, const Thumbnail& t) {
  const QImage image(t.rgba.data(), t.width, t.height, QImage::Format_RGBA8888);
  const QSize size = image.size().scaled(area.size(), Qt::KeepAspectRatio).expandedTo({1, 1});
  const QRect target(area.center() - QPoint((size.width() - 1) / 2, (size.height() - 1) / 2), size);
  // Pixels of a small image stay pixels.
  painter.setRenderHint(QPainter::SmoothPixmapTransform, t.width > area.width());
  painter.drawImage(target, image);
}

void paintCurve(QPainter& painter, const QRect& area, const Thumbnail& t, const plots::Theme& theme) {
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

void paintPicture(QPainter& painter, const QRect& area, const models::ThumbnailPointer& thumbnail, const plots::Theme& theme) {
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

}  // namespace

QSize GalleryDelegate::tileSize(const QFontMetrics& metrics, int pictureSide, bool hasLabels) {
  const int text = metrics.horizontalAdvance(QStringLiteral("wrong to wrong")) + 16;
  return {std::max(pictureSide, text) + 2 * kPadding + kGap, pictureSide + linesOf(hasLabels) * metrics.height() + 2 * kPadding + kGap};
}

QSize GalleryDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
  const auto* list = qobject_cast<const QListView*>(option.widget);
  return list != nullptr ? list->gridSize() : QSize();
}

void GalleryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const plots::Theme& theme = plots::themeOf(option.widget);
  const bool isSelected = index.data(GalleryModel::kIsSelectedRole).toBool();
  const QRect tile = option.rect.adjusted(kGap / 2, kGap / 2, -kGap / 2, -kGap / 2);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const bool isCurrent = option.state & QStyle::State_HasFocus;
  painter->setBrush(isSelected ? theme.selection : theme.base);
  painter->setPen(QPen(isCurrent ? theme.accent : theme.line, isCurrent ? 2 : 1, isCurrent && isSelected ? Qt::DashLine : Qt::SolidLine));
  if (isCurrent && isSelected) painter->setPen(QPen(theme.text, 2));
  painter->drawRoundedRect(QRectF(tile).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  painter->setRenderHint(QPainter::Antialiasing, false);
  const int line = option.fontMetrics.height();
  const QString label = index.data(GalleryModel::kLabelRole).toString();
  const QRect picture = tile.adjusted(kPadding, kPadding, -kPadding, -kPadding - linesOf(!label.isEmpty()) * line);
  painter->setFont(option.font);
  paintPicture(*painter, picture, index.data(GalleryModel::kThumbnailRole).value<models::ThumbnailPointer>(), theme);

  const auto outcome = static_cast<models::Outcome>(index.data(GalleryModel::kOutcomeRole).toInt());
  plots::MarkStyle style = plots::styleOf(outcome, theme);
  const QColor text = isSelected ? theme.selectionText : theme.text;
  if (isSelected) style.color = text;
  QRect row(picture.left(), picture.bottom() + 1, picture.width(), line);
  plots::paintMark(*painter, {row.left() + kMarkSize / 2 + 1, row.center().y() + 0.5}, style, kMarkSize);
  painter->setPen(isSelected || outcome == models::Outcome::same ? text : style.color);
  const auto draw = [&](const QRect& where, const QString& words) { painter->drawText(where, Qt::AlignLeft | Qt::AlignVCenter, option.fontMetrics.elidedText(words, Qt::ElideRight, where.width())); };
  draw(row.adjusted(static_cast<int>(kMarkSize) + 5, 0, 0, 0), models::name(outcome));
  painter->setPen(text);
  const QString margin = index.data(GalleryModel::kMarginRole).toString();
  const QString decision = index.data(GalleryModel::kDecisionRole).toString();
  const QString id = index.data().toString();
  row.translate(0, line);
  draw(row, decision.isEmpty() ? id : id + QStringLiteral(": ") + decision);
  if (!label.isEmpty()) {
    row.translate(0, line);
    draw(row, label);
  }
  row.translate(0, line);
  painter->setPen(isSelected ? theme.selectionText : theme.muted);
  draw(row, margin);
  painter->restore();
}

}  // namespace ulpscope::views
