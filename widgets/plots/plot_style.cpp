#include "widgets/plots/plot_style.h"

#include "core/render/viewport.h"
#include "widgets/models/text.h"

namespace ulpscope::plots {

void styleAxis(QCPAxis* axis, const Theme& theme, const QFont& font) {
  QFont small = font;
  small.setPointSizeF(font.pointSizeF() * 0.9);
  axis->setBasePen(QPen(theme.line));
  axis->setTickPen(QPen(theme.line));
  axis->setSubTickPen(Qt::NoPen);
  axis->setTickLabelColor(theme.muted);
  axis->setTickLabelFont(small);
  axis->setLabelColor(theme.muted);
  axis->setLabelFont(font);
  axis->grid()->setPen(QPen(theme.line, 0, Qt::DotLine));
  axis->grid()->setZeroLinePen(QPen(theme.line));
}

QSharedPointer<QCPAxisTicker> symlogTicker(double linear, double high) {
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  ticker->addTick(0, QStringLiteral("0"));
  const std::vector<double> decades = render::decadeTicks({linear, high});
  // Every second decade where there are many: labels must not touch.
  const std::size_t step = decades.size() > 4 ? 2 : 1;
  for (std::size_t i = 0; i < decades.size(); i += step) {
    const double at = render::symlog(decades[i], linear);
    ticker->addTick(at, models::decadeText(decades[i]));
    ticker->addTick(-at, models::decadeText(-decades[i]));
  }
  return ticker;
}

}  // namespace ulpscope::plots
