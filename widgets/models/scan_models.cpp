#include "widgets/models/scan_models.h"

#include "core/base/number_text.h"
#include "core/render/plane_map.h"

#include <cmath>
#include <utility>

namespace ulpscope::models {
namespace {

using session::PairAtPoint;
using session::Stretch;

TableCell exactCell(double value) { return {qt(base::exactNumber(value)), value, true}; }
TableCell yesCell(bool isSo) { return textCell(isSo ? QStringLiteral("yes") : QStringLiteral("no")); }

// "beyond 12.5": a step that was not found stands above all that were.
TableCell stepCell(const LoadedScan& loaded, const session::NearestFlip& flip, double limit) {
  return {qt(session::flipText(loaded.scan, flip, limit, loaded.session->samples.classNames)), flip.found ? flip.step : HUGE_VAL, true};
}

TableCell emptyCell() { return {QStringLiteral("–"), std::nan(""), true}; }

QString differenceText(const LoadedScan& scan, const PairAtPoint& point) {
  if (point.differs()) return point.withinNoise ? QStringLiteral("differ, within FP32's noise") : QStringLiteral("differ");
  if (point.reference == point.candidate) return QStringLiteral("the same");
  return point.reference == session::kNoDecision ? QStringLiteral("FP32 has none") : QStringLiteral("%1 has none").arg(lowName(scan.scan));
}

}  // namespace

void ScanPointsModel::setScan(const ScanPointer& scan) {
  beginResetModel();
  m_scan = scan;
  m_fields.clear();
  if (m_scan && m_scan->scan.near) m_scan.reset();
  if (m_scan) {
    const QString low = lowName(m_scan->scan);
    if (m_scan->scan.plane) m_fields = {{Field::place, 0, QStringLiteral("u")}, {Field::place, 1, QStringLiteral("v")}};
    else m_fields = {{Field::place, 0, QStringLiteral("t")}};
    for (const auto& [what, header] : {std::pair{Field::reference, QStringLiteral("FP32")}, {Field::candidate, low}, {Field::differs, QStringLiteral("Decisions")}, {Field::referenceMargin, QStringLiteral("FP32 margin")},
                                       {Field::candidateMargin, QStringLiteral("%1 margin").arg(low)}, {Field::maxError, QStringLiteral("Max error")}, {Field::noiseError, QStringLiteral("FP32 noise")}})
      m_fields.push_back({what, 0, header});
    for (std::size_t i = 0; i < m_scan->scan.classes.size(); ++i) {
      m_fields.push_back({Field::referenceScore, i, QStringLiteral("FP32 %1").arg(classText(*m_scan, i))});
      m_fields.push_back({Field::candidateScore, i, QStringLiteral("%1 %2").arg(low, classText(*m_scan, i))});
    }
  }
  endResetModel();
}

int ScanPointsModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !m_scan) return 0;
  return static_cast<int>(m_scan->scan.plane ? m_scan->scan.plane->points.size() : m_scan->points.size());
}

int ScanPointsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_fields.size()); }

const PairAtPoint& ScanPointsModel::pointAt(int row) const {
  const auto at = static_cast<std::size_t>(row);
  return m_scan->scan.plane ? m_scan->scan.plane->points[at] : m_scan->points[at]->at;
}

double ScanPointsModel::placeAt(int row, int axis) const {
  if (!m_scan->scan.plane) return static_cast<double>(m_scan->points[static_cast<std::size_t>(row)]->t);
  const session::PlaneScan& plane = *m_scan->scan.plane;
  const std::int64_t at = axis == 0 ? row % plane.side : row / plane.side;
  return render::planeCoordinate(plane, static_cast<double>(at));
}

ScanPointsModel::Value ScanPointsModel::valueAt(const PairAtPoint& point, const Field& field) const {
  const auto score = [&](const std::vector<double>& scores) { return Value{field.index < scores.size() ? scores[field.index] : std::nan(""), field.index < scores.size() ? QString() : QStringLiteral("–")}; };
  switch (field.what) {
    case Field::place: return {};
    case Field::reference: return {0, decisionText(*m_scan, point.reference)};
    case Field::candidate: return {0, decisionText(*m_scan, point.candidate)};
    case Field::differs: return {0, differenceText(*m_scan, point)};
    case Field::referenceMargin: return {point.referenceMargin, {}};
    case Field::candidateMargin: return {point.candidateMargin, {}};
    case Field::maxError: return {point.maxError, {}};
    case Field::noiseError: return {point.noiseError, m_scan->scan.noise.skipped.empty() ? QString() : QStringLiteral("–")};
    case Field::referenceScore: return score(point.referenceScores);
    case Field::candidateScore: return score(point.candidateScores);
  }
  return {};
}

QVariant ScanPointsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Field& field = m_fields[static_cast<std::size_t>(index.column())];
  if (role == Qt::TextAlignmentRole) return QVariant(static_cast<int>((field.isText() ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
  if (role == RowTableModel::kKeyRole) return index.row();
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != kSortRole) return {};
  const Value value = field.what == Field::place ? Value{placeAt(index.row(), static_cast<int>(field.index)), {}} : valueAt(pointAt(index.row()), field);
  if (role == kSortRole) return field.isText() ? QVariant(value.text) : QVariant(value.text.isEmpty() ? value.number : std::nan(""));
  return value.text.isEmpty() ? qt(base::exactNumber(value.number)) : value.text;
}

QVariant ScanPointsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Field& field = m_fields[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return field.header;
  if (role == Qt::TextAlignmentRole) return QVariant(static_cast<int>((field.isText() ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
  return {};
}

ScanPointModel::ScanPointModel(QObject* parent) : RowTableModel({QString(), QStringLiteral("FP32"), QStringLiteral("AMP"), QStringLiteral("AMP − FP32"), QStringLiteral("Overlay")}, parent) {}

void ScanPointModel::setPoint(const ScanPointer& scan, const PairAtPoint* point, const ScanPointer& overlay, const PairAtPoint* overlaid) {
  std::vector<Row> rows;
  const auto add = [&rows](const QString& what, std::vector<TableCell> cells) {
    cells.insert(cells.begin(), textCell(what));
    rows.push_back({static_cast<int>(rows.size()), std::move(cells)});
  };
  const auto over = [overlaid](double PairAtPoint::*value) { return overlaid == nullptr ? emptyCell() : exactCell(overlaid->*value); };
  if (scan && point != nullptr) {
    setHeaders({QString(), QStringLiteral("FP32"), lowName(scan->scan), QStringLiteral("%1 − FP32").arg(lowName(scan->scan)), overlay ? QStringLiteral("Overlay, %1").arg(lowName(overlay->scan)) : QStringLiteral("Overlay")});
    const auto right = [](const QString& text) { return TableCell{text, {}, true}; };
    add(QStringLiteral("decision"), {right(decisionText(*scan, point->reference)), right(decisionText(*scan, point->candidate)), right(differenceText(*scan, *point)),
                                     overlaid == nullptr ? emptyCell() : right(decisionText(*overlay, overlaid->candidate))});
    add(QStringLiteral("margin"), {exactCell(point->referenceMargin), exactCell(point->candidateMargin), exactCell(point->candidateMargin - point->referenceMargin), over(&PairAtPoint::candidateMargin)});
    for (std::size_t i = 0; i < scan->scan.classes.size() && i < point->referenceScores.size() && i < point->candidateScores.size(); ++i) {
      const bool hasOverlay = overlaid != nullptr && overlay->scan.classes == scan->scan.classes && i < overlaid->candidateScores.size();
      add(QStringLiteral("score %1").arg(classText(*scan, i)), {exactCell(point->referenceScores[i]), exactCell(point->candidateScores[i]), exactCell(point->candidateScores[i] - point->referenceScores[i]),
                                                               hasOverlay ? exactCell(overlaid->candidateScores[i]) : emptyCell()});
    }
    add(QStringLiteral("largest error"), {emptyCell(), emptyCell(), exactCell(point->maxError), over(&PairAtPoint::maxError)});
    if (scan->scan.noise.skipped.empty()) add(QStringLiteral("FP32 noise"), {exactCell(point->noiseError), emptyCell(), emptyCell(), emptyCell()});
  }
  setRows(std::move(rows));
}

ScanEventsModel::ScanEventsModel(QObject* parent) : RowTableModel({QStringLiteral("What"), QStringLiteral("From t"), QStringLiteral("To t"), QStringLiteral("Width"), QStringLiteral("Detail")}, parent) {}

void ScanEventsModel::setScan(const ScanPointer& scan) {
  std::vector<Row> rows;
  m_extents.clear();
  const auto add = [&](const QString& what, const Stretch& at, const QString& detail) {
    m_extents.push_back(at);
    rows.push_back({(static_cast<double>(at.from) + static_cast<double>(at.to)) / 2, {textCell(what), exactCell(static_cast<double>(at.from)), exactCell(static_cast<double>(at.to)), numberCell(at.width()), textCell(detail)}});
  };
  if (scan && scan->scan.segment) {
    const session::SegmentScan& segment = *scan->scan.segment;
    const QString low = lowName(scan->scan);
    for (const session::Disagreement& d : segment.disagreement)
      add(QStringLiteral("they disagree"), d.at, QStringLiteral("FP32 %1, %2 %3%4").arg(decisionText(*scan, d.reference), low, decisionText(*scan, d.candidate), d.withinNoise ? QStringLiteral("; within FP32's noise") : QString()));
    for (const auto& [name, list] : {std::pair{QStringLiteral("FP32 crosses"), &segment.referenceCrossings}, {QStringLiteral("%1 crosses").arg(low), &segment.candidateCrossings}, {QStringLiteral("FP32 in another order crosses"), &segment.noiseCrossings}})
      for (const session::Crossing& crossing : *list) add(name, {crossing.before, crossing.t}, QStringLiteral("%1 → %2").arg(decisionText(*scan, crossing.from), decisionText(*scan, crossing.to)));
    for (const session::Flicker& f : segment.flicker)
      add(QStringLiteral("%1 flickers").arg(low), f.at, QStringLiteral("%1 changes, FP32 %2").arg(qt(base::groupedInteger(f.changes)), qt(base::groupedInteger(f.referenceChanges))));
    for (const auto& [name, list] : {std::pair{QStringLiteral("FP32 has no decision"), &segment.referenceNoDecision}, {QStringLiteral("%1 has no decision").arg(low), &segment.candidateNoDecision}})
      for (const Stretch& at : *list) add(name, at, QStringLiteral("NaN among the scores"));
    for (const session::CloseLook& look : segment.closeLooks)
      add(QStringLiteral("looked at closely"), look.at, QStringLiteral("the error reaches the margin; %1 points, %2 apart").arg(qt(base::groupedInteger(look.points)), qt(base::shortNumber(look.resolution()))));
  }
  setRows(std::move(rows));
}

QVariant ScanEventsModel::data(const QModelIndex& index, int role) const {
  if (role != kFromRole && role != kToRole) return RowTableModel::data(index, role);
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Stretch& at = m_extents[static_cast<std::size_t>(index.row())];
  return static_cast<double>(role == kFromRole ? at.from : at.to);
}

NearSamplesModel::NearSamplesModel(QObject* parent)
    : RowTableModel({QStringLiteral("Sample"), QStringLiteral("Decides"), QStringLiteral("FP32 step"), QStringLiteral("AMP step"), QStringLiteral("AMP / FP32"), QStringLiteral("FP32 to"), QStringLiteral("AMP to"),
                     QStringLiteral("FP32 step / norm"), QStringLiteral("Note")}, parent) {}

void NearSamplesModel::setScan(const ScanPointer& scan) {
  std::vector<Row> rows;
  if (scan && scan->scan.near)
    for (const session::NearSample& s : scan->scan.near->samples) {
      const bool isTried = s.skipped.empty();
      const bool hasRatio = s.reference.isBoundary() && s.candidate.isBoundary() && s.reference.step > 0;
      const QString decides = s.at.reference == s.at.candidate ? decisionText(*scan, s.at.reference) : QStringLiteral("%1 / %2").arg(decisionText(*scan, s.at.reference), decisionText(*scan, s.at.candidate));
      rows.push_back({static_cast<int>(rows.size()),
                      {textCell(s.id), textCell(decides), isTried ? stepCell(*scan, s.reference, s.limit) : emptyCell(), isTried ? stepCell(*scan, s.candidate, s.limit) : emptyCell(), hasRatio ? numberCell(s.candidate.step / s.reference.step) : emptyCell(),
                       textCell(s.reference.found ? decisionText(*scan, s.reference.to) : QStringLiteral("–")), textCell(s.candidate.found ? decisionText(*scan, s.candidate.to) : QStringLiteral("–")),
                       s.reference.found ? numberCell(s.reference.relative) : emptyCell(), textCell(isTried ? QString() : QStringLiteral("not tried: %1").arg(qt(s.skipped)))}});
    }
  setRows(std::move(rows));
}

DecidedWithinModel::DecidedWithinModel(QObject* parent)
    : RowTableModel({QStringLiteral("Rank"), QStringLiteral("Sample"), QStringLiteral("FP32 margin"), QStringLiteral("Error bound"), QStringLiteral("Decided within it"), QStringLiteral("Flips")}, parent) {}

void DecidedWithinModel::setScan(const ScanPointer& scan) {
  std::vector<Row> rows;
  if (scan && scan->scan.near)
    for (const session::DecidedWithin& d : scan->scan.near->curve)
      rows.push_back({static_cast<int>(rows.size()), {countCell(static_cast<std::int64_t>(rows.size()) + 1), textCell(d.id), exactCell(d.margin), exactCell(d.bound), yesCell(d.withinError()), yesCell(d.flips)}});
  setRows(std::move(rows));
}

}  // namespace ulpscope::models
