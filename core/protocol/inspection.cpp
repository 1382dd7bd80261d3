#include "core/protocol/inspection.h"

#include <nlohmann/json.hpp>

namespace ulpscope::protocol {
namespace {

using nlohmann::json;

json toJson(const model::StaticOp& op, const model::OpKernel& kernel) {
  return {{"module", op.modulePath}, {"op", op.op},             {"overload", op.overload},                    {"source", op.source},
          {"class", op.policyClass}, {"kernel", kernel.kernel}, {"autocast_kernel", kernel.hasAutocastKernel}, {"other_tables", op.otherTables}};
}

model::StaticOp opFromJson(const json& j) {
  return {j.at("module"), j.at("op"), j.at("overload"), j.at("source"), j.at("class"), j.at("other_tables").get<std::map<std::string, std::string>>()};
}

}  // namespace

json toJson(const Inspection& inspection) {
  json ops = json::array();
  for (std::size_t i = 0; i < inspection.ops.size(); ++i) ops.push_back(toJson(inspection.ops[i], inspection.kernels[i]));
  const TargetDevice& target = inspection.target;
  return {{"model", model::toJson(inspection.model)}, {"ops", ops}, {"policy_table", inspection.policyTable}, {"warnings", inspection.warnings},
          {"target", {{"device", target.name}, {"libtorch", target.libtorch}, {"kernels_in_this_build", target.hasKernels}, {"device_present", target.isPresent}}}};
}

base::Result<Inspection> inspectionFromJson(const json& j) try {
  auto info = model::modelInfoFromJson(j.at("model"));
  if (!info) return info.error();
  const json& target = j.at("target");
  Inspection inspection{std::move(info).value(), {}, j.at("policy_table"), j.at("warnings").get<std::vector<std::string>>(),
                        {target.at("device"), target.at("libtorch"), target.at("kernels_in_this_build"), target.at("device_present")}, {}};
  for (const json& op : j.at("ops")) {
    inspection.ops.push_back(opFromJson(op));
    inspection.kernels.push_back({op.at("kernel"), op.at("autocast_kernel")});
  }
  return inspection;
} catch (const json::exception& e) {
  return base::Error{base::ErrorKind::internal, std::string("the engine's description of the model is damaged: ") + e.what(), "", ""};
}

std::vector<std::string> targetNotes(const TargetDevice& target) {
  std::vector<std::string> notes;
  const std::string build = "LibTorch " + target.libtorch + ", which this engine runs";
  if (!target.hasKernels)
    notes.push_back(build + ", has no kernels for " + target.name + "; what another build has there, it cannot know");
  else if (!target.isPresent)
    notes.push_back(build + ", has kernels for " + target.name + ", but no such device is here: nothing of it was tried");
  else
    notes.push_back("kernels are those of " + build + "; another build may have others");
  if (target.name == "cuda") notes.push_back("PyTorch calls a ROCm device cuda as well: the classes hold for both");
  return notes;
}

}  // namespace ulpscope::protocol
