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

QString decadeText(double value) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text = value < 0 ? QStringLiteral("−10") : QStringLiteral("10");
  for (const QChar c : QString::number(std::lround(std::log10(std::fabs(value))))) text += c == u'-' ? QChar(u'⁻') : digits[c.digitValue()];
  return text;
}

}  // namespace ulpscope::models
