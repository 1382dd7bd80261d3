// FP32 regions: where the candidate keeps autocast off. No Torch.
#pragma once

#include "core/base/error.h"
#include "core/model/model_info.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::engine {

// fp32: autocast off and floating inputs cast to float32 at the border. disable: autocast off, inputs as they are.
enum class RegionKind { fp32, disable };

// An op as regions can name it.
struct OpName {
  std::string modulePath;
  std::string op;        // "aten::matmul"
  std::string overload;
  std::string source;    // "model.py:12"
  int occurrence = 1;
};

// Patterns: a module path, globs allowed ("." is the root and covers everything), or an op site `path:aten::op[.overload][@line][#n]`.
class RegionSet {
 public:
  RegionSet() = default;
  // Error kind usage for a pattern that matches no module (or no op of the model) naming the nearest ones.
  static base::Result<RegionSet> make(const std::vector<std::string>& fp32, const std::vector<std::string>& disable,
                                      const model::ModelInfo& model, const std::vector<model::StaticOp>& ops);

  bool empty() const { return m_patterns.empty(); }
  bool hasOpPatterns() const;
  // Kind of the region that begins at this very module (not above it); fp32 wins over disable.
  std::optional<RegionKind> matchesModule(const std::string& modulePath) const;
  std::optional<RegionKind> matchesOp(const OpName& op) const;

 private:
  struct Pattern {
    RegionKind kind;
    std::string path;                 // glob
    std::string op;                   // "" for a module pattern
    std::string overload;             // "" = any
    std::optional<int> line;
    std::optional<int> occurrence;
  };
  std::vector<Pattern> m_patterns;

  static Pattern parse(RegionKind kind, const std::string& text);
  static bool matches(const Pattern& pattern, const OpName& op);
};

}  // namespace ulpscope::engine
