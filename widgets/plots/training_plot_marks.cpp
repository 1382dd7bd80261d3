// What TrainingPlot draws beside the lines: values that have no place, the scale of 1, checkpoints, resumes and rollbacks; and the legend of all of it.
#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/plot_legend.h"
#include "widgets/plots/plot_style.h"
#include "widgets/plots/training_plot.h"

#include <algorithm>

namespace ulpscope::plots {
namespace {

using models::qt;
using models::TimelineMark;
using Kind = TimelineMark::Kind;
using render::ValuePlace;
using session::LedgerLine;

constexpr std::array kEdgePlaces{ValuePlace::plusInf, ValuePlace::minusInf, ValuePlace::nan, ValuePlace::notPositive};
constexpr double kMarkHeight = 0.03;  // of a chart, from its bottom to the checkpoints

MarkStyle checkpointStyle(bool isGood, const Theme& theme) { return {Mark::square, isGood ? theme.good : theme.bad, isGood}; }

Qt::PenStyle dashesOf(Kind kind) { return kind == Kind::resumed ? Qt::DashLine : Qt::DashDotLine; }

QColor colorOf(Kind kind, const Theme& theme) { return kind == Kind::resumed ? theme.accent : theme.bad; }

MarkStyle edgeStyle(ValuePlace place, const Theme& theme) {
  switch (place) {
    case ValuePlace::plusInf: return {Mark::triangleUp, theme.bad};
    case ValuePlace::minusInf: return {Mark::triangleDown, theme.text, false};
    case ValuePlace::nan: return {Mark::diamond, theme.origin.border};
    default: return {Mark::cross, theme.muted};
  }
}

QString edgeName(ValuePlace place) {
  switch (place) {
    case ValuePlace::plusInf: return TrainingPlot::tr("+inf");
    case ValuePlace::minusInf: return TrainingPlot::tr("-inf");
    case ValuePlace::nan: return TrainingPlot::tr("NaN");
    default: return TrainingPlot::tr("zero");
  }
}

QPen onePen(const Theme& theme) { return {theme.muted, 1, Qt::DotLine}; }

}  // namespace

QStringList TrainingPlot::tickLabels(Chart chart) const {
  QStringList texts;
  for (const QString& text : m_rects[chart]->axis(QCPAxis::atLeft)->ticker().staticCast<QCPAxisTickerText>()->ticks()) texts << text;
  return texts;
}

void TrainingPlot::addEdgeMarks(Chart chart, ValueOf value) {
  for (std::size_t i = 0; i < kEdgePlaces.size(); ++i) {
    std::vector<QPointF> points;
    for (const LedgerLine& line : m_content.run->ledger)
      if (const auto number = value(line))
        if (const render::ValuePoint point = render::valuePoint(*number, m_axes[chart]); point.place == kEdgePlaces[i]) points.emplace_back(static_cast<double>(line.step), point.at);
    addMarks(m_rects[chart]->axis(QCPAxis::atLeft), edgeStyle(kEdgePlaces[i], themeOf(this)), points);
    m_edgeMarks[chart][i] = static_cast<int>(points.size());
  }
}

// Below it a scaler makes gradients smaller.
void TrainingPlot::addScaleOfOne() {
  const render::ValueAxis& axis = m_axes[kScale];
  if (axis.low > 0 || axis.high < 0) return;
  QCPGraph* graph = addGraph(m_rects[kScale]->axis(QCPAxis::atLeft), onePen(themeOf(this)));
  const QCPRange steps = m_rects[kScale]->axis(QCPAxis::atBottom)->range();
  graph->addData(steps.lower, 0);
  graph->addData(steps.upper, 0);
}

void TrainingPlot::addTimeline() {
  const render::ValueAxis& axis = m_axes[kLoss];
  std::vector<QPointF> good, bad;
  for (const TimelineMark& mark : m_content.timeline) {
    const QPointF place(mark.at, axis.low + kMarkHeight * (axis.high - axis.low));
    if (mark.kind == Kind::goodCheckpoint) good.push_back(place);
    if (mark.kind == Kind::badCheckpoint) bad.push_back(place);
    if (mark.kind == Kind::resumed || mark.kind == Kind::rolledBack) addTimelineLine(mark);
  }
  addMarks(m_rects[kLoss]->axis(QCPAxis::atLeft), checkpointStyle(true, themeOf(this)), good);
  addMarks(m_rects[kLoss]->axis(QCPAxis::atLeft), checkpointStyle(false, themeOf(this)), bad);
}

// Across all charts, named in the first.
void TrainingPlot::addTimelineLine(const TimelineMark& mark) {
  const QColor color = colorOf(mark.kind, themeOf(this));
  for (QCPAxisRect* rect : m_rects) {
    auto* line = new QCPItemStraightLine(m_plot);
    line->setClipAxisRect(rect);
    line->setPen(QPen(color, 1.3, dashesOf(mark.kind)));
    for (QCPItemPosition* point : {line->point1, line->point2}) point->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
    line->point1->setCoords(mark.at, 0);
    line->point2->setCoords(mark.at, 1);
  }
  auto* name = new QCPItemText(m_plot);
  const QCPRange steps = m_rects[kLoss]->axis(QCPAxis::atBottom)->range();
  const bool isRight = mark.at > steps.center();
  name->setClipAxisRect(m_rects[kLoss]);
  name->setFont(font());
  name->setColor(color);
  name->setText(isRight ? mark.label + u' ' : u' ' + mark.label);
  name->setPositionAlignment((isRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
  name->position->setAxes(m_rects[kLoss]->axis(QCPAxis::atBottom), m_rects[kLoss]->axis(QCPAxis::atLeft));
  name->position->setAxisRect(m_rects[kLoss]);
  name->position->setTypeX(QCPItemPosition::ptPlotCoords);
  name->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  name->position->setCoords(mark.at, 0);
}

std::vector<LegendEntry> TrainingPlot::lineEntries() const {
  const Theme& theme = themeOf(this);
  QStringList optimizers;
  for (const LedgerLine& line : m_content.run->ledger)
    if (const QString name = qt(line.optimizer); !optimizers.contains(name)) optimizers << name;
  std::vector<LegendEntry> entries{{{Mark::line, theme.series, false}, optimizers.size() > 1 ? optimizers.front() : tr("this trajectory")}};
  for (qsizetype i = 1; i < optimizers.size(); ++i) entries.push_back({{Mark::dashes, theme.series, false}, optimizers[i]});
  if (m_content.fp32) entries.push_back({{Mark::line, theme.muted, false}, tr("loss in FP32")});
  if (m_content.run->recordsAny("zero_share")) entries.push_back({{Mark::dashes, theme.warn, false}, tr("zero share")});
  if (m_axes[kScale].low <= 0 && m_axes[kScale].high >= 0) entries.push_back({{Mark::dashes, theme.muted, false}, tr("scale 1")});
  return entries;
}

std::vector<LegendEntry> TrainingPlot::markEntries() const {
  const Theme& theme = themeOf(this);
  std::vector<LegendEntry> entries;
  const auto skipped = std::count_if(m_content.run->ledger.begin(), m_content.run->ledger.end(), [](const LedgerLine& line) { return line.skipped; });
  if (skipped > 0) entries.push_back({{Mark::triangleDown, theme.bad}, tr("skipped: %1").arg(qt(base::groupedInteger(skipped)))});
  for (std::size_t place = 0; place < kEdgePlaces.size(); ++place) {
    QStringList counts;
    for (const auto& [chart, name] : {std::pair{kLoss, tr("loss")}, {kScale, tr("scale")}, {kGradients, tr("grad. norm")}})
      if (const int count = m_edgeMarks[chart][place]; count > 0) counts << QStringLiteral("%1 %2").arg(name, qt(base::groupedInteger(count)));
    if (!counts.isEmpty()) entries.push_back({edgeStyle(kEdgePlaces[place], theme), QStringLiteral("%1: %2").arg(edgeName(kEdgePlaces[place]), counts.join(QStringLiteral(", ")))});
  }
  const auto count = [this](Kind kind) { return std::count_if(m_content.timeline.begin(), m_content.timeline.end(), [kind](const TimelineMark& mark) { return mark.kind == kind; }); };
  if (const auto good = count(Kind::goodCheckpoint); good > 0) entries.push_back({checkpointStyle(true, theme), tr("good checkpoints: %1").arg(qt(base::groupedInteger(good)))});
  if (const auto bad = count(Kind::badCheckpoint); bad > 0) entries.push_back({checkpointStyle(false, theme), tr("checkpoints not to return to: %1").arg(qt(base::groupedInteger(bad)))});
  return entries;
}

void TrainingPlot::updateLegend() {
  std::vector<LegendEntry> entries;
  if (lastStep() >= 0) {
    entries = lineEntries();
    for (LegendEntry& entry : markEntries()) entries.push_back(std::move(entry));
  }
  m_legend->setEntries(std::move(entries));
  QStringList said;
  for (const TimelineMark& mark : m_content.timeline)
    if (!mark.label.isEmpty()) said << mark.tooltip;
  setAccessibleDescription(tr("Loss, scale, gradient norm and share of zero gradients by step; %1. %2 Left and Right go to the next step; the ledger beside has the same numbers.")
                               .arg(m_legend->text(), said.join(QStringLiteral(". "))));
}

}  // namespace ulpscope::plots
