// What is selected, one object for all views: {module, op site, sample, run}.
#pragma once

#include <QObject>
#include <QString>

#include <optional>

namespace ulpscope::models {

class Selection : public QObject {
  Q_OBJECT

 public:
  explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

  const std::optional<QString>& modulePath() const { return m_modulePath; }
  std::int64_t site() const { return m_site; }      // index into the run's sites; -1: none
  std::int64_t sample() const { return m_sample; }  // -1: none
  const QString& runId() const { return m_runId; }

  // sample -1 keeps the one selected. Nothing is emitted when nothing changes.
  void select(const QString& modulePath, std::int64_t site, std::int64_t sample);
  void selectSample(std::int64_t sample);
  // Keeps module and sample; site indices belong to a run, so the site goes.
  void setRun(const QString& runId);
  void clear();

 signals:
  void changed();

 private:
  std::optional<QString> m_modulePath;
  std::int64_t m_site = -1;
  std::int64_t m_sample = -1;
  QString m_runId;
};

}  // namespace ulpscope::models
