#include "widgets/views/dock_layout.h"

#include <QDockWidget>
#include <QMainWindow>
#include <QTabBar>

#include <algorithm>
#include <array>
#include <utility>

namespace ulpscope::views {
namespace {

constexpr int kNarrowLines = 82;  // times the height of a line: 1230 px in a usual font
constexpr int kModulesWidth = 378;
constexpr int kInspectorWidth = 325;
constexpr int kFindingsHeight = 324;
constexpr std::array kAreas{Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea, Qt::BottomDockWidgetArea};

}  // namespace

DockLayout::DockLayout(QMainWindow* window, QWidget* middle) : QObject(window), m_window(window), m_middle(middle) {
  window->setDockOptions(QMainWindow::AnimatedDocks);
  window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
}

void DockLayout::add(const QString& name, const QString& title, QWidget* widget) {
  auto* dock = new QDockWidget(title, m_window);
  dock->setObjectName(name);
  dock->setWidget(widget);
  dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable);
  m_window->addDockWidget(kAreas[static_cast<std::size_t>(m_docks.size())], dock);
  m_docks << dock;
}

// In fewer than kNarrowLines there is no room for three columns: the inspector stands behind the modules, as a tab.
void DockLayout::fitToWidth() {
  const bool isNarrow = m_window->width() < kNarrowLines * m_window->fontMetrics().height();
  if (isNarrow == m_isNarrow || m_docks.size() < 2) return;
  m_isNarrow = isNarrow;
  const bool isShown = !m_docks[kInspector]->isHidden();
  if (isNarrow)
    m_window->tabifyDockWidget(m_docks[kModules], m_docks[kInspector]);
  else
    m_window->addDockWidget(Qt::RightDockWidgetArea, m_docks[kInspector]);
  m_docks[kInspector]->setVisible(isShown);
  for (QTabBar* tabs : m_window->findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) tabs->setAccessibleName(tr("Modules and inspector"));
  if (isNarrow) m_docks[kModules]->raise();
}

void DockLayout::reset(bool isShown) {
  for (qsizetype i = 0; i < m_docks.size(); ++i) {
    m_window->addDockWidget(kAreas[static_cast<std::size_t>(i)], m_docks[i]);
    m_docks[i]->hide();  // three columns side by side, be it for a moment, would widen a small window
  }
  m_isNarrow = false;
  fitToWidth();
  m_docks[kModules]->setVisible(isShown && m_hasModules);
  m_hadInspector = isShown && m_hasRuns;
  m_docks[kInspector]->setVisible(m_hadInspector && isMiddleShown());
  m_docks[kFindings]->setVisible(isShown);
  if (m_isNarrow) m_docks[kModules]->raise();
  m_findingsHeight = std::min(kFindingsHeight, m_window->height() * 9 / 20);
  m_window->resizeDocks({m_docks[kModules], m_docks[kInspector]}, {std::min(kModulesWidth, m_window->width() * 27 / 100), std::min(kInspectorWidth, m_window->width() * 23 / 100)}, Qt::Horizontal);
  if (isMiddleShown()) m_window->resizeDocks({m_docks[kFindings]}, {m_findingsHeight}, Qt::Vertical);
}

// What is hidden for want of content is no wish of the user's.
void DockLayout::remember() {
  if (isUsual() && !m_docks[kFindings]->isHidden()) m_usualState = m_window->saveState(kStateVersion);
}

void DockLayout::fitToContent(bool hasModules, bool hasRuns) {
  remember();
  const bool hadModules = std::exchange(m_hasModules, hasModules), hadRuns = std::exchange(m_hasRuns, hasRuns);
  if (!hasModules || !hadModules) m_docks[kModules]->setVisible(hasModules);
  if (!hasRuns) m_docks[kInspector]->hide();
  if (hasRuns && !hadRuns) reset(true);
}

void DockLayout::hideAll() {
  showMiddle(true);
  for (QDockWidget* dock : m_docks) dock->hide();
}

bool DockLayout::isMiddleShown() const { return !m_middle->isHidden(); }

void DockLayout::showMiddle(bool isShown) {
  if (isShown == isMiddleShown()) return;
  if (!isShown) {
    remember();
    m_findingsHeight = m_docks[kFindings]->height();
    m_hadInspector = !m_docks[kInspector]->isHidden();
  }
  m_docks[kInspector]->setVisible(isShown && m_hadInspector && m_hasRuns);
  m_middle->setVisible(isShown);
  m_window->centralWidget()->setSizePolicy(QSizePolicy::Preferred, isShown ? QSizePolicy::Preferred : QSizePolicy::Maximum);
  if (isShown) m_window->resizeDocks({m_docks[kFindings]}, {m_findingsHeight}, Qt::Vertical);
}

QByteArray DockLayout::state() const { return isUsual() ? m_window->saveState(kStateVersion) : m_usualState; }

bool DockLayout::restore(const QByteArray& state) { return m_window->restoreState(state, kStateVersion); }

}  // namespace ulpscope::views
