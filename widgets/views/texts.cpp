#include "widgets/views/texts.h"

#include <QComboBox>
#include <QLabel>
#include <QSplitter>

namespace ulpscope::views {
namespace {

constexpr int kSideBySideLines = 50;      // times the height of a line: in less width plots stand above tables,
constexpr int kAboveEachOtherLines = 36;  // if there are so many lines of height

}  // namespace

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

void setLine(QLabel* label, const QString& text) {
  label->setText(text);
  label->setVisible(!text.isEmpty());
}

QComboBox* makeTitleBox(const QString& name, int letters, QWidget* parent) {
  auto* box = new QComboBox(parent);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(letters);
  box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  return box;
}

void fitSplitter(QSplitter* splitter, const QWidget* around) {
  const int line = around->fontMetrics().height();
  const bool isTall = around->width() < kSideBySideLines * line && around->height() > kAboveEachOtherLines * line;
  splitter->setOrientation(isTall ? Qt::Vertical : Qt::Horizontal);
}

}  // namespace ulpscope::views
