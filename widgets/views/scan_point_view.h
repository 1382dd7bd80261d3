// One point of a scan: its input as a picture, and every number of it in full.
#pragma once

#include "widgets/jobs/scan_inputs.h"
#include "widgets/models/scan_models.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace ulpscope::views {

class InputPicture;

class ScanPointView : public QWidget {
  Q_OBJECT

 public:
  explicit ScanPointView(QWidget* parent = nullptr);
  struct Shown {
    jobs::ScanPlace place;
    QString title;                            // "t 0.5, from a to b"
    const session::PairAtPoint* point = nullptr;  // of place.scan
    models::ScanPointer overlay = nullptr;
    const session::PairAtPoint* overlaid = nullptr;
    bool canBeAdded = true;
  };
  void setPoint(const Shown& shown);  // without a scan: nothing
  const Shown& shown() const { return m_shown; }
  QTableView* table() const { return m_table; }
  QPushButton* addButton() const { return m_add; }
  QComboBox* inputBox() const { return m_inputs; }
  QString title() const;
  QString caption() const;  // below the picture: its range, or why there is none
  bool hasPicture() const { return m_thumbnail != nullptr; }

 signals:
  void addRequested();
  void pictureShown();

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void ask();
  void showPicture(const jobs::PointPicture& picture);

  jobs::PointLoader m_loader;
  models::ScanPointModel m_model;
  Shown m_shown;
  models::ThumbnailPointer m_thumbnail;
  QLabel *m_title, *m_caption;
  QComboBox* m_inputs;
  InputPicture* m_picture;
  QTableView* m_table;
  QPushButton* m_add;
};

}  // namespace ulpscope::views
