#include "widgets/plots/plot_style.h"

#include "core/render/viewport.h"
#include "widgets/models/text.h"

#include <QVBoxLayout>

namespace ulpscope::plots {

void hostPlot(QWidget* host, QCustomPlot* plot, QWidget* legend) {
  auto* layout = new QVBoxLayout(host);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(plot, 1);
  layout->addWidget(legend);
  plot->setFocusPolicy(Qt::NoFocus);
  plot->setMouseTracking(true);
  plot->setAttribute(Qt::WA_AlwaysShowToolTips);
  host->setFocusPolicy(Qt::StrongFocus);
}

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

QSharedPointer<QCPAxisTickerText> symlogTicker(double linear, double high, int most) {
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  ticker->addTick(0, QStringLiteral("0"));
  const std::vector<double> decades = render::decadeTicks({linear, high});
  const std::size_t aSide = static_cast<std::size_t>(std::max(1, (most - 1) / 2));
  const std::size_t step = std::max<std::size_t>(1, (decades.size() + aSide - 1) / aSide);
  // From the outside in: the end of the axis always has its number.
  for (std::size_t i = decades.size(); i > 0; i = i > step ? i - step : 0) {
    const double decade = decades[i - 1];
    ticker->addTick(render::symlog(decade, linear), models::decadeText(decade));
    ticker->addTick(-render::symlog(decade, linear), models::decadeText(-decade));
  }
  return ticker;
}

}  // namespace ulpscope::plots
