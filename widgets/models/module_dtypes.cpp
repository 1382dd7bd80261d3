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

std::map<std::string, std::vector<base::DType>> moduleDtypes(const session::RunRecord& run) {
  Dtypes outputs, own, within;
  for (const session::ModuleOutput& output : run.moduleOutputs)
    if (output.site >= 0) note(outputs, output.modulePath, run.sites[static_cast<std::size_t>(output.site)].candidateDtype);
  for (const session::SiteSummary& site : run.sites) {
    note(own, site.modulePath, site.candidateDtype);
    for (std::string path = site.modulePath; !path.empty(); path = model::parentPath(path)) note(within, path, site.candidateDtype);
    note(within, {}, site.candidateDtype);
  }
  std::map<std::string, std::vector<base::DType>> result;
  for (const Dtypes* dtypes : {&outputs, &own, &within})  // the first that knows the module stands
    for (const auto& [path, set] : *dtypes) result.try_emplace(path, set.begin(), set.end());
  return result;
}

QString dtypesText(const std::vector<base::DType>& dtypes) {
  if (dtypes.empty()) return QStringLiteral("–");
  return dtypes.size() > 1 ? QStringLiteral("mixed") : shortName(dtypes.front());
}

QString dtypesTooltip(const std::vector<base::DType>& dtypes) {
  if (dtypes.empty()) return QStringLiteral("no floating output");
  QStringList names;
  for (const base::DType dtype : dtypes) names << qt(base::name(dtype));
  return QStringLiteral("ran in %1").arg(names.join(QStringLiteral(", ")));
}

}  // namespace ulpscope::models
