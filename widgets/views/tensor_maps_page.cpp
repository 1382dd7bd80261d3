#include "widgets/views/tensor_maps_page.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/tensor_map_view.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSpinBox>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::qt;
using render::MapSide;

constexpr int kWorstHeight = 150;
constexpr int kBoxesARow = 2;

// The axis that tiles when asked to: the last of those longer than 1 that are neither rows nor columns.
int tileCandidate(const render::SliceChoice& choice, const render::Shape& shape) {
  if (choice.tileAxis >= 0) return choice.tileAxis;
  const std::vector<int> free = render::freeAxes(choice, shape);
  return choice.rowAxis >= 0 && !free.empty() ? free.back() : -1;
}

}  // namespace

TensorMapsPage::TensorMapsPage(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 4, 12, 8);
  layout->setSpacing(6);
  m_what = makeText({}, 1, false, this);
  m_what->setForegroundRole(QPalette::PlaceholderText);
  layout->addWidget(m_what);
  makeSliceRow();
  makeMaps();
  m_elementLine = makeText({}, 1, false, this);
  m_elementLine->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_elementLine->setAccessibleName(tr("Element"));
  m_elementLine->setMinimumHeight(2 * fontMetrics().lineSpacing());
  m_elementLine->setAlignment(Qt::AlignTop);
  layout->addWidget(m_elementLine);
  makeWorst();
}

void TensorMapsPage::makeSliceRow() {
  m_slice = makeText({}, 1, false, this);
  m_axisRow = new QWidget(this);
  auto* axes = new QHBoxLayout(m_axisRow);
  axes->setContentsMargins(0, 0, 0, 0);
  axes->setSpacing(6);
  m_rowAxis = makeAxisChoice(tr("Rows"));
  m_columnAxis = makeAxisChoice(tr("Columns"));
  connect(m_rowAxis, &QComboBox::currentIndexChanged, this, [this] { chooseAxes(true); });
  connect(m_columnAxis, &QComboBox::currentIndexChanged, this, [this] { chooseAxes(false); });
  m_tiling = new QCheckBox(this);
  m_axes = new QWidget(this);
  m_axesLayout = new QGridLayout(m_axes);
  m_axesLayout->setContentsMargins(0, 0, 0, 0);
  m_axesLayout->setSpacing(6);
  connect(m_tiling, &QCheckBox::toggled, this, &TensorMapsPage::chooseSlice);
  auto* layout = static_cast<QVBoxLayout*>(this->layout());
  for (QWidget* widget : std::initializer_list<QWidget*>{m_slice, m_axisRow, m_tiling, m_axes}) layout->addWidget(widget);
}

QComboBox* TensorMapsPage::makeAxisChoice(const QString& name) {
  auto* label = new QLabel(name, m_axisRow);
  auto* choice = new QComboBox(m_axisRow);
  choice->setAccessibleName(tr("Axis shown as %1").arg(name.toLower()));
  choice->setToolTip(tr("Which axis runs along the %1. Chosen for both, the two change places.").arg(name.toLower()));
  choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice->setMinimumContentsLength(6);
  label->setBuddy(choice);
  m_axisRow->layout()->addWidget(label);
  static_cast<QHBoxLayout*>(m_axisRow->layout())->addWidget(choice, 1);
  return choice;
}

void TensorMapsPage::makeMaps() {
  auto* grid = new QGridLayout;
  grid->setSpacing(8);
  for (const MapSide side : {MapSide::reference, MapSide::candidate, MapSide::difference}) {
    auto* map = new plots::TensorMapView(side, this);
    m_maps[static_cast<std::size_t>(side)] = map;
    connect(map, &plots::TensorMapView::elementChosen, this, &TensorMapsPage::elementChosen);
    connect(map, &plots::TensorMapView::elementHovered, this, [this](std::int64_t element) {
      for (plots::TensorMapView* each : m_maps) each->setHovered(element);
      showElementLine(element >= 0 ? element : m_element);
    });
  }
  grid->addWidget(m_maps[0], 0, 0);
  grid->addWidget(m_maps[1], 0, 1);
  grid->addWidget(m_maps[2], 1, 0, 1, 2);
  static_cast<QVBoxLayout*>(layout())->addLayout(grid, 3);
}

void TensorMapsPage::makeWorst() {
  m_worstTitle = makeText({}, 1, false, this);
  m_worstOrder = new QComboBox(this);
  m_worstOrder->addItems({tr("by difference"), tr("by ULP")});
  m_worstOrder->setAccessibleName(tr("Order of the worst elements"));
  m_worstTable = makeTable(this, &m_worst, tr("Worst elements"));
  m_worstTable->setMinimumHeight(kWorstHeight);
  stackColumns(m_worstTable, models::WorstModel::kReference, models::WorstModel::kCandidate);
  keepColumnsInSight(m_worstTable);
  auto* row = new QHBoxLayout;
  row->addWidget(m_worstTitle, 1);
  row->addWidget(m_worstOrder);
  auto* layout = static_cast<QVBoxLayout*>(this->layout());
  layout->addLayout(row);
  layout->addWidget(m_worstTable, 2);
  connect(m_worstOrder, &QComboBox::currentIndexChanged, this, &TensorMapsPage::showWorst);
  connect(m_worstTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (!m_isRefreshing && current.isValid()) emit elementChosen(current.data(models::RowTableModel::kKeyRole).toLongLong());
  });
}

void TensorMapsPage::setPicture(const models::TensorPicturePointer& picture) {
  const bool isOther = !picture || !m_picture || picture->look != m_picture->look;
  m_picture = picture;
  for (plots::TensorMapView* map : m_maps) map->setPicture(picture);
  if (!picture) return;
  m_what->setText(models::lookLine(*picture->look));
  showSlice();
  if (isOther) showWorst();
}

void TensorMapsPage::showSlice() {
  m_isRefreshing = true;
  const render::SliceChoice& choice = m_picture->slice.choice();
  const render::Shape& shape = m_picture->slice.shape();
  m_slice->setText(sliceText());
  m_slice->setVisible(!shape.empty());
  showAxisChoice();
  const int tile = tileCandidate(choice, shape);
  m_tiling->setVisible(tile >= 0);
  m_tiling->setText(tr("Tile axis %1 (%2 side by side)").arg(tile).arg(tile >= 0 ? shape[static_cast<std::size_t>(tile)] : 0));
  m_tiling->setChecked(choice.tileAxis >= 0);
  makeAxisBoxes(render::freeAxes(choice, shape));
  for (int i = 0; i < m_axisBoxes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(m_boxedAxes[static_cast<std::size_t>(i)]);
    m_axisBoxes[i]->setRange(0, static_cast<int>(std::min<std::int64_t>(shape[axis] - 1, std::numeric_limits<int>::max())));
    m_axisBoxes[i]->setValue(static_cast<int>(choice.fixed[axis]));
    m_axisBoxes[i]->setToolTip(tr("Index on axis %1, 0 to %2").arg(axis).arg(shape[axis] - 1));
  }
  m_isRefreshing = false;
}

// The sample's own axis holds its entries alone.
QString TensorMapsPage::axisName(int axis) const {
  const std::int64_t size = m_picture->slice.shape()[static_cast<std::size_t>(axis)];
  const bool isOfSamples = axis == m_picture->look->parts.reference.value.sampleAxis;
  return (isOfSamples ? tr("axis %1 (sample's %2)") : tr("axis %1 (%2)")).arg(axis).arg(qt(base::groupedInteger(size)));
}

void TensorMapsPage::showAxisChoice() {
  const std::vector<int> axes = render::longAxes(m_picture->slice.shape());
  m_axisRow->setVisible(axes.size() > 1 && m_picture->look->elementCount() > 0);
  for (const auto& [choice, shown] : {std::pair{m_rowAxis, m_picture->slice.choice().rowAxis}, std::pair{m_columnAxis, m_picture->slice.choice().columnAxis}}) {
    choice->clear();
    for (const int axis : axes) choice->addItem(axisName(axis), axis);
    choice->setCurrentIndex(choice->findData(shown));
  }
}

void TensorMapsPage::chooseAxes(bool rowsWereChosen) {
  if (m_isRefreshing || !m_picture) return;
  const render::SliceChoice& now = m_picture->slice.choice();
  int rows = m_rowAxis->currentData().toInt(), columns = m_columnAxis->currentData().toInt();
  if (rows == columns) (rowsWereChosen ? columns : rows) = rowsWereChosen ? now.rowAxis : now.columnAxis;
  emit sliceChosen(render::withAxes(now, m_picture->slice.shape(), rows, columns));
}

// Made anew only where other axes are free: a box that is being used stays.
void TensorMapsPage::makeAxisBoxes(const std::vector<int>& axes) {
  m_axes->setVisible(!axes.empty());
  if (axes == m_boxedAxes) return;
  m_boxedAxes = axes;
  qDeleteAll(m_axes->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
  m_axisBoxes.clear();
  for (const int axis : axes) {
    auto* label = new QLabel(tr("Axis %1").arg(axis), m_axes);
    auto* box = new QSpinBox(m_axes);
    box->setAccessibleName(tr("Index on axis %1").arg(axis));
    box->setKeyboardTracking(false);
    label->setBuddy(box);
    const int at = static_cast<int>(m_axisBoxes.size());
    m_axesLayout->addWidget(label, at / kBoxesARow, 2 * (at % kBoxesARow));
    m_axesLayout->addWidget(box, at / kBoxesARow, 2 * (at % kBoxesARow) + 1);
    m_axisBoxes << box;
    connect(box, &QSpinBox::valueChanged, this, &TensorMapsPage::chooseSlice);
  }
}

void TensorMapsPage::chooseSlice() {
  if (m_isRefreshing || !m_picture) return;
  render::SliceChoice choice = m_picture->slice.choice();
  for (int i = 0; i < m_axisBoxes.size(); ++i) choice.fixed[static_cast<std::size_t>(m_boxedAxes[static_cast<std::size_t>(i)])] = m_axisBoxes[i]->value();
  choice.tileAxis = m_tiling->isChecked() ? tileCandidate(choice, m_picture->slice.shape()) : -1;
  emit sliceChosen(choice);
}

void TensorMapsPage::showWorst() {
  m_isRefreshing = true;
  const models::TensorLookPointer look = m_picture ? m_picture->look : nullptr;
  m_worst.setLook(look, m_worstOrder->currentIndex() == 1 ? analysis::WorstBy::ulp : analysis::WorstBy::difference);
  fitColumns(m_worstTable);
  if (look) m_worstTitle->setText(tr("%1 of %2 differ").arg(qt(base::groupedInteger(look->byDifference.differing)), qt(base::groupedInteger(look->elementCount()))));
  m_isRefreshing = false;
  setElement(m_element);
}

void TensorMapsPage::setElement(std::int64_t element) {
  m_element = element;
  for (plots::TensorMapView* map : m_maps) map->setSelected(element);
  showElementLine(element);
  m_isRefreshing = true;
  const int row = m_worst.rowOfKey(static_cast<qlonglong>(element));
  if (row >= 0)
    m_worstTable->setCurrentIndex(m_worst.index(row, 0));
  else
    m_worstTable->setCurrentIndex({});
  m_isRefreshing = false;
}

void TensorMapsPage::showElementLine(std::int64_t element) { m_elementLine->setText(m_picture ? models::elementLine(*m_picture->look, element) : QString()); }

QString TensorMapsPage::elementText() const { return m_elementLine->text(); }

QString TensorMapsPage::sliceText() const {
  if (!m_picture) return {};
  render::SliceChoice stored = m_picture->slice.choice();
  const storage::TensorPart& part = m_picture->look->parts.reference.value;
  if (part.sampleAxis >= 0) {
    std::int64_t& at = stored.fixed[static_cast<std::size_t>(part.sampleAxis)];
    at = part.first + at * part.step;
  }
  const QString text = tr("Slice %1").arg(qt(render::sliceText(stored, m_picture->slice.shape())));
  return m_picture->slice.isFolded() ? tr("%1, folded into lines of %2").arg(text).arg(m_picture->slice.columns()) : text;
}

}  // namespace ulpscope::views
