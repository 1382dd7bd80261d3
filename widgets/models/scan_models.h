// A scan as tables: its points, one of them exactly, what happens along a segment, samples by their distance from the boundary.
#pragma once

#include "widgets/models/loaded_scan.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

// All points of a segment, by t, or of a plane, v by v. Texts are made when they are asked for: there may be 100,000.
class ScanPointsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit ScanPointsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setScan(const ScanPointer& scan);  // nullptr: no rows
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  const session::PairAtPoint& pointAt(int row) const;
  double placeAt(int row, int axis) const;  // t; or u (0) and v (1)

 private:
  struct Field {
    enum What { place, reference, candidate, differs, referenceMargin, candidateMargin, maxError, noiseError, referenceScore, candidateScore } what = place;
    std::size_t index = 0;  // axis, or class
    QString header;
    bool isText() const { return what == reference || what == candidate || what == differs; }
  };
  struct Value {
    double number = 0;
    QString text;  // not empty: this is no number
  };
  Value valueAt(const session::PairAtPoint& point, const Field& field) const;
  std::vector<Field> m_fields;
  ScanPointer m_scan;
};

// One point, exactly: decision, margin and scores of both runs and what differs; a column more for a scan that lies over it.
class ScanPointModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kWhat, kReference, kCandidate, kDifference, kOverlay, kColumnCount };
  explicit ScanPointModel(QObject* parent = nullptr);
  // overlay: of the other scan at the same place; nullptr: none, or it was not looked at there.
  void setPoint(const ScanPointer& scan, const session::PairAtPoint* point, const ScanPointer& overlay = nullptr, const session::PairAtPoint* overlaid = nullptr);
};

// What happens along a segment: crossings of each run, strips of disagreement, flicker, stretches without a decision and looked at more closely.
// Key of a row: t of its middle. kFromRole, kToRole: its extent.
class ScanEventsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kWhat, kFrom, kTo, kWidth, kDetail, kColumnCount };
  enum Role { kFromRole = kKeyRole + 1, kToRole };
  explicit ScanEventsModel(QObject* parent = nullptr);
  void setScan(const ScanPointer& scan);  // nullptr: no rows
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<session::Stretch> m_extents;
};

// Samples with the smallest step that flips each run. Key of a row: index into NearScan::samples.
class NearSamplesModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kSample, kDecision, kReferenceStep, kCandidateStep, kRatio, kReferenceTo, kCandidateTo, kRelative, kNote, kColumnCount };
  explicit NearSamplesModel(QObject* parent = nullptr);
  void setScan(const ScanPointer& scan);
};

// The whole set by margin: which samples are decided within the error. Key of a row: index into NearScan::curve.
class DecidedWithinModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kRank, kSample, kMargin, kBound, kWithin, kFlips, kColumnCount };
  explicit DecidedWithinModel(QObject* parent = nullptr);
  void setScan(const ScanPointer& scan);
};

}  // namespace ulpscope::models
