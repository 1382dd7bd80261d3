#include "widgets/views/margin_filter.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/views/flow_layout.h"

#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>
#include <cmath>

namespace ulpscope::views {
namespace {

QString textOf(double below) { return std::isinf(below) ? MarginFilter::tr("all") : models::qt(base::exactNumber(below)); }

}  // namespace

MarginFilter::MarginFilter(QWidget* parent) : QWidget(parent) {
  m_slider = new QSlider(Qt::Horizontal, this);
  m_slider->setFixedWidth(60);
  m_slider->setAccessibleName(tr("FP32 margin below"));
  m_field = new QLineEdit(this);
  m_field->setAccessibleName(tr("FP32 margin below, as a number, or all"));
  m_field->setToolTip(tr("A number above 0, or \"all\""));
  m_field->setFixedWidth(m_field->fontMetrics().horizontalAdvance(QStringLiteral("0.000123")) + 18);
  auto* label = new QLabel(tr("Margin below"), this);
  label->setBuddy(m_field);
  setToolTip(tr("Table, gallery and sentence: only the samples with a smaller margin in FP32"));
  for (QWidget* widget : {static_cast<QWidget*>(label), static_cast<QWidget*>(m_slider)}) widget->setMinimumHeight(m_field->sizeHint().height());
  auto* layout = new FlowLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(label);
  layout->addWidget(m_slider);
  layout->addWidget(m_field);
  connect(m_slider, &QSlider::valueChanged, this, [this](int step) { setBelow(m_steps[static_cast<std::size_t>(step)]); });
  connect(m_field, &QLineEdit::editingFinished, this, &MarginFilter::readField);
  setSteps({});
}

void MarginFilter::setSteps(std::vector<double> steps) {
  const QSignalBlocker quiet(m_slider);
  m_steps = std::move(steps);
  setEnabled(!m_steps.empty());
  m_slider->setRange(0, std::max(0, static_cast<int>(m_steps.size()) - 1));
  m_slider->setPageStep(std::max(1, static_cast<int>(m_steps.size()) / 10));
  setBelow(std::numeric_limits<double>::infinity());
  showLimit();
}

void MarginFilter::setBelow(double below) {
  if (below == m_below) return;
  m_below = below;
  showLimit();
  emit changed(m_below);
}

void MarginFilter::readField() {
  bool isNumber = false;
  const QString text = m_field->text().trimmed();
  const double number = QLocale::c().toDouble(text, &isNumber);
  if (isNumber && number > 0 && std::isfinite(number)) setBelow(number);
  else if (text.isEmpty() || text.compare(tr("all"), Qt::CaseInsensitive) == 0) setBelow(std::numeric_limits<double>::infinity());
  showLimit();  // what is no limit gives way to the one that holds
}

void MarginFilter::showLimit() {
  const QSignalBlocker quiet(m_slider);
  const auto at = std::lower_bound(m_steps.begin(), m_steps.end(), m_below);
  m_slider->setValue(static_cast<int>(at - m_steps.begin()));
  m_field->setText(textOf(m_below));
}

}  // namespace ulpscope::views
