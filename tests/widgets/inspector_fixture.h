// The window with a session of captured tensors, and its inspector.
#pragma once

#include "captured_session.h"
#include "sample_session.h"
#include "widgets/plots/tensor_map_view.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/tensor_maps_page.h"

#include <QTableView>

#include <gtest/gtest.h>

namespace ulpscope::testing {

using render::MapSide;
using views::InspectorPanel;

class Inspector : public ::testing::Test {
 protected:
  Inspector() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }
  ~Inspector() override { qunsetenv("ULPSCOPE_ENGINE"); }

  void open(InspectorPanel::Tab tab) {
    m_path = writeCaptured(m_folder);
    m_window.openSession(m_path);
    ASSERT_TRUE(waitFor([this] { return m_window.workbench().runB() != nullptr; })) << m_window.problem().toStdString();
    panel()->showTab(tab);
  }
  // Waits until its values are there, or why they are not.
  void select(const char* module, std::int64_t sample) {
    m_window.selectSite(QLatin1String(module), sample);
    const models::RunPointer run = m_window.workbench().shownRun();
    const std::int64_t site = run->worstSite(QLatin1String(module));
    ASSERT_TRUE(waitFor([&] {
      const auto& shown = tensor()->picture();
      return shown ? shown->look->site == site && shown->look->sample == sample : !tensor()->notice().isEmpty() && !tensor()->notice().startsWith(QStringLiteral("Reading"));
    }));
  }
  void openAt(const char* module, std::int64_t sample, InspectorPanel::Tab tab = InspectorPanel::kTensor) {
    open(tab);
    if (!HasFatalFailure()) select(module, sample);
  }
  InspectorPanel* panel() { return m_window.inspector(); }
  views::TensorInspector* tensor() { return panel()->tensor(); }
  views::TensorMapsPage* maps() { return tensor()->maps(); }
  plots::TensorMapView* map(MapSide side) { return maps()->map(side); }
  std::string worst(int row, int column) { return cell(maps()->worstTable(), row, column); }
  static std::string cell(const QTableView* table, int row, int column) { return table->model()->index(row, column).data().toString().toStdString(); }
  static QColor colorAt(QWidget* widget, QPoint point) { return widget->grab().toImage().pixelColor(point * widget->devicePixelRatioF()); }

  QTemporaryDir m_folder;
  QString m_path;
  views::MainWindow m_window;
};

}  // namespace ulpscope::testing
