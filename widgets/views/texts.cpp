#include "widgets/views/texts.h"

#include <QLabel>

namespace ulpscope::views {

QLabel* makeText(const QString& text, double scale, bool isBold, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() * scale);
  font.setBold(isBold);
  label->setFont(font);
  return label;
}

QLabel* makeLine(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setMinimumWidth(10);  // long names have no place to break
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace ulpscope::views
