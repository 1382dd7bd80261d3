#include "widgets/views/scan_point_view.h"

#include "widgets/models/text.h"
#include "widgets/plots/thumbnail_paint.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {

// A square.
class InputPicture : public QWidget {
 public:
  explicit InputPicture(QWidget* parent) : QWidget(parent) {
    setAccessibleName(ScanPointView::tr("Input at this point"));
    const int side = 7 * fontMetrics().height();
    setMinimumSize(side, side);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
  }
  void setThumbnail(const models::ThumbnailPointer& thumbnail) {
    m_thumbnail = thumbnail;
    update();
  }
  QSize sizeHint() const override { return minimumSize() * 1.5; }
  int side() const { return std::min(width(), height()); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const QRect area(0, 0, side(), side());
    plots::paintThumbnail(painter, area, m_thumbnail, plots::themeOf(this));
    painter.setPen(plots::themeOf(this).line);
    painter.drawRect(area.adjusted(0, 0, -1, -1));
  }

 private:
  models::ThumbnailPointer m_thumbnail;
};

ScanPointView::ScanPointView(QWidget* parent)
    : QWidget(parent), m_title(makeLine(this)), m_caption(makeLine(this)), m_inputs(new QComboBox(this)), m_picture(new InputPicture(this)), m_add(new QPushButton(tr("Add this point as boundary input…"), this)) {
  m_table = makeTable(this, &m_model, tr("The point in full"));
  keepColumnsInSight(m_table);
  m_inputs->setAccessibleName(tr("Input shown"));
  m_add->setToolTip(tr("Writes a new inputs file: this set and the point as one more sample of kind boundary, for a new session. This session stays as it is"));
  auto* left = new QVBoxLayout;
  left->setSpacing(3);
  left->addWidget(m_inputs);
  left->addWidget(m_picture, 1);
  left->addWidget(m_caption);
  auto* right = new QVBoxLayout;
  right->setSpacing(3);
  right->addWidget(m_title);
  right->addWidget(m_table, 1);
  right->addWidget(m_add, 0, Qt::AlignRight);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(4, 4, 0, 0);
  layout->addLayout(left, 1);
  layout->addLayout(right, 3);
  connect(m_add, &QPushButton::clicked, this, &ScanPointView::addRequested);
  connect(m_inputs, &QComboBox::currentIndexChanged, this, &ScanPointView::ask);
  connect(&m_loader, &jobs::PointLoader::loaded, this, &ScanPointView::showPicture);
  setPoint({});
}

QString ScanPointView::title() const { return m_title->text(); }
QString ScanPointView::caption() const { return m_caption->text(); }

void ScanPointView::setPoint(const Shown& shown) {
  const bool isOther = shown.place.scan != m_shown.place.scan;
  m_shown = shown;
  m_model.setPoint(shown.place.scan, shown.point, shown.overlay, shown.overlaid);
  m_table->setColumnHidden(models::ScanPointModel::kOverlay, shown.overlay == nullptr);
  m_table->setVisible(shown.point != nullptr);
  fitColumns(m_table);
  m_title->setText(shown.title);
  m_add->setVisible(shown.canBeAdded);
  m_add->setEnabled(shown.place.scan != nullptr);
  if (isOther) {
    const QSignalBlocker blocker(m_inputs);
    m_inputs->clear();
    m_inputs->hide();
    m_thumbnail.reset();
    m_picture->setThumbnail(nullptr);
    m_caption->clear();
  }
  if (!shown.place.scan) m_loader.drop();
  else if (isVisible()) ask();
}

void ScanPointView::ask() {
  if (!m_shown.place.scan) return;
  const int side = static_cast<int>(m_picture->side() * devicePixelRatioF());
  m_loader.load({m_shown.place, m_inputs->currentText(), {side, side}, plots::themeOf(this).forRender()});
}

void ScanPointView::showPicture(const jobs::PointPicture& picture) {
  {
    const QSignalBlocker blocker(m_inputs);
    if (m_inputs->count() != picture.inputs.size()) {
      m_inputs->clear();
      m_inputs->addItems(picture.inputs);
    }
    m_inputs->setCurrentText(picture.input);
  }
  m_inputs->setVisible(picture.inputs.size() > 1);
  m_thumbnail = picture.thumbnail;
  m_picture->setThumbnail(m_thumbnail);
  m_caption->setText(m_thumbnail ? models::qt(m_thumbnail->caption) : picture.problem);
  m_picture->setAccessibleDescription(m_caption->text());
  emit pictureShown();
}

void ScanPointView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  ask();
}

void ScanPointView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && isVisible()) ask();
}

}  // namespace ulpscope::views
