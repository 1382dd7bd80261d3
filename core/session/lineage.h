// What a validation says of the exploratory session before it.
#pragma once

#include "core/session/session.h"

namespace ulpscope::session {

// sameSamples is found out when the validation's own session is made.
Lineage lineageOf(const Session& explored);

}  // namespace ulpscope::session
