// The box that says how a module stands to the FP32 regions, in the tree and in tables.
#pragma once

#include "widgets/models/fp32_regions.h"
#include "widgets/plots/theme.h"

#include <QRect>

class QPainter;

namespace ulpscope::views {

// In the middle of `rect`. Own indicator: Fusion's unchecked box all but vanishes on a dark palette, and on a selected row.
void paintRegionCheck(QPainter& painter, const QRect& rect, models::RegionState state, bool isSelected, const plots::Theme& theme);

}  // namespace ulpscope::views
