#include "widgets/models/text.h"

#include <cmath>

namespace ulpscope::models {

QString modulePathText(const QString& path) { return path.isEmpty() ? QStringLiteral("(root)") : path; }

QString shortList(const std::vector<std::string>& items, std::size_t most) {
  QStringList shown;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) shown << qt(items[i]);
  QString text = shown.join(QStringLiteral(", "));
  if (items.size() > most) text += QStringLiteral(" and %1 more").arg(items.size() - most);
  return text;
}

namespace {

QString raised(long exponent) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text;
  for (const QChar c : QString::number(exponent)) text += c == u'-' ? QChar(u'⁻') : digits[c.digitValue()];
  return text;
}

}  // namespace

QString decadeText(double value) {
  return (value < 0 ? QStringLiteral("−10") : QStringLiteral("10")) + raised(std::lround(std::log10(std::fabs(value))));
}

QString powerOfTwoText(int exponent) { return QStringLiteral("2") + raised(exponent); }

}  // namespace ulpscope::models
