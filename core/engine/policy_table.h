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
  struct Classes {
    std::unordered_map<std::string, PolicyClass> byOp;  // "aten::sum.dim_IntList"
    // Without the ops `removed`, which must be there, and with those of `added`, which must not.
    Classes changed(std::string_view removed, const std::vector<Row>& added) const;
  };
  PolicyTable(std::string device, std::string series, std::string source, const std::vector<Row>& rows);
  PolicyTable(std::string device, std::string series, std::string source, Classes classes)
      : m_device(std::move(device)), m_series(std::move(series)), m_source(std::move(source)), m_classes(std::move(classes)) {}

  std::string name() const { return m_device + "@" + m_series; }  // "cuda@1.13"
  const std::string& device() const { return m_device; }          // "cuda" or "cpu"
  const std::string& series() const { return m_series; }          // PyTorch's: "1.13", "2.6", "2.12" (and later)
  const std::string& source() const { return m_source; }          // where the lists can be read
  // qualifiedOp: "aten::sum" or "aten::sum.dim_IntList" (overload exact).
  PolicyClass classOf(const std::string& qualifiedOp) const;
  std::size_t size() const { return m_classes.byOp.size(); }
  const std::unordered_map<std::string, PolicyClass>& entries() const { return m_classes.byOp; }
  Classes changed(std::string_view removed, const std::vector<Row>& added) const { return m_classes.changed(removed, added); }

 private:
  std::string m_device, m_series, m_source;
  Classes m_classes;
};

const PolicyTable& cuda113();
const PolicyTable& cuda26();
const PolicyTable& cuda212();
const PolicyTable& cpu113();
const PolicyTable& cpu26();
const PolicyTable& cpu212();

// "cuda" or "cpu" (the newest known) or "cuda@1.13". Error kind usage naming the tables that exist.
base::Result<const PolicyTable*> findPolicyTable(const std::string& wanted);
std::vector<std::string> policyTableNames();
std::vector<const PolicyTable*> tablesOf(const std::string& device);  // oldest first

// Why `binary_cross_entropy` is refused, in PyTorch's words (autocast_mode.cpp).
std::string refusalText();

}  // namespace ulpscope::engine
