#include "widgets/plots/chart_widget.h"

#include <QEvent>
#include <QPainter>

namespace ulpscope::plots {

ChartWidget::ChartWidget(const QString& accessibleName, QWidget* parent) : QWidget(parent) {
  setMinimumSize(260, 150);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_AlwaysShowToolTips);
  setAccessibleName(accessibleName);
}

QString ChartWidget::legendText() const {
  QStringList texts;
  for (const LegendEntry& entry : legend()) texts << entry.text;
  return texts.join(QStringLiteral(", "));
}

void ChartWidget::paintFocus(QPainter& painter) const {
  if (!hasFocus()) return;
  painter.setPen(QPen(themeOf(this).accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void ChartWidget::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  layOut();
}

void ChartWidget::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    layOut();
    emit legendChanged();
  }
  QWidget::changeEvent(event);
}

void ChartWidget::focusInEvent(QFocusEvent* event) {
  update();
  QWidget::focusInEvent(event);
}

void ChartWidget::focusOutEvent(QFocusEvent* event) {
  update();
  QWidget::focusOutEvent(event);
}

}  // namespace ulpscope::plots
