// The three maps of a look, the choice of its slice, and the elements that differ most.
#pragma once

#include "widgets/models/tensor_tables.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QSpinBox;
class QTableView;

namespace ulpscope::plots {
class TensorMapView;
}

namespace ulpscope::views {

class TensorMapsPage : public QWidget {
  Q_OBJECT

 public:
  explicit TensorMapsPage(QWidget* parent = nullptr);

  void setPicture(const models::TensorPicturePointer& picture);  // nullptr: empty
  void setElement(std::int64_t element);                         // the selected one; -1: none
  plots::TensorMapView* map(render::MapSide side) const { return m_maps[static_cast<std::size_t>(side)]; }
  QTableView* worstTable() const { return m_worstTable; }
  QComboBox* worstOrder() const { return m_worstOrder; }
  QComboBox* rowAxis() const { return m_rowAxis; }  // which axis the rows are; its data is the axis
  QComboBox* columnAxis() const { return m_columnAxis; }
  QCheckBox* tiling() const { return m_tiling; }
  QList<QSpinBox*> axisBoxes() const { return m_axisBoxes; }  // one a free axis, in order
  QString elementText() const;
  QString sliceText() const;

 signals:
  void elementChosen(std::int64_t element);
  void sliceChosen(const ulpscope::render::SliceChoice& choice);

 private:
  void makeSliceRow();
  QComboBox* makeAxisChoice(const QString& name);
  void showAxisChoice();
  QString axisName(int axis) const;
  void chooseAxes(bool rowsWereChosen);
  void makeMaps();
  void makeWorst();
  void showSlice();
  void makeAxisBoxes(const std::vector<int>& axes);
  void showElementLine(std::int64_t element);
  void chooseSlice();
  void showWorst();

  models::TensorPicturePointer m_picture;
  std::int64_t m_element = -1;
  std::array<plots::TensorMapView*, 3> m_maps{};
  models::WorstModel m_worst;
  QLabel* m_what;
  QLabel* m_slice;
  QWidget* m_axisRow;
  QComboBox* m_rowAxis;
  QComboBox* m_columnAxis;
  QCheckBox* m_tiling;
  QWidget* m_axes;
  QGridLayout* m_axesLayout;
  QList<QSpinBox*> m_axisBoxes;
  std::vector<int> m_boxedAxes;
  QLabel* m_elementLine;
  QLabel* m_worstTitle;
  QComboBox* m_worstOrder;
  QTableView* m_worstTable;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
