// What the inspector shows of an op site's values: maps, histogram and precision ladder of one sample, or why there are none.
#pragma once

#include "widgets/jobs/tensor_loader.h"
#include "widgets/models/tensor_tables.h"
#include "widgets/views/workbench.h"

#include <QStackedWidget>
#include <QTimer>

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace ulpscope::plots {
class ExponentPlot;
}

namespace ulpscope::views {

class TensorMapsPage;

class TensorInspector : public QStackedWidget {
  Q_OBJECT

 public:
  enum Page { kMaps, kHistogram, kLadder };
  explicit TensorInspector(Workbench& workbench, QWidget* parent = nullptr);

  void showPage(Page page);
  // Reads what is selected when it is not what is shown; while hidden it waits for showPage().
  void refresh();

  const models::TensorPicturePointer& picture() const { return m_picture; }  // nullptr: nothing to show
  QString notice() const;  // why nothing is shown; empty: something is
  QPushButton* captureButton() const { return m_capture; }
  TensorMapsPage* maps() const { return m_maps; }
  plots::ExponentPlot* histogram() const { return m_histogram; }
  QTableView* histogramTable() const { return m_histogramTable; }
  QTableView* ladderTable() const { return m_ladderTable; }
  QComboBox* ladderSide() const { return m_ladderSide; }
  QString ladderBits() const;
  std::int64_t element() const { return m_element; }
  void selectElement(std::int64_t element);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makeNotice();
  QWidget* makeHistogram();
  QWidget* makeLadder();
  void load(const std::optional<render::SliceChoice>& slice);
  void letGo();
  void showPicture(const models::TensorPicturePointer& picture);
  void showNotice(const QString& text, bool canCapture);
  void refreshCapture();
  void showElement();
  void showLadder();
  void rememberRung(const QModelIndex& current);

  Workbench& m_workbench;
  jobs::TensorLoader m_loader;
  QTimer m_patience;  // what is shown stays for a moment, so that quick reads do not flicker
  Page m_page = kMaps;
  jobs::TensorRequest m_wanted;
  models::TensorPicturePointer m_picture;
  std::int64_t m_element = -1;
  models::ExponentModel m_exponents;
  models::LadderModel m_ladder;
  std::string m_ladderSession;  // whose choice m_rung is
  QString m_rung;               // the format of the ladder's current row
  QWidget* m_noticePage;
  QLabel* m_notice;
  QPushButton* m_capture;
  TensorMapsPage* m_maps;
  QWidget* m_mapsPage;
  QWidget* m_histogramPage;
  QLabel* m_histogramWhat;
  QLabel* m_histogramLegend;
  plots::ExponentPlot* m_histogram;
  QTableView* m_histogramTable;
  QWidget* m_ladderPage;
  QLabel* m_ladderTitle;
  QComboBox* m_ladderSide;
  QTableView* m_ladderTable;
  QLabel* m_bits;
};

}  // namespace ulpscope::views
