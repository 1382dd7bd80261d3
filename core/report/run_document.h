// The JSON document of `--json`: what a script reads. Contract in resources/schema/run.schema.json.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ulpscope::report {

// Keys that later versions fill stand as null or empty, never as invented values.
nlohmann::json runDocument(const session::Session& session, const session::RunRecord& run, const std::string& sessionPath);

// A document for a run that gave none: status "error" (or "cancelled"), every other key empty or null.
nlohmann::json errorDocument(const base::Error& error);

// A document for a command that had nothing to run: status "ok", no run, `why` among the warnings.
nlohmann::json noRunDocument(const std::string& sessionPath, const std::string& why);

// Plain text for people: model, what was compared, first non-finite with diagnosis, flips, worst sites, how to open.
std::string runSummary(const session::Session& session, const session::RunRecord& run, const std::string& sessionPath);

}  // namespace ulpscope::report
