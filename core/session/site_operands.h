// Where the tensors that an op site was given came from. First batch.
#pragma once

#include "core/base/dtype.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

inline constexpr std::size_t kMostOperands = 16;  // listed of one op site; a cat may have a thousand

struct SiteOperand {
  // unknown: a constant, what no compared op made, or what the two runs do not agree on. Never guessed.
  enum class From { unknown, site, parameter, input };
  std::string name;  // the argument's in the op's schema; "tensors[2]" in lists
  // As handed to the op, before the policy casts; empty: of another kind (quantised), or the run had no such operand.
  std::optional<base::DType> referenceDtype, candidateDtype;
  std::optional<base::DType> castTo;  // what the policy makes of it in the candidate; empty: it is left as it is
  From from = From::unknown;
  std::int64_t site = -1;  // From::site: index into RunRecord::sites of the output that it is
  std::string origin;      // From::parameter: qualified name of a parameter or buffer; From::input: of forward's argument
};

struct SiteOperands {
  std::vector<SiteOperand> listed;  // the first kMostOperands
  std::int64_t count = 0;           // of all
};

// {"count": 3, "listed": [[name, reference dtype, candidate dtype, cast to, from, site or origin], ...]}: short, since a run has many.
nlohmann::json toJson(const SiteOperands& operands);
// Throws nlohmann::json::exception; nothing for a word that this version does not know.
std::optional<SiteOperands> operandsFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
