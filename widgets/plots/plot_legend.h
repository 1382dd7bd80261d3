// What the marks of a plot mean, in as many lines as its width needs.
#pragma once

#include "widgets/plots/marks.h"

#include <QWidget>

namespace ulpscope::plots {

class PlotLegend : public QWidget {
  Q_OBJECT

 public:
  explicit PlotLegend(QWidget* parent = nullptr);
  void setEntries(std::vector<LegendEntry> entries);
  QString text() const;  // the entries, separated by commas

  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<QPoint> places(int width, int& height) const;  // top left of each entry
  int entryWidth(const LegendEntry& entry) const;

  std::vector<LegendEntry> m_entries;
};

}  // namespace ulpscope::plots
