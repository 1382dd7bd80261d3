// Which scans the Boundary tab shows, and the point of them that all its views share.
#include "core/base/number_text.h"
#include "core/render/plane_map.h"
#include "widgets/models/text.h"
#include "widgets/plots/boundary_plot.h"
#include "widgets/plots/near_plot.h"
#include "widgets/plots/plane_plot.h"
#include "widgets/plots/plot_legend.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/scan_point_view.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace ulpscope::views {
namespace {

using models::qt;

QString entryText(const session::ScanEntry& entry) { return QStringLiteral("%1: %2").arg(entry.number).arg(qt(entry.title)); }

}  // namespace

QString BoundaryPanel::headline() const { return m_headline->text(); }
QString BoundaryPanel::conditions() const { return m_conditions->text(); }
QString BoundaryPanel::warnings() const { return m_warnings->text(); }
QString BoundaryPanel::emptyText() const { return m_stack->currentWidget() == m_empty ? m_empty->text() : QString(); }
void BoundaryPanel::setWarning(const QString& text) { setLine(m_warnings, text); }

// The scan shown stays, where the session still is the one that has it; else its last is shown.
void BoundaryPanel::refreshSession() {
  const auto& session = m_workbench.session();
  const bool isSame = session && m_workbench.sessionPath() == m_shownPath;
  const int before = isSame ? m_shownNumber : 0;
  const auto isThere = [&](int number) { return session && std::any_of(session->scans.begin(), session->scans.end(), [number](const auto& scan) { return scan.number == number; }); };
  const bool isNew = isThere(m_wanted);
  const int wanted = isNew ? m_wanted : isThere(before) ? before : 0;
  {
    const QSignalBlocker blocker(m_scans);
    m_scans->clear();
    if (session)
      for (const session::ScanEntry& entry : session->scans) m_scans->addItem(entryText(entry), entry.number);
    m_scans->setCurrentIndex(wanted > 0 ? m_scans->findData(wanted) : m_scans->count() - 1);
  }
  m_stack->setCurrentWidget(m_scans->count() > 0 ? m_results : static_cast<QWidget*>(m_empty));
  if (wanted > 0 && wanted == before && !isNew) return fillOverlays(m_overlay ? m_overlay->scan.number : 0);
  if (!isSame) m_scan = m_overlay = nullptr;
  load();
}

void BoundaryPanel::fillOverlays(int number) {
  const QSignalBlocker blocker(m_overlays);
  m_overlays->clear();
  m_overlays->addItem(tr("no overlay"), 0);
  if (const auto& session = m_workbench.session())
    for (const session::ScanEntry& entry : session->scans)
      if (entry.number != m_shownNumber) m_overlays->addItem(tr("over it %1").arg(entryText(entry)), entry.number);
  m_overlays->setCurrentIndex(std::max(0, m_overlays->findData(number)));
  m_overlays->setEnabled(m_overlays->count() > 1);
}

// What was shown stays until the other is there: it may be the one that the other lies over.
void BoundaryPanel::load() {
  const int number = m_scans->currentData().toInt();
  m_shownNumber = number;
  m_shownPath = m_workbench.sessionPath();
  m_loader.drop();
  m_overlayLoader.drop();
  if (number == 0) {
    fillOverlays(0);
    return showScans(nullptr, nullptr);
  }
  m_loader.load(m_workbench.sessionPath(), m_workbench.session(), number);
}

void BoundaryPanel::onLoaded(const models::ScanPointer& scan) {
  const bool isNew = scan->scan.number == m_wanted;
  m_wanted = 0;
  // The same scan again with regions: it lies over the one without.
  if (isNew && m_scan && models::areComparable(m_scan->scan, scan->scan) && models::scanRegions(m_scan->scan) != models::scanRegions(scan->scan) && !models::scanRegions(scan->scan).isEmpty()) {
    m_shownNumber = m_scan->scan.number;
    const QSignalBlocker blocker(m_scans);
    m_scans->setCurrentIndex(m_scans->findData(m_shownNumber));
    fillOverlays(scan->scan.number);
    return showScans(m_scan, scan);
  }
  fillOverlays(0);
  showScans(scan, nullptr);
}

void BoundaryPanel::loadOverlay() {
  const int number = m_overlays->currentData().toInt();
  m_overlayLoader.drop();
  if (number == 0) return showScans(m_scan, nullptr);
  m_overlayLoader.load(m_workbench.sessionPath(), m_workbench.session(), number);
}

void BoundaryPanel::onOverlay(const models::ScanPointer& scan) {
  if (!m_scan) return;
  if (models::areComparable(m_scan->scan, scan->scan)) return showScans(m_scan, scan);
  fillOverlays(0);
  showScans(m_scan, nullptr);
  setWarning(tr("Scan %1 cannot lie over scan %2: it is of another kind, of other samples or of another decision.").arg(scan->scan.number).arg(m_scan->scan.number));
}

void BoundaryPanel::showScans(const models::ScanPointer& scan, const models::ScanPointer& overlay) {
  const bool isOther = scan != m_scan;
  m_scan = scan;
  m_overlay = overlay;
  m_segment->setScans(scan, overlay);
  m_plane->setScans(scan, overlay);
  m_near->setScan(scan);
  if (isOther) {
    m_isSelecting = true;
    m_points.setScan(scan);
    m_events.setScan(scan);
    m_samples.setScan(scan);
    m_set.setScan(scan);
    m_isSelecting = false;
    m_point = m_strip = -1;
    showPages();
  }
  showHeadline();
  showLegend();
  if (!isOther) return showPoint();
  if (scan && scan->scan.near)
    showSample(scan->scan.near->samples.empty() ? (scan->scan.near->curve.empty() ? QString() : qt(scan->scan.near->curve.front().id)) : qt(scan->scan.near->samples.front().id));
  else
    selectPoint(firstPoint());
  emit shown();
}

// Where there is most to see: the first strip, the first crossing, the middle; of a plane its first flip.
int BoundaryPanel::firstPoint() const {
  if (m_scan && m_scan->scan.plane) {
    const auto& points = m_scan->scan.plane->points;
    const auto flip = std::find_if(points.begin(), points.end(), [](const auto& point) { return point.differs(); });
    return flip == points.end() ? 0 : static_cast<int>(flip - points.begin());
  }
  if (!m_scan || m_scan->points.empty()) return -1;
  const session::SegmentScan& segment = *m_scan->scan.segment;
  double t = 0.5;
  if (!segment.disagreement.empty()) t = static_cast<double>(segment.disagreement.front().at.from);
  else if (!segment.referenceCrossings.empty()) t = static_cast<double>(segment.referenceCrossings.front().t);
  else if (!segment.candidateCrossings.empty()) t = static_cast<double>(segment.candidateCrossings.front().t);
  return static_cast<int>(render::nearestPoint(m_scan->points, t));
}

void BoundaryPanel::showPages() {
  const bool isSegment = m_scan && m_scan->scan.segment, isPlane = m_scan && m_scan->scan.plane, isNear = m_scan && m_scan->scan.near;
  m_plots->setCurrentWidget(isPlane ? static_cast<QWidget*>(m_plane) : isNear ? static_cast<QWidget*>(m_near) : m_segment);
  m_tools->setVisible(isSegment);
  const auto count = [](const char* name, const QAbstractItemModel& model) { return QStringLiteral("%1 (%2)").arg(tr(name), qt(base::groupedInteger(model.rowCount()))); };
  m_pages->setTabText(kEvents, count("Strips", m_events));
  m_pages->setTabText(kPoints, count("Points", m_points));
  m_pages->setTabText(kSamples, count("Samples", m_samples));
  m_pages->setTabText(kSet, count("Set", m_set));
  m_pages->setTabVisible(kEvents, isSegment);
  m_pages->setTabVisible(kPoints, isSegment || isPlane);
  m_pages->setTabVisible(kSamples, isNear);
  m_pages->setTabVisible(kSet, isNear);
  for (QTableView* table : {m_eventTable, m_sampleTable, m_setTable}) fitColumns(table);
  for (int column = 0; column < m_points.columnCount(); ++column) m_pointTable->setColumnWidth(column, m_pointTable->fontMetrics().averageCharWidth() * 15);
  m_nextStrip->setEnabled(isSegment && !m_scan->scan.segment->disagreement.empty());
}

void BoundaryPanel::showHeadline() {
  QStringList warnings;
  QString headline;
  if (m_scan) {
    headline = models::scanHeadline(*m_scan).join(QStringLiteral(".\n"));
    for (const std::string& warning : m_scan->scan.warnings) warnings << qt(warning);
  }
  if (m_scan && m_overlay) {
    const QString regions = models::scanRegions(m_overlay->scan);
    const QStringList over = models::scanHeadline(*m_overlay);
    headline += QStringLiteral(".\n") + tr("Overlay, %1: %2").arg(regions.isEmpty() ? tr("no FP32 regions") : regions, over.value(m_overlay->scan.segment ? 1 : 0, over.value(0)));
  }
  setLine(m_headline, headline);
  setLine(m_conditions, m_scan ? models::scanConditions(*m_scan) : tr("Reading the scan…"));
  setWarning(warnings.join(u'\n'));
}

void BoundaryPanel::showLegend() {
  if (m_legend == nullptr) return;
  m_legend->setEntries(m_plots->currentWidget() == m_plane ? m_plane->legend() : m_plots->currentWidget() == m_near ? m_near->legend() : m_segment->legend());
}

void BoundaryPanel::selectPoint(int row) {
  if (!m_scan || row < 0 || row >= m_points.rowCount()) return showPoint();
  m_point = row;
  m_scan->scan.plane ? m_plane->setCursor(row) : m_segment->setCursor(row);
  m_isSelecting = true;
  m_pointTable->setCurrentIndex(m_points.index(row, 0));
  m_isSelecting = false;
  showPoint();
}

const session::PairAtPoint* BoundaryPanel::overlaidAt(int row) const {
  if (!m_overlay || row < 0) return nullptr;
  if (m_scan->scan.plane) {
    const session::PlaneScan &own = *m_scan->scan.plane, &other = *m_overlay->scan.plane;
    const bool isSameGrid = own.side == other.side && own.lowest == other.lowest && own.highest == other.highest;
    return isSameGrid ? &other.points[static_cast<std::size_t>(row)] : nullptr;
  }
  if (m_overlay->points.empty()) return nullptr;
  const float t = m_scan->points[static_cast<std::size_t>(row)]->t;
  const session::ScanPoint& nearest = *m_overlay->points[render::nearestPoint(m_overlay->points, static_cast<double>(t))];
  return nearest.t == t ? &nearest.at : nullptr;
}

void BoundaryPanel::showPoint() {
  ScanPointView::Shown shown;
  if (m_scan && m_point >= 0 && !m_scan->scan.near) {
    const auto& ids = m_scan->scan.sampleIds;
    shown.place = {m_scan, jobs::inputSource(*m_scan->session, m_scan->scan.settings, m_workbench.sessionPath()), {m_points.placeAt(m_point, 0)}};
    shown.title = tr("t %1, from %2 to %3: %4").arg(models::timeText(m_points.placeAt(m_point, 0)), qt(ids.at(0)), qt(ids.at(1)), models::verdictText(*m_scan, m_points.pointAt(m_point)));
    if (m_scan->scan.plane) {
      shown.place.coefficients.push_back(m_points.placeAt(m_point, 1));
      shown.title = tr("u %1, v %2: %3").arg(models::timeText(m_points.placeAt(m_point, 0)), models::timeText(m_points.placeAt(m_point, 1)), models::verdictText(*m_scan, m_points.pointAt(m_point)));
    }
    shown.point = &m_points.pointAt(m_point);
    shown.overlay = m_overlay;
    shown.overlaid = overlaidAt(m_point);
  }
  m_pointView->setPoint(shown);
}

void BoundaryPanel::showSample(const QString& id) {
  if (!m_scan || !m_scan->scan.near || id.isEmpty()) return showPoint();
  m_near->setSelected(id);
  m_isSelecting = true;
  const auto select = [&](QTableView* table, int column) {
    const QAbstractItemModel& model = *table->model();
    const QModelIndexList found = model.match(model.index(0, column), Qt::DisplayRole, id, 1, Qt::MatchExactly);
    found.isEmpty() ? table->selectionModel()->clear() : table->setCurrentIndex(found.front());
  };
  select(m_sampleTable, models::NearSamplesModel::kSample);
  select(m_setTable, models::DecidedWithinModel::kSample);
  m_isSelecting = false;
  ScanPointView::Shown shown;
  shown.place = {m_scan, jobs::inputSource(*m_scan->session, m_scan->scan.settings, m_workbench.sessionPath()), {}, id};
  shown.title = m_near->tooltipOf(id);
  shown.canBeAdded = false;
  for (const session::NearSample& sample : m_scan->scan.near->samples)
    if (qt(sample.id) == id) shown.point = &sample.at;
  m_pointView->setPoint(shown);
}

void BoundaryPanel::nextStrip() {
  if (!m_scan || !m_scan->scan.segment || m_scan->scan.segment->disagreement.empty()) return;
  const auto& strips = m_scan->scan.segment->disagreement;
  m_strip = (m_strip + 1) % static_cast<int>(strips.size());
  const session::Stretch& at = strips[static_cast<std::size_t>(m_strip)].at;
  m_segment->showStretch(at);
  selectPoint(static_cast<int>(render::nearestPoint(m_scan->points, (static_cast<double>(at.from) + static_cast<double>(at.to)) / 2)));
}

}  // namespace ulpscope::views
