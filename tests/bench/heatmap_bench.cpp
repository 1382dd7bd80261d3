// What a frame of the heatmap costs the window: 10,000 rows x 1,000 samples in the whole panel (map, profile, colour bar), offscreen.
//
// An event as the user's is sent, then everything that it asked to be painted is painted; the CPU time of the GUI's thread from one to
// the other is a frame (on a machine that others use, wall time measures them; it is printed too). The same again at pixel ratio 2.
// The bar is 16 ms at the 99th percentile.
#include "core/storage/session_store.h"
#include "tests/bench/bench_support.h"
#include "tests/bench/peak_memory.h"
#include "tests/support/scratch_folder.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/plots/theme.h"
#include "widgets/views/heatmap_panel.h"

#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

namespace {

using namespace ulpscope;
using plots::HeatmapView;

constexpr int kRows = 10'000, kSamples = 1'000, kFrames = 200;
constexpr double kBarMs = 16;
constexpr QSize kPanelSize(1250, 760);  // the middle of a 1920 x 1080 window

session::Session makeSession() {
  session::Session session = storage::newSession("bench");
  for (int i = 0; i < kSamples; ++i) session.samples.ids.push_back("sample" + std::to_string(i));
  session.model.modules.push_back({"", "Net", {}, 0});
  for (int i = 0; i < kRows; ++i) session.model.modules.push_back({fmt::format("encoder.layers.{}.fc{}", i / 2, 1 + i % 2), "Linear", {}, 100});
  return session;
}

session::RunRecord makeRun(const session::Session& session) {
  session::RunRecord run;
  run.samplesComplete = kSamples;
  for (int i = 0; i < kRows; ++i) {
    session::SiteSummary site;
    site.modulePath = session.model.modules[static_cast<std::size_t>(i) + 1].path;
    site.op = "aten::linear";
    site.values[session::Metric::relL2] = 1e-3;
    site.role = i % 1000 == 617 ? session::NonfiniteRole::origin : i % 1000 > 617 ? session::NonfiniteRole::consequence : session::NonfiniteRole::none;
    run.sites.push_back(site);
  }
  run.decisions.resize(kSamples, {0.5, 0.5, 0});
  return run;
}

// Errors that grow with the depth, samples that are worse than others, NaN and infinities in three of a thousand.
storage::RunMetrics makeMetrics() {
  std::mt19937 random(7);
  std::normal_distribution<float> noise(0, 1);
  storage::RunMetrics metrics;
  std::vector<float> cells(std::size_t{kRows} * kSamples);
  metrics.flags.assign(cells.size(), 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto row = static_cast<float>(i / kSamples), sample = static_cast<float>(i % kSamples);
    cells[i] = std::pow(10.F, -5 + 3 * row / kRows + std::sin(sample / 9) / 2 + 0.3F * noise(random));
    const auto draw = random() % 1000;
    if (draw > 2) continue;
    cells[i] = std::numeric_limits<float>::quiet_NaN();
    metrics.flags[i] = draw == 0 ? storage::kCellNan : draw == 1 ? storage::kCellPlusInf : storage::kCellMinusInf;
  }
  metrics[session::Metric::relL2] = metrics[session::Metric::maxAbs] = {kRows, kSamples, cells};
  return metrics;
}

double cpuNowMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

class Bench {
 public:
  explicit Bench(const QString& session) : m_workbench(QString()), m_panel(m_workbench) {
    m_panel.resize(kPanelSize);
    m_panel.show();
    m_workbench.openSession(session);
    while (!m_workbench.runB()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    paint();
  }

  void measureAll() {
    const auto at = [this] { return QPointF(view().plotRect().left() + randomUpTo(view().plotRect().width()), view().plotRect().top() + randomUpTo(view().plotRect().height())); };
    measure("hover, whole map", [&] { move(at(), Qt::NoButton); });
    measure("zoom", [&] { wheel(at(), randomUpTo(100) < 50 ? 120 : -120); });
    view().showAll();
    measure("pan", [&, zoom = 0]() mutable { panStep(zoom++); });
    view().showAll();
    QComboBox* colours = combo("Colours");
    measure("recolour", [&] { colours->setCurrentIndex(1 - colours->currentIndex()); });
    QComboBox* scale = combo("Scale");
    measure("another scale", [&] { scale->setCurrentIndex(1 - scale->currentIndex()); });
    measure("select a cell", [&] { click(at()); });
    zoomIn(12);
    measure("hover, zoomed in", [&] { move(at(), Qt::NoButton); });
    measure("cursor key", [&] { key(Qt::Key_Right); });
    view().showAll();
    measureOthers();
    fmt::print(R"(RESULT {{"bench":"heatmap","what":"peak memory of the process","unit":"MB","value":{:.0f}}})" "\n", bench::memoryMb("VmHWM"));
  }

 private:
  // Without a bar: what happens at a choice, not while a hand moves.
  void measureOthers() {
    QComboBox* metric = combo("Metric");
    measure("another metric", [&] { metric->setCurrentIndex(1 - metric->currentIndex()); }, 20, 0);
    QComboBox* order = combo("Order of samples");
    measure("another order of samples", [&, i = 0]() mutable { order->setCurrentIndex(i++ % 5); }, 20, 0);
  }

  HeatmapView& view() { return *m_panel.heatmap(); }
  double randomUpTo(int end) { return std::uniform_real_distribution<double>(0, end)(m_random); }
  QComboBox* combo(const char* name) {
    for (QComboBox* combo : m_panel.findChildren<QComboBox*>())
      if (combo->accessibleName() == QLatin1String(name)) return combo;
    return nullptr;
  }

  static void paint() {
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
  }
  void move(QPointF at, Qt::MouseButton button) {
    QMouseEvent event(QEvent::MouseMove, at, view().mapToGlobal(at), Qt::NoButton, button, {});
    QCoreApplication::sendEvent(&view(), &event);
  }
  void press(QEvent::Type type, QPointF at) {
    QMouseEvent event(type, at, view().mapToGlobal(at), Qt::LeftButton, type == QEvent::MouseButtonPress ? Qt::LeftButton : Qt::NoButton, {});
    QCoreApplication::sendEvent(&view(), &event);
  }
  void click(QPointF at) {
    press(QEvent::MouseButtonPress, at);
    press(QEvent::MouseButtonRelease, at);
  }
  void key(Qt::Key key) {
    QKeyEvent event(QEvent::KeyPress, key, {});
    QCoreApplication::sendEvent(&view(), &event);
  }
  void wheel(QPointF at, int angle) {
    QWheelEvent event(at, view().mapToGlobal(at), {}, {0, angle}, Qt::NoButton, {}, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&view(), &event);
  }
  void zoomIn(int notches) {
    for (int i = 0; i < notches; ++i) wheel(view().plotRect().center(), 120);
    paint();
  }
  // Forty steps of a drag at one zoom, then the same a notch further in; from the sixteenth on from the start.
  void panStep(int step) {
    const QPointF from(view().plotRect().center());
    if (step % 40 == 0) {
      press(QEvent::MouseButtonRelease, from);
      if (step / 40 % 16 == 0) view().showAll();
      wheel(from, 120);
      press(QEvent::MouseButtonPress, from);
    }
    move(from + QPointF(5 * (step % 40), 4 * (step % 40)), Qt::LeftButton);
  }

  template <typename Action>
  void measure(const char* what, Action action, int frames = kFrames, double bar = kBarMs) {
    std::vector<double> cpu, wall;
    for (int i = 0; i < frames; ++i) {
      const double start = cpuNowMs();
      const auto startWall = std::chrono::steady_clock::now();
      action();
      paint();
      cpu.push_back(cpuNowMs() - start);
      wall.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - startWall).count());
    }
    for (std::vector<double>* times : {&cpu, &wall}) std::sort(times->begin(), times->end());
    const auto at = [](const std::vector<double>& times, double share) { return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]; };
    fmt::print(R"(RESULT {{"bench":"heatmap","pixel_ratio":{},"what":"{}","unit":"ms","frames":{},"cpu_p50":{:.2f},"cpu_p99":{:.2f},"wall_p50":{:.2f},"wall_p99":{:.2f},"bar":{},"cpu_p99_over_bar":{:.2f},"holds":{}}})"
               "\n", m_panel.devicePixelRatioF(), what, frames, at(cpu, 0.5), at(cpu, 0.99), at(wall, 0.5), at(wall, 0.99), bar, bar > 0 ? at(cpu, 0.99) / bar : 0, bar == 0 || at(cpu, 0.99) <= bar);
    std::fflush(stdout);
  }

  views::Workbench m_workbench;
  views::HeatmapPanel m_panel;
  std::mt19937 m_random{7};
};

int measureAt(int argc, char** argv, const char* ratio, const QString& session) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_SCALE_FACTOR", ratio);
  QApplication application(argc, argv);
  plots::applyTheme(application, plots::ThemeChoice::light, QPalette());
  Bench(session).measureAll();
  return 0;
}

}  // namespace

// A scale factor is read once in a process: each is a process of its own.
int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--at") == 0) return measureAt(argc, argv, argv[2], QString::fromLocal8Bit(argv[3]));
  const ulpscope::tests::ScratchFolder folder;
  const std::string master = folder.file("bench.ulps");
  const session::Session session = makeSession();
  const auto written = storage::addRun(master, session, makeRun(session), makeMetrics(), {}, storage::WriteMode::create);
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message().c_str()), 1;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  int failed = 0;
  for (const char* ratio : {"1", "2"}) failed += std::system(fmt::format("'{}' --at {} '{}'", self, ratio, master).c_str()) == 0 ? 0 : 1;
  return failed;
}
