#include "widgets/models/text.h"

#include "core/base/axis_text.h"

namespace ulpscope::models {

QString modulePathText(const QString& path) { return path.isEmpty() ? QStringLiteral("(root)") : path; }

QString shortList(const std::vector<std::string>& items, std::size_t most) {
  QStringList shown;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) shown << qt(items[i]);
  QString text = shown.join(QStringLiteral(", "));
  if (items.size() > most) text += QStringLiteral(" and %1 more").arg(items.size() - most);
  return text;
}

QString decadeText(double value) { return qt(base::decadeText(value)); }

QString powerOfTwoText(int exponent) { return qt(base::powerOfTwoText(exponent)); }

}  // namespace ulpscope::models
