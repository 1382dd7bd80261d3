// The gallery with what belongs to it: the inputs' loader, which input is shown, and why there are no pictures.
#pragma once

#include "widgets/jobs/input_loader.h"
#include "widgets/models/gallery_model.h"

#include <QWidget>

class QComboBox;
class QLabel;

namespace ulpscope::views {

class GalleryView;

class GalleryPanel : public QWidget {
  Q_OBJECT

 public:
  explicit GalleryPanel(QWidget* parent = nullptr);
  // sessionPath: inputs that were moved are looked for beside it. nullptr: nothing.
  void setRun(const models::RunPointer& run, const QString& sessionPath);
  void setDecided(const models::DecidedPointer& decided);
  void setFilter(const models::DecisionFilter& filter);
  void setSelectedSample(std::int64_t sample);
  GalleryView* view() const { return m_view; }
  models::GalleryModel* model() { return &m_model; }
  QComboBox* inputChoice() const { return m_input; }
  QString note() const;  // one line; empty: the pictures are there

 signals:
  void sampleChosen(std::int64_t sample);

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void openInputs();
  void onOpened(const QStringList& inputs, int shownFirst);
  void onLoaded(const QString& input, const jobs::ThumbnailBatch& batch);
  void dropPictures();
  void setNote(const QString& text);

  models::GalleryModel m_model;
  jobs::InputLoader m_loader;
  GalleryView* m_view = nullptr;
  QComboBox* m_input = nullptr;
  QLabel* m_inputLabel = nullptr;
  QLabel* m_note = nullptr;
  models::RunPointer m_run;
  QString m_sessionPath;
  bool m_isOpen = false;
};

}  // namespace ulpscope::views
