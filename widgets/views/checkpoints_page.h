// A training's checkpoints, resumes and rollback as a table, and what can be done with one: go on from a checkpoint, compare FP32 and autocast
// at it, replay the case that made the training go back.
#pragma once

#include "widgets/models/training_timeline.h"

#include <QWidget>

class QAction;
class QPushButton;
class QTableView;

namespace ulpscope::views {

class CheckpointsPage : public QWidget {
  Q_OBJECT

 public:
  explicit CheckpointsPage(QWidget* parent = nullptr);
  // folder: where the training's checkpoints lie.
  void setTraining(const models::TrainingPointer& training, const QString& folder);
  void setBusy(bool busy);  // a run goes on: nothing can be begun
  int count() const;
  QTableView* table() const { return m_table; }
  QPushButton* resumeButton() const { return m_resume; }
  QPushButton* compareButton() const { return m_compare; }
  QPushButton* replayButton() const { return m_replay; }

 signals:
  void resumeRequested(const QString& checkpointFile, std::int64_t step);  // paths; steps that it has done
  void compareRequested(const QString& checkpointFile);
  void replayRequested(const QString& caseFile);

 private:
  // What can be done with a row whose action is `needs`; it stands as a button and in the context menu.
  struct Deed {
    QPushButton* button;
    QAction* entry;
    models::CheckpointsModel::Action needs;
    QString meaning;
  };
  QPushButton* addDeed(const QString& text, models::CheckpointsModel::Action needs, const QString& meaning, void (CheckpointsPage::*act)());
  void refresh();
  QString whyNot(models::CheckpointsModel::Action needs) const;  // empty: it can be done with the current row
  QString currentFile() const;
  void resume();
  void compare();
  void replay();

  models::CheckpointsModel m_model;
  QString m_folder, m_notOurs;  // m_notOurs: why nothing can be trained again; empty: it can
  bool m_isBusy = false;
  QTableView* m_table;
  QList<Deed> m_deeds;
  QPushButton *m_resume = nullptr, *m_compare = nullptr, *m_replay = nullptr;
};

}  // namespace ulpscope::views
