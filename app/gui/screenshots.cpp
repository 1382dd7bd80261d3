#include "screenshots.h"

#include "widgets/plots/theme.h"
#include "widgets/views/criteria_sheet.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/flips_panel.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/run_sheet.h"

#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QPushButton>
#include <QTabBar>
#include <QTimer>

#include <cstdio>

namespace ulpscope::gui {
namespace {

constexpr int kInputError = 3;
constexpr int kOpenLimitMs = 60000;
constexpr int kSettleMs = 700;  // loaders of the views, and their last painting
constexpr QSize kSize{1500, 980};

void settle(int ms) {
  QEventLoop loop;
  QTimer::singleShot(ms, &loop, &QEventLoop::quit);
  loop.exec();
}

// False: the window says why.
bool open(views::MainWindow& window, const QString& session) {
  QEventLoop loop;
  QObject::connect(&window.workbench(), &views::Workbench::sessionChanged, &loop, &QEventLoop::quit);
  QObject::connect(&window.workbench(), &views::Workbench::problem, &loop, &QEventLoop::quit);
  QTimer::singleShot(kOpenLimitMs, &loop, &QEventLoop::quit);
  window.openSession(session);
  loop.exec();
  return window.workbench().session() != nullptr;
}

class Camera {
 public:
  Camera(views::MainWindow& window, QString folder) : m_window(window), m_folder(std::move(folder)) {}
  void take(const QString& name) {
    settle(kSettleMs);
    m_good = m_window.grab().save(QDir(m_folder).filePath(name + QStringLiteral(".png"))) && m_good;
  }
  bool good() const { return m_good; }

 private:
  views::MainWindow& m_window;
  QString m_folder;
  bool m_good = true;
};

// Of a validation still to come, by way of the run sheet; of a revision where criteria are locked.
void takeCriteriaSheet(views::MainWindow& window, Camera& camera, const QString& theme) {
  if (window.workbench().session()->exploratory()) {
    window.showSession();
    window.validateThis();
    window.runSheet()->goOnButton()->click();  // does nothing where model or inputs are gone
  } else {
    window.reviseCriteria();
  }
  if (window.page() == window.criteriaSheet()) camera.take(theme + QStringLiteral("-criteria-sheet"));
  window.showSession();
}

void takeAll(views::MainWindow& window, Camera& camera, const QString& theme) {
  views::FindingsPanel* findings = window.findings();
  for (int tab = 0; tab < findings->count(); ++tab) {
    if (!findings->isTabVisible(tab)) continue;
    findings->setCurrentIndex(tab);
    camera.take(theme + u'-' + findings->tabText(tab).section(u' ', 0, 0).toLower());
  }
  findings->setCurrentIndex(views::FindingsPanel::kFlips);
  findings->flips()->showPage(views::FlipsPanel::kGallery);
  camera.take(theme + QStringLiteral("-gallery"));
  findings->flips()->showPage(views::FlipsPanel::kTable);
  QTabBar* looks = window.inspector()->tabBar();
  for (int tab = 0; tab < looks->count(); ++tab) {
    looks->setCurrentIndex(tab);
    camera.take(theme + QStringLiteral("-inspector-") + looks->tabText(tab).toLower());
  }
  looks->setCurrentIndex(0);
  if (window.workbench().runA() != nullptr) {
    for (const auto& [view, name] : {std::pair{views::RunView::a, QStringLiteral("-run-a")}, {views::RunView::difference, QStringLiteral("-difference")}}) {
      window.workbench().setView(view);
      camera.take(theme + name);
    }
    window.workbench().setView(views::RunView::b);
  }
  window.runWithOtherSettings();
  camera.take(theme + QStringLiteral("-run-sheet"));
  takeCriteriaSheet(window, camera, theme);
  window.showStart();
  camera.take(theme + QStringLiteral("-start"));
  window.showSession();
}

}  // namespace

int takeScreenshots(views::MainWindow& window, const ScreenshotOrder& order) {
  if (!QDir().mkpath(order.folder)) {
    std::fprintf(stderr, "ulpscope-gui: %s cannot be made; name another folder with --screenshot\n", qUtf8Printable(order.folder));
    return kInputError;
  }
  window.resize(kSize);
  window.show();
  if (!open(window, order.session)) {
    std::fprintf(stderr, "ulpscope-gui: %s\n", qUtf8Printable(window.problem().isEmpty() ? order.session + QStringLiteral(": was not read in time") : window.problem()));
    return kInputError;
  }
  auto* application = qobject_cast<QApplication*>(QCoreApplication::instance());
  Camera camera(window, order.folder);
  for (const auto& [choice, name] : {std::pair{plots::ThemeChoice::light, QStringLiteral("light")}, {plots::ThemeChoice::dark, QStringLiteral("dark")}}) {
    plots::applyTheme(*application, choice, order.systemPalette);
    takeAll(window, camera, name);
  }
  if (camera.good()) return 0;
  std::fprintf(stderr, "ulpscope-gui: %s: not every picture could be written\n", qUtf8Printable(order.folder));
  return kInputError;
}

}  // namespace ulpscope::gui
