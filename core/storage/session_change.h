// Private: the one way in which a session that stands is changed.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <chrono>
#include <functional>
#include <string>

namespace ulpscope::storage {

enum class Change { none, made };

// Takes the lock, re-reads, changes, and writes the master whole, its generation raised by one, unless nothing changed. Gives the session as it
// stands then. Errors as addRun's, and those of `change`, after which nothing is changed.
base::Result<session::Session> changed(const std::string& masterPath, std::chrono::milliseconds patience, const std::function<base::Result<Change>(session::Session&)>& change);

}  // namespace ulpscope::storage
