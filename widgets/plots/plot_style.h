// How our QCustomPlots look. Includes QCustomPlot: for the sources of this folder only.
#pragma once

#include "widgets/plots/theme.h"

#include <qcustomplot.h>

namespace ulpscope::plots {

// A plot that its host answers for: keys, pointer and tooltips are the host's, the legend stands below it.
void hostPlot(QWidget* host, QCustomPlot* plot, QWidget* legend);
void styleAxis(QCPAxis* axis, const Theme& theme, const QFont& font);
// Ticks of a symlog axis: 0 and +-decades, at their symlog positions; at most `most` (3 at least) from -high to high.
QSharedPointer<QCPAxisTickerText> symlogTicker(double linear, double high, int most = 9);

}  // namespace ulpscope::plots
