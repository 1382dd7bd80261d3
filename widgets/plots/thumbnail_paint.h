// One sample's input as a picture: in tiles, and beside plots.
#pragma once

#include "widgets/models/gallery_model.h"
#include "widgets/plots/theme.h"

#include <QRect>

class QPainter;

namespace ulpscope::plots {

// In the painter's font. nullptr: the ground alone.
void paintThumbnail(QPainter& painter, const QRect& area, const models::ThumbnailPointer& thumbnail, const Theme& theme);

}  // namespace ulpscope::plots
