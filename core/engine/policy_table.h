// Which class autocast gives an op, by device and PyTorch series. Data only, no Torch.
#pragma once

#include "core/base/error.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ulpscope::engine {

// As in aten/src/ATen/autocast_mode.h. none: the op stands on no list and runs in the dtypes it is given.
enum class PolicyClass { none, lowerPrecision, fp32, fp32SetOptDtype, fp32AppendDtype, promote, refused };
std::string name(PolicyClass policyClass);  // "lower_precision_fp", "fp32_set_opt_dtype", ..., "none"

class PolicyTable {
 public:
  struct Row {
    PolicyClass policyClass;
    std::string_view ops;  // space-separated "name" or "name.overload", without "aten::"
  };
  PolicyTable(std::string tableName, std::string source, const std::vector<Row>& rows);

  const std::string& name() const { return m_name; }      // "cuda@1.13"
  const std::string& source() const { return m_source; }  // where the lists can be read
  // qualifiedOp: "aten::sum" or "aten::sum.dim_IntList" (overload exact).
  PolicyClass classOf(const std::string& qualifiedOp) const;
  std::size_t size() const { return m_classes.size(); }
  const std::unordered_map<std::string, PolicyClass>& entries() const { return m_classes; }

 private:
  std::string m_name;
  std::string m_source;
  std::unordered_map<std::string, PolicyClass> m_classes;
};

const PolicyTable& cuda113();
// What the running LibTorch does itself, in native runs; not to be chosen for emulation.
const PolicyTable& cpu113();

// "cuda" (newest known) or "cuda@1.13". Error kind usage naming the tables that exist.
base::Result<const PolicyTable*> findPolicyTable(const std::string& wanted);
std::vector<std::string> policyTableNames();

// Why `binary_cross_entropy` is refused, in PyTorch's words (autocast_mode.cpp).
std::string refusalText();

}  // namespace ulpscope::engine
