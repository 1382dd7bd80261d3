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

}  // namespace ulpscope::views
