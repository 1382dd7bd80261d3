#include "widgets/models/fp32_regions.h"

#include "core/base/nearest_names.h"
#include "core/model/model_info.h"
#include "widgets/models/text.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>

namespace ulpscope::models {
namespace {

std::string entryFor(const QString& path) { return path.isEmpty() ? "." : core(path); }
std::string pathOf(const std::string& entry) { return entry == "." ? std::string() : entry; }

// A region of a glob covers what lies below a match too.
bool covers(const std::string& entry, std::string path) {
  if (model::isWithin(path, pathOf(entry))) return true;
  for (; !path.empty(); path = model::parentPath(path))
    if (base::globMatches(entry, path)) return true;
  return false;
}

}  // namespace

bool operator==(const Fp32Regions& a, const Fp32Regions& b) {
  return std::is_permutation(a.m_fp32.begin(), a.m_fp32.end(), b.m_fp32.begin(), b.m_fp32.end()) &&
         std::is_permutation(a.m_disable.begin(), a.m_disable.end(), b.m_disable.begin(), b.m_disable.end());
}

void Fp32Regions::writeTo(session::RunSettings& settings) const {
  settings.fp32 = m_fp32;
  settings.disable = m_disable;
}

bool Fp32Regions::names(const QString& path, RegionKind kind) const {
  return std::find(list(kind).begin(), list(kind).end(), entryFor(path)) != list(kind).end();
}

QString Fp32Regions::coveredBy(const QString& path, RegionKind kind) const {
  for (const std::string& entry : list(kind))
    if (entry != entryFor(path) && covers(entry, core(path))) return qt(entry);
  return {};
}

bool Fp32Regions::hasInside(const QString& path, RegionKind kind) const {
  return std::any_of(list(kind).begin(), list(kind).end(), [&](const std::string& entry) {
    return entry != entryFor(path) && model::isWithin(pathOf(entry), core(path));
  });
}

QStringList Fp32Regions::changesFrom(const Fp32Regions& before) const {
  QStringList changes;
  const auto add = [&changes](const std::vector<std::string>& of, const std::vector<std::string>& without, const QString& words) {
    for (const std::string& entry : of)
      if (std::find(without.begin(), without.end(), entry) == without.end()) changes << words.arg(modulePathText(qt(pathOf(entry))));
  };
  add(m_fp32, before.m_fp32, QStringLiteral("+ %1 in FP32"));
  add(m_disable, before.m_disable, QStringLiteral("+ %1: autocast off"));
  add(before.m_fp32, m_fp32, QStringLiteral("− %1 in FP32"));
  add(before.m_disable, m_disable, QStringLiteral("− %1: autocast off"));
  return changes;
}

RegionState Fp32Regions::stateOf(const QString& path) const {
  if (names(path, RegionKind::inputsToFp32)) return RegionState::own;
  if (names(path, RegionKind::inputsAsTheyAre)) return RegionState::ownDisabled;
  if (!coveredBy(path, RegionKind::inputsToFp32).isEmpty()) return RegionState::covered;
  if (!coveredBy(path, RegionKind::inputsAsTheyAre).isEmpty()) return RegionState::coveredDisabled;
  return hasInside(path, RegionKind::inputsToFp32) || hasInside(path, RegionKind::inputsAsTheyAre) ? RegionState::partial : RegionState::off;
}

QString regionAction(RegionKind kind, const QString& module) {
  const bool keeps = kind == RegionKind::inputsToFp32;
  if (module.isEmpty()) return keeps ? QStringLiteral("Keep in FP32") : QStringLiteral("Switch autocast off");
  return (keeps ? QStringLiteral("Keep %1 in FP32") : QStringLiteral("Switch autocast off in %1")).arg(module);
}

QString regionMeaning(RegionKind kind) {
  return kind == RegionKind::inputsToFp32 ? QStringLiteral("autocast disabled locally, inputs cast to FP32") : QStringLiteral("autocast disabled locally, inputs as they are");
}

QString regionText(const Fp32Regions& regions, const QString& path) {
  const auto by = [&](RegionKind kind) {
    const QString cover = regions.coveredBy(path, kind);
    return cover == u"." ? modulePathText({}) : cover;
  };
  switch (regions.stateOf(path)) {
    case RegionState::off: return QStringLiteral("Under autocast; check to keep it in FP32");
    case RegionState::own: return QStringLiteral("Kept in FP32 (%1)").arg(regionMeaning(RegionKind::inputsToFp32));
    case RegionState::ownDisabled: return QStringLiteral("Autocast off (%1)").arg(regionMeaning(RegionKind::inputsAsTheyAre));
    case RegionState::covered: return QStringLiteral("Kept in FP32 by %1").arg(by(RegionKind::inputsToFp32));
    case RegionState::coveredDisabled: return QStringLiteral("Autocast off by %1").arg(by(RegionKind::inputsAsTheyAre));
    case RegionState::partial: return QStringLiteral("A module inside is kept in FP32, or has autocast off");
  }
  return {};
}

Fp32Regions Fp32Regions::toggled(const QString& path, RegionKind kind) const {
  Fp32Regions result = *this;
  const bool wasListed = names(path, kind);
  std::erase(result.m_fp32, entryFor(path));
  std::erase(result.m_disable, entryFor(path));
  if (!wasListed) (kind == RegionKind::inputsToFp32 ? result.m_fp32 : result.m_disable).push_back(entryFor(path));
  return result;
}

QString asPython(const Fp32Regions& regions) {
  // JSON's strings are Python's.
  const auto list = [](const std::vector<std::string>& entries) {
    QJsonArray array;
    for (const std::string& entry : entries) array.append(qt(entry));
    return QString::fromUtf8(QJsonDocument(array).toJson(QJsonDocument::Compact));
  };
  const QString disabled = regions.disable().empty() ? QString() : QStringLiteral("disable=%1, ").arg(list(regions.disable()));
  return QStringLiteral("fp32=%1, %2append=True").arg(list(regions.fp32()), disabled);
}

}  // namespace ulpscope::models
