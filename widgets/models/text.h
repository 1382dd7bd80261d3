// Between the strings of core (UTF-8) and Qt's.
#pragma once

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace ulpscope::models {

inline QString qt(const std::string& text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }
inline std::string core(const QString& text) { return text.toUtf8().toStdString(); }

QString modulePathText(const QString& path);  // "(root)" for the empty path
// "142, 17 and 30 more".
QString shortList(const std::vector<std::string>& items, std::size_t most = 6);

// A power of ten for axes: 1e-3 -> "10⁻³".
QString decadeText(double value);
QString powerOfTwoText(int exponent);  // "2⁻¹⁴"

// Under which role every model gives what sorting compares.
inline constexpr int kSortRole = Qt::UserRole + 100;

}  // namespace ulpscope::models
