#include "widgets/views/gallery_delegate.h"

#include "widgets/models/gallery_model.h"
#include "widgets/models/text.h"
#include "widgets/plots/marks.h"
#include "widgets/plots/thumbnail_paint.h"

#include <QListView>
#include <QPainter>

namespace ulpscope::views {
namespace {

using models::GalleryModel;

constexpr int kPadding = 6;
constexpr int kGap = 4;
constexpr double kMarkSize = 9;

// Below the picture: outcome, id and decision, the true label, margin.
int linesOf(bool hasLabels) { return hasLabels ? 4 : 3; }

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
  plots::paintThumbnail(*painter, picture, index.data(GalleryModel::kThumbnailRole).value<models::ThumbnailPointer>(), theme);

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
