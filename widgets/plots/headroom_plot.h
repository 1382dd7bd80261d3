// The range of each op site, in execution order, against the limits of the low format. Logarithmic.
#pragma once

#include "core/render/headroom.h"
#include "widgets/models/loaded_run.h"
#include "widgets/plots/marks.h"

#include <QWidget>

class QCustomPlot;

namespace ulpscope::plots {

class PlotLegend;

class HeadroomPlot : public QWidget {
  Q_OBJECT

 public:
  struct Content {
    models::RunPointer run;
    std::vector<render::HeadroomSite> sites;
    std::vector<double> otherMaxima;  // candidate's max |x| of the other run at each site; empty: there is none
    QString otherName;                // "run 1"
  };

  explicit HeadroomPlot(QWidget* parent = nullptr);
  void setContent(Content content);
  void setSelectedSite(std::int64_t site);  // -1: none
  std::optional<QPointF> pixelOf(std::int64_t site) const;  // of the reference's largest magnitude; empty: not drawn
  QString tooltipOf(std::int64_t site) const;
  QString legendText() const;
  QWidget* surface() const;

 signals:
  void siteClicked(std::int64_t site);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void rebuild();
  void setAxes(const Theme& theme);
  void addSeries(const Theme& theme);
  void addMarks(const Theme& theme);
  std::vector<LegendEntry> addEdgeMarks(const Theme& theme);
  void addLimits(const Theme& theme);
  void setLimitTicks();
  void updateOverlay();
  std::ptrdiff_t indexOf(std::int64_t site) const;  // among the sites; -1: none
  std::ptrdiff_t indexAt(QPointF position) const;
  void selectIndex(std::ptrdiff_t index);

  QCustomPlot* m_plot;
  PlotLegend* m_legend;
  Content m_content;
  render::HeadroomAxis m_axis;
  std::int64_t m_selected = -1;
  bool m_isDrawn = false;  // the overlay can be drawn alone only after all of it was once
};

}  // namespace ulpscope::plots
