// How our QCustomPlots look. Includes QCustomPlot: for the sources of this folder only.
#pragma once

#include "widgets/plots/theme.h"

#include <qcustomplot.h>

namespace ulpscope::plots {

void styleAxis(QCPAxis* axis, const Theme& theme, const QFont& font);
// Ticks of a symlog axis: 0 and +-decades, at their symlog positions; at most `most` (3 at least) from -high to high.
QSharedPointer<QCPAxisTickerText> symlogTicker(double linear, double high, int most = 9);

}  // namespace ulpscope::plots
