#include "widgets/views/tensor_inspector.h"

#include "widgets/models/site_model.h"
#include "widgets/models/text.h"
#include "widgets/plots/exponent_plot.h"
#include "widgets/plots/theme.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"
#include "widgets/views/tensor_maps_page.h"

#include <QComboBox>
#include <QFontDatabase>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

#include <cmath>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr int kPatienceMs = 150;
constexpr int kTableHeight = 130;
constexpr int kRungs = 5;
constexpr int kTableRoom = 14;  // of its borders and header's margins

QVBoxLayout* makeColumn(QWidget* page) {
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(12, 4, 12, 8);
  layout->setSpacing(6);
  return layout;
}

// For windows that are too low: the page keeps its size and scrolls.
QScrollArea* scrolled(QWidget* page, const QString& name) {
  auto* area = new QScrollArea;
  area->setWidget(page);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setAccessibleName(name);
  return area;
}

}  // namespace

TensorInspector::TensorInspector(Workbench& workbench, QWidget* parent) : QStackedWidget(parent), m_workbench(workbench) {
  m_noticePage = makeNotice();
  m_maps = new TensorMapsPage;
  m_mapsPage = scrolled(m_maps, tr("Tensor"));
  m_histogramPage = scrolled(makeHistogram(), tr("Histogram"));
  m_ladderPage = scrolled(makeLadder(), tr("Precision ladder"));
  for (QWidget* page : {m_noticePage, m_mapsPage, m_histogramPage, m_ladderPage}) addWidget(page);
  m_patience.setSingleShot(true);
  m_patience.setInterval(kPatienceMs);
  connect(&m_patience, &QTimer::timeout, this, [this] { showNotice(tr("Reading the stored values…"), false); });
  connect(&m_loader, &jobs::TensorLoader::loaded, this, &TensorInspector::showPicture);
  connect(&m_loader, &jobs::TensorLoader::failed, this, [this](const base::Error& error) {
    letGo();
    showNotice(qt(error.message()), false);
  });
  connect(m_maps, &TensorMapsPage::elementChosen, this, &TensorInspector::selectElement);
  connect(m_maps, &TensorMapsPage::sliceChosen, this, [this](const render::SliceChoice& choice) { load(choice); });
  connect(&workbench, &Workbench::viewChanged, this, &TensorInspector::refresh);
  connect(&workbench, &Workbench::runningChanged, this, [this] { refreshCapture(); });
  connect(&workbench.selection(), &models::Selection::changed, this, &TensorInspector::refresh);
}

QWidget* TensorInspector::makeNotice() {
  auto* page = new QWidget;
  m_notice = makeText({}, 1, false, page);
  m_notice->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_capture = new QPushButton(tr("Capture this module (re-run)"), page);
  connect(m_capture, &QPushButton::clicked, this, [this] {
    const models::RunPointer& run = m_workbench.shownRun();
    if (run && m_wanted.site >= 0) m_workbench.captureAndRerun(qt(run->run->sites[static_cast<std::size_t>(m_wanted.site)].modulePath));
  });
  QVBoxLayout* layout = makeColumn(page);
  layout->addWidget(m_notice);
  layout->addWidget(m_capture, 0, Qt::AlignLeft);
  layout->addStretch(1);
  return page;
}

void TensorInspector::refreshCapture() {
  const QString noRerun = m_workbench.whyNoRerun();
  m_capture->setEnabled(!m_workbench.isRunning() && noRerun.isEmpty());
  m_capture->setToolTip(noRerun.isEmpty() ? tr("Run again with the policy as it now stands, and store what the ops of this module return") : tr("%1, observe=\"full\"").arg(noRerun));
}

QWidget* TensorInspector::makeHistogram() {
  auto* page = new QWidget;
  m_histogramWhat = makeText({}, 1, false, page);
  m_histogramWhat->setForegroundRole(QPalette::PlaceholderText);
  m_histogramLegend = makeText({}, 1, false, page);
  m_histogram = new plots::ExponentPlot(page);
  m_histogramTable = makeTable(page, &m_exponents, tr("Exponents as a table"));
  m_histogramTable->setMinimumHeight(kTableHeight);
  QVBoxLayout* layout = makeColumn(page);
  layout->addWidget(m_histogramWhat);
  layout->addWidget(m_histogramLegend);
  layout->addWidget(m_histogram, 3);
  layout->addWidget(m_histogramTable, 2);
  return page;
}

QWidget* TensorInspector::makeLadder() {
  auto* page = new QWidget;
  m_ladderTitle = makeText({}, 1, false, page);
  m_ladderTitle->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_ladderSide = new QComboBox(page);
  m_ladderSide->addItems({tr("The value in FP32"), tr("The value in AMP")});
  m_ladderSide->setAccessibleName(tr("Whose value the ladder shows"));
  m_ladderTable = makeTable(page, &m_ladder, tr("Precision ladder"));
  stackColumns(m_ladderTable, models::LadderModel::kValue, models::LadderModel::kNote);
  stackColumns(m_ladderTable, models::LadderModel::kUlp, models::LadderModel::kError);
  m_ladderTable->setColumnHidden(models::LadderModel::kBits, true);  // they stand below, in a font for them
  keepColumnsInSight(m_ladderTable);
  m_ladderTable->setFixedHeight(kRungs * m_ladderTable->verticalHeader()->defaultSectionSize() + m_ladderTable->horizontalHeader()->sizeHint().height() + kTableRoom);
  connect(m_ladderTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TensorInspector::rememberRung);
  m_bits = makeText({}, 1, false, page);
  m_bits->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  m_bits->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_bits->setAccessibleName(tr("Bits"));
  QVBoxLayout* layout = makeColumn(page);
  for (QWidget* widget : std::initializer_list<QWidget*>{m_ladderTitle, m_ladderSide}) layout->addWidget(widget);
  layout->addWidget(m_ladderTable);
  layout->addWidget(m_bits);
  layout->addStretch(1);
  connect(m_ladderSide, &QComboBox::currentIndexChanged, this, &TensorInspector::showLadder);
  return page;
}

void TensorInspector::showPage(Page page) {
  m_page = page;
  if (m_picture && notice().isEmpty()) setCurrentWidget(page == kMaps ? m_mapsPage : page == kHistogram ? m_histogramPage : m_ladderPage);
  refresh();
}

void TensorInspector::showEvent(QShowEvent* event) {
  QStackedWidget::showEvent(event);
  refresh();
}

void TensorInspector::refresh() {
  if (!isVisible()) return;
  const models::RunPointer& run = m_workbench.shownRun();
  const auto& path = m_workbench.selection().modulePath();
  const std::int64_t site = run && path ? models::siteToShow(*run, m_workbench.selection()) : -1;
  const jobs::TensorRequest wanted{m_workbench.sessionPath(), run, site, run ? models::sampleToShow(*run, site, m_workbench.selection().sample()) : 0, {}};
  if (wanted.run == m_wanted.run && wanted.site == m_wanted.site && wanted.sample == m_wanted.sample) return;
  const bool isSameSite = wanted.run == m_wanted.run && wanted.site == m_wanted.site;
  m_wanted = wanted;
  const models::NothingStored nothing = run ? models::nothingStored(*run, site) : models::NothingStored{tr("Nothing selected."), false};
  if (nothing.why.isEmpty()) return load(isSameSite && m_picture ? std::optional(m_picture->slice.choice()) : std::nullopt);
  m_loader.cancel();
  m_patience.stop();
  letGo();
  showNotice(nothing.why, nothing.canCapture);
}

// A look can be large: nothing keeps one that is not shown.
void TensorInspector::letGo() {
  m_picture = nullptr;
  m_maps->setPicture(nullptr);
  m_histogram->setLook(nullptr);
  m_exponents.setLook(nullptr);
}

void TensorInspector::load(const std::optional<render::SliceChoice>& slice) {
  m_wanted.slice = slice;
  m_patience.start();
  m_loader.load(m_wanted);
}

void TensorInspector::showPicture(const models::TensorPicturePointer& picture) {
  m_patience.stop();
  const bool isOther = !m_picture || m_picture->look != picture->look;
  m_picture = picture;
  m_maps->setPicture(picture);
  if (isOther) {
    m_element = picture->look->mostTelling();
    m_exponents.setLook(picture->look);
    fitColumns(m_histogramTable);
    m_histogram->setLook(picture->look);
    m_histogramWhat->setText(models::lookLine(*picture->look));
    m_histogramLegend->setText(tr("■ FP32   □ AMP   ┊ %1 limits").arg(models::lowFormat(*picture->look->run->run)));
  }
  setCurrentWidget(m_page == kMaps ? m_mapsPage : m_page == kHistogram ? m_histogramPage : m_ladderPage);
  m_notice->clear();
  showElement();
}

void TensorInspector::showNotice(const QString& text, bool canCapture) {
  m_patience.stop();
  m_notice->setText(text);
  m_capture->setVisible(canCapture);
  refreshCapture();
  setCurrentWidget(m_noticePage);
}

QString TensorInspector::notice() const { return m_notice->text(); }
QString TensorInspector::ladderBits() const { return m_bits->text(); }

void TensorInspector::showElement() {
  m_maps->setElement(m_element);
  showLadder();
}

// An element outside of the slice that is shown takes the slice along.
void TensorInspector::selectElement(std::int64_t element) {
  if (!m_picture) return;
  m_element = element;
  showElement();
  if (element < 0 || m_picture->slice.placeOf(element)) return;
  render::SliceChoice choice = m_picture->slice.choice();
  choice.fixed = render::indexOf(element, m_picture->slice.shape());
  load(choice);
}

void TensorInspector::showLadder() {
  if (!m_picture || m_element < 0) {
    m_ladder.clear();
    m_bits->clear();
    m_ladderTitle->setText(tr("No element is selected."));
    m_histogram->setMarked(0);
    return;
  }
  const models::TensorLook& look = *m_picture->look;
  const analysis::ElementPair pair = render::pairAt(look.reference(), look.candidate(), m_element);
  // Each session begins at the format that it is about.
  if (const auto& session = *look.run->session; m_ladderSession != session.id) {
    m_ladderSession = session.id;
    m_rung = models::lowFormat(*look.run->run);
  }
  m_ladderTitle->setText(models::elementLine(look, m_element));
  const QString rung = m_rung;
  m_ladder.setValue(m_ladderSide->currentIndex() == 0 ? pair.reference : pair.candidate);
  m_ladderTable->setCurrentIndex(m_ladder.index(m_ladder.rowOfKey(rung), 0));
  m_histogram->setMarked(pair.reference);
  QStringList lines{tr("sign, exponent, mantissa")};
  for (int i = 0; i < m_ladder.rowCount(); ++i)
    lines << m_ladder.index(i, models::LadderModel::kFormat).data().toString() + QStringLiteral("  ") + m_ladder.index(i, models::LadderModel::kBits).data().toString();
  m_bits->setText(lines.join(u'\n'));
}

void TensorInspector::rememberRung(const QModelIndex& current) {
  if (current.isValid()) m_rung = current.data(models::RowTableModel::kKeyRole).toString();
}

}  // namespace ulpscope::views
