// A criteria file as a list of limits to fill in, one a line: what a sheet shows and edits before the lock.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct CriteriaLine {
  std::string pointer;  // JSON pointer of the limit: "/outputs/0/rel_l2"
  std::string about;    // "output 'logits'", "non-finite", "decisions", "quality: accuracy", "op sites encoder.*"
  std::string name;     // "relative L2 error", "flips at most"
  std::string key;      // "rel_l2"
  std::string meaning;  // what is measured, and in which unit
  std::optional<double> limit;  // empty: not judged
  bool listed = false;          // the document names it, be it without a limit: as a template does with the usual ones
  bool atLeast = false;         // the measured value must not be smaller, instead of not larger
};

// Every limit that the document could hold, in its sections, set or not. Error kind input for what is no criteria file by shape.
base::Result<std::vector<CriteriaLine>> criteriaLines(const nlohmann::json& document);

// The document with that limit; nullopt: not judged. Precondition: the pointer is one of criteriaLines(document).
nlohmann::json withLimit(nlohmann::json document, const std::string& pointer, std::optional<double> limit);
// One more section: limits of op sites or of an output.
nlohmann::json withSites(nlohmann::json document, const std::string& sites);
nlohmann::json withOutput(nlohmann::json document, const std::string& output);
// Without the section that the pointer stands in.
nlohmann::json withoutSection(nlohmann::json document, const std::string& pointer);
// As it is locked: limits that are not set, and sections without any, are taken out.
nlohmann::json withoutEmptyLimits(nlohmann::json document);

}  // namespace ulpscope::session
