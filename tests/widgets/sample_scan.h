// Scans by hand of the sample session, from a to b. FP32's scores are cat = 1 - t, dog = t, emu = -1: it crosses from cat to dog just above
// 1/2. The candidate's dog is 1/16 more: it crosses just above 15/32, and the runs disagree between.
#pragma once

#include "core/session/scan.h"

#include <QString>

namespace ulpscope::testing {

enum class Regions { none, head };  // head: in FP32, which moves the candidate's dog to 1/64 more

session::Scan sampleSegment(Regions regions);
// a, b and c: FP32 decides cat where u + v < 0.7, the candidate where u + v < 0.6; grid of 9 x 9.
session::Scan samplePlane();
// a and b of four samples: a flips in FP32 at 2, in the candidate at 1; of b nothing flips up to 12.5.
session::Scan sampleNear();

// Adds scans to the session at `path`.
void addScans(const QString& path, const std::vector<session::Scan>& scans);

}  // namespace ulpscope::testing
