#include "widgets/models/gallery_model.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

namespace ulpscope::models {

void GalleryModel::setRun(const RunPointer& run) {
  m_run = run;
  m_decided.reset();
  m_outcomes = run ? sampleOutcomes(*run) : std::vector<SampleOutcome>();
  refresh();
}

void GalleryModel::setDecided(const DecidedPointer& decided) {
  m_decided = decided;
  if (!m_samples.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

void GalleryModel::setFilter(const DecisionFilter& filter) {
  if (m_filter.all == filter.all && m_filter.marginBelow == filter.marginBelow) return;
  m_filter = filter;
  refresh();
}

void GalleryModel::refresh() {
  beginResetModel();
  m_samples = m_run ? samplesToShow(*m_run, m_filter) : std::vector<std::int64_t>();
  m_rows.clear();
  for (std::size_t i = 0; i < m_samples.size(); ++i) m_rows.emplace(m_samples[i], static_cast<int>(i));
  endResetModel();
}

void GalleryModel::setSelectedSample(std::int64_t sample) {
  if (m_selected == sample) return;
  const std::int64_t before = m_selected;
  m_selected = sample;
  emitChanged(before);
  emitChanged(sample);
}

void GalleryModel::setThumbnail(std::int64_t sample, ThumbnailPointer thumbnail) {
  m_thumbnails[sample] = std::move(thumbnail);
  emitChanged(sample);
}

void GalleryModel::clearThumbnails() {
  m_thumbnails.clear();
  if (!m_samples.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

void GalleryModel::emitChanged(std::int64_t sample) {
  const int row = rowOfSample(sample);
  if (row >= 0) emit dataChanged(index(row), index(row));
}

int GalleryModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_samples.size()); }

int GalleryModel::rowOfSample(std::int64_t sample) const {
  const auto found = m_rows.find(sample);
  return found == m_rows.end() ? -1 : found->second;
}

QVariant GalleryModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const std::int64_t sample = m_samples[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole: return sampleId(*m_run->session, sample);
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole: return description(sample);
    case kKeyRole: return static_cast<qlonglong>(sample);
    case kOutcomeRole: return static_cast<int>(m_outcomes[static_cast<std::size_t>(sample)].outcome);
    case kDecisionRole: return decisionText(sample);
    case kLabelRole: {
      const QString label = labelName(*m_run, sample);
      return label.isEmpty() ? label : QStringLiteral("label: ") + label;
    }
    case kMarginRole: return marginText(sample);
    case kIsSelectedRole: return sample == m_selected;
    case kThumbnailRole: {
      const auto found = m_thumbnails.find(sample);
      return found == m_thumbnails.end() ? QVariant() : QVariant::fromValue(found->second);
    }
    default: return {};
  }
}

QString GalleryModel::decisionText(std::int64_t sample) const {
  const SampleOutcome& outcome = m_outcomes[static_cast<std::size_t>(sample)];
  if (outcome.flip) return referenceDecision(*m_run, *outcome.flip) + QStringLiteral(" → ") + candidateDecision(*m_run, *outcome.flip);
  return outcome.outcome == Outcome::same ? decidedName(*m_run, m_decided, sample) : QString();
}

QString GalleryModel::marginText(std::int64_t sample) const {
  if (m_run->run->settings.decision.errorsToFlip() == 0) return {};
  return QStringLiteral("margin %1").arg(qt(base::shortNumber(m_run->run->decisions[static_cast<std::size_t>(sample)].referenceMargin)));
}

QString GalleryModel::description(std::int64_t sample) const {
  QStringList parts{QStringLiteral("sample %1: %2").arg(sampleId(*m_run->session, sample), name(m_outcomes[static_cast<std::size_t>(sample)].outcome))};
  if (const QString decision = decisionText(sample); !decision.isEmpty())
    parts << (m_outcomes[static_cast<std::size_t>(sample)].flip ? QStringLiteral("FP32 → %1: %2") : QStringLiteral("FP32 and %1: %2")).arg(lowName(*m_run->run), decision);
  if (const QString label = labelName(*m_run, sample); !label.isEmpty()) parts << QStringLiteral("label %1").arg(label);
  if (const QString margin = marginText(sample); !margin.isEmpty())
    parts << QStringLiteral("FP32 %1, %2 %3").arg(margin, lowName(*m_run->run), qt(base::shortNumber(m_run->run->decisions[static_cast<std::size_t>(sample)].candidateMargin)));
  if (const auto found = m_thumbnails.find(sample); found != m_thumbnails.end()) parts << QStringLiteral("input %1").arg(qt(found->second->caption));
  return parts.join(u'\n');
}

}  // namespace ulpscope::models
