// Samples as tiles: what became of the decision, and a picture of the input once it is there. Key of a row: the sample's index.
#pragma once

#include "core/render/thumbnail.h"
#include "widgets/models/sample_outcome.h"

#include <QAbstractListModel>

#include <memory>
#include <unordered_map>

namespace ulpscope::models {

using ThumbnailPointer = std::shared_ptr<const render::Thumbnail>;

class GalleryModel : public QAbstractListModel {
  Q_OBJECT

 public:
  // Qt::DisplayRole: the sample's id. kDecisionRole: "cat → emu" of a flip, "cat" of what did not flip, where it is known. kLabelRole: "label: cat".
  enum Role { kKeyRole = Qt::UserRole + 1, kOutcomeRole, kThumbnailRole, kDecisionRole, kMarginRole, kIsSelectedRole, kLabelRole };

  explicit GalleryModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}
  void setRun(const RunPointer& run);
  void setDecided(const DecidedPointer& decided);  // of the run; null: not known
  bool hasLabels() const { return m_run && !m_run->session->samples.labels.empty(); }
  void setFilter(const DecisionFilter& filter);
  void setSelectedSample(std::int64_t sample);  // marked; -1: none
  void setThumbnail(std::int64_t sample, ThumbnailPointer thumbnail);
  void clearThumbnails();
  bool hasThumbnail(std::int64_t sample) const { return m_thumbnails.count(sample) > 0; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  int rowOfSample(std::int64_t sample) const;  // -1: not shown

 private:
  void refresh();
  void emitChanged(std::int64_t sample);
  QString decisionText(std::int64_t sample) const;
  QString marginText(std::int64_t sample) const;
  QString description(std::int64_t sample) const;

  RunPointer m_run;
  DecidedPointer m_decided;
  DecisionFilter m_filter;
  std::vector<SampleOutcome> m_outcomes;
  std::vector<std::int64_t> m_samples;  // by row
  std::unordered_map<std::int64_t, int> m_rows;
  std::unordered_map<std::int64_t, ThumbnailPointer> m_thumbnails;
  std::int64_t m_selected = -1;
};

}  // namespace ulpscope::models

Q_DECLARE_METATYPE(ulpscope::models::ThumbnailPointer)
