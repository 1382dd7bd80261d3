// A scan as the window holds it, and what it says in words: one immutable object, shared by plots, tables and texts.
#pragma once

#include "core/render/scan_strip.h"
#include "core/session/scan.h"
#include "core/session/session.h"

#include <QString>
#include <QStringList>

#include <memory>

namespace ulpscope::models {

struct LoadedScan {
  std::shared_ptr<const session::Session> session;
  session::Scan scan;
  render::PointList points;  // of a segment, by t: into `scan`
};
using ScanPointer = std::shared_ptr<const LoadedScan>;
ScanPointer makeLoadedScan(std::shared_ptr<const session::Session> session, session::Scan scan);

QString decisionText(const LoadedScan& scan, int decision);       // "cat"; "no decision"
QString classText(const LoadedScan& scan, std::size_t shownClass);  // of Scan::classes; "score" of a threshold
QString lowName(const session::Scan& scan);                       // "AMP FP16"
QString scanRegions(const session::Scan& scan);                   // "head in FP32"; empty: none
// Whose decision a class is, as an index in Scan::decisions; kNoDecision: of none, or of a set.
int decisionOfClass(const session::Scan& scan, std::int64_t shownClass);

// A decision of `own` as an index among `other`'s; their number where it is none of them.
int decisionIn(const LoadedScan& other, const LoadedScan& own, int decision);

// Whether two scans ask the same of the same inputs, so that one may lie over the other.
bool areComparable(const session::Scan& a, const session::Scan& b);

// What it found, a sentence each, the most important first.
QStringList scanHeadline(const LoadedScan& scan);
// Under which conditions: points, noise, batch, policy, inputs that moved. Warnings are not among them.
QString scanConditions(const LoadedScan& scan);

// "t 0.53125", "u 0.25, v 0.5": exact.
QString timeText(double t);
// A point in a few lines, for tooltips and screen readers: decisions, margins, error and noise with 9 digits.
QString pointText(const LoadedScan& scan, const session::PairAtPoint& point);
// "both runs decide 4"; "FP32: 4, AMP FP16: 9", with "within FP32's noise" where that is so.
QString verdictText(const LoadedScan& scan, const session::PairAtPoint& point);

}  // namespace ulpscope::models
