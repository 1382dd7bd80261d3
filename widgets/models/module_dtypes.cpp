#include "widgets/models/module_dtypes.h"

#include "core/model/model_info.h"
#include "widgets/models/text.h"

#include <set>

namespace ulpscope::models {
namespace {

using Dtypes = std::map<std::string, std::set<base::DType>>;

void note(Dtypes& dtypes, const std::string& path, base::DType dtype) {
  if (base::isInexact(dtype)) dtypes[path].insert(dtype);
}

QString shortName(base::DType dtype) {
  switch (dtype) {
    case base::DType::float16: return QStringLiteral("FP16");
    case base::DType::bfloat16: return QStringLiteral("BF16");
    case base::DType::float32: return QStringLiteral("FP32");
    case base::DType::float64: return QStringLiteral("FP64");
    default: return qt(base::name(dtype));
  }
}

}  // namespace

std::map<std::string, ModuleDtypes> moduleDtypes(const session::RunRecord& run) {
  Dtypes outputs, own, within;
  for (const session::ModuleOutput& output : run.moduleOutputs)
    if (output.site >= 0) note(outputs, output.modulePath, run.sites[static_cast<std::size_t>(output.site)].candidateDtype);
  for (const session::SiteSummary& site : run.sites) {
    note(own, site.modulePath, site.candidateDtype);
    for (std::string path = site.modulePath; !path.empty(); path = model::parentPath(path)) note(within, path, site.candidateDtype);
    note(within, {}, site.candidateDtype);
  }
  using Of = ModuleDtypes::Of;
  std::map<std::string, ModuleDtypes> result;
  for (const auto& [dtypes, of] : {std::pair{&outputs, Of::outputs}, std::pair{&own, Of::ownOps}, std::pair{&within, Of::opsInside}})  // the first that knows the module stands
    for (const auto& [path, set] : *dtypes) result.try_emplace(path, ModuleDtypes{of, {set.begin(), set.end()}});
  return result;
}

QString dtypesText(const ModuleDtypes& dtypes) {
  if (dtypes.dtypes.empty()) return QStringLiteral("–");
  return dtypes.dtypes.size() > 1 ? QStringLiteral("mixed") : shortName(dtypes.dtypes.front());
}

QString dtypesTooltip(const ModuleDtypes& dtypes) {
  QStringList list;
  for (const base::DType dtype : dtypes.dtypes) list << qt(base::name(dtype));
  const QString names = list.join(QStringLiteral(", "));
  switch (dtypes.of) {
    case ModuleDtypes::Of::outputs: return QStringLiteral("returned %1").arg(names);
    case ModuleDtypes::Of::ownOps: return QStringLiteral("its ops returned %1").arg(names);
    case ModuleDtypes::Of::opsInside: return QStringLiteral("groups other modules: the ops inside them returned %1").arg(names);
    case ModuleDtypes::Of::nothing: break;
  }
  return QStringLiteral("no op of it returned floating-point values in this run");
}

}  // namespace ulpscope::models
