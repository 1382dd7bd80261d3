#include "core/model/operators.h"

#include <algorithm>
#include <utility>

namespace ulpscope::model {
namespace {

using Meanings = std::vector<std::pair<std::string, std::string>>;

const Meanings kClasses = {{"lower_precision_fp", "inputs are cast to FP16 or BF16"},
                           {"fp32", "inputs are cast to FP32"},
                           {"fp32_set_opt_dtype", "computes in FP32, unless the call names a dtype"},
                           {"fp32_append_dtype", "computes in FP32"},
                           {"promote", "inputs are cast to the widest dtype among them"},
                           {"refused", "raises under autocast"},
                           {"opened", "a fused layer: its own ops run instead, one by one"},
                           {"none", "runs in the dtypes it is given; ops inside it may stand on a list"}};

const Meanings kKernels = {{"own", "a kernel of its own for this device"},
                           {"generic", "one kernel for every device"},
                           {"composite", "made of other ops, which have kernels of their own"},
                           {"none", "no kernel for this device in this build"},
                           {"interpreter", "TorchScript's own, runs without a kernel"}};

std::string meaningIn(const Meanings& meanings, const std::string& word) {
  const auto found = std::find_if(meanings.begin(), meanings.end(), [&](const auto& entry) { return entry.first == word; });
  return found == meanings.end() ? "" : found->second;
}

void addSite(Operator& op, const StaticOp& site) {
  ++op.sites;
  if (std::find(op.modulePaths.begin(), op.modulePaths.end(), site.modulePath) == op.modulePaths.end()) op.modulePaths.push_back(site.modulePath);
}

Operator operatorOf(const StaticOp& site, const OpKernel& kernel) {
  Operator op{site.op, site.overload, site.policyClass, site.otherTables, kernel, {}, 0};
  std::erase_if(op.otherTables, [&](const auto& table) { return table.second == site.policyClass; });
  return op;
}

}  // namespace

std::vector<Operator> operatorsOf(const std::vector<StaticOp>& ops, const std::vector<OpKernel>& kernels) {
  std::vector<Operator> operators;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const StaticOp& site = ops[i];
    const auto [place, isNew] = places.emplace(qualifiedName(site.op, site.overload) + " " + site.policyClass, operators.size());
    if (isNew) operators.push_back(operatorOf(site, i < kernels.size() ? kernels[i] : OpKernel{}));
    addSite(operators[place->second], site);
  }
  return operators;
}

std::string qualifiedName(const std::string& op, const std::string& overload) { return overload.empty() ? op : op + "." + overload; }

bool isCustom(const std::string& op) { return !op.starts_with("aten::") && !op.starts_with("prim::"); }

std::string classMeaning(const std::string& policyClass) { return meaningIn(kClasses, policyClass); }
std::string kernelMeaning(const std::string& kernel) { return meaningIn(kKernels, kernel); }

std::string treatment(const Operator& op) {
  if (op.policyClass == "none" && isCustom(op.op)) return op.kernel.hasAutocastKernel ? "a custom op with an autocast kernel of its own" : "a custom op without an autocast kernel: runs in the type of its inputs";
  return classMeaning(op.policyClass);
}

const std::vector<std::string>& policyClasses() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& entry : kClasses) all.push_back(entry.first);
    return all;
  }();
  return names;
}

}  // namespace ulpscope::model
