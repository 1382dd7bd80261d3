// Which modules stay out of autocast, as RunSettings holds it: module paths ("." is the root), globs allowed.
#pragma once

#include "core/session/settings.h"

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace ulpscope::models {

// inputsToFp32: "Keep in FP32", autocast disabled locally and inputs cast to FP32; inputsAsTheyAre: "Autocast off", the inputs stay.
enum class RegionKind { inputsToFp32, inputsAsTheyAre };

// The one name of each in menus, buttons and undo texts: "Keep in FP32", "Keep block in FP32"; "Switch autocast off", "Switch autocast off
// in block". module: as modulePathText() has it; empty: none is named.
QString regionAction(RegionKind kind, const QString& module = {});
QString regionMeaning(RegionKind kind);  // for tooltips: "autocast disabled locally, inputs cast to FP32"

// How a module stands to the regions: in one itself, below one, above one, or in none.
enum class RegionState { off, own, covered, partial, ownDisabled, coveredDisabled };

class Fp32Regions {
 public:
  Fp32Regions() = default;
  explicit Fp32Regions(const session::RunSettings& settings) : m_fp32(settings.fp32), m_disable(settings.disable) {}

  const std::vector<std::string>& fp32() const { return m_fp32; }
  const std::vector<std::string>& disable() const { return m_disable; }
  void writeTo(session::RunSettings& settings) const;

  bool names(const QString& path, RegionKind kind) const;  // the module itself is listed
  // The listed entry that covers the module from above or by a glob; empty: none.
  QString coveredBy(const QString& path, RegionKind kind) const;
  bool hasInside(const QString& path, RegionKind kind) const;  // a module below it is listed
  // What a run with these regions changes against one with `before`: "+ head in FP32", "− block: autocast off".
  QStringList changesFrom(const Fp32Regions& before) const;
  RegionState stateOf(const QString& path) const;
  // The module in or out of the kind's list; a module is in one list at most.
  Fp32Regions toggled(const QString& path, RegionKind kind) const;

  friend bool operator==(const Fp32Regions& a, const Fp32Regions& b);  // the same entries, in whatever order

 private:
  const std::vector<std::string>& list(RegionKind kind) const { return kind == RegionKind::inputsToFp32 ? m_fp32 : m_disable; }

  std::vector<std::string> m_fp32;
  std::vector<std::string> m_disable;
};

// As arguments of the Python recorder's record(): `fp32=["head", "blocks.*"], append=True`; with `disable=[...]` where there are such.
QString asPython(const Fp32Regions& regions);

// What a module's box says in words.
QString regionText(const Fp32Regions& regions, const QString& path);

}  // namespace ulpscope::models
