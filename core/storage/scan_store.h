// Scans of a session: `name.ulps.d/scan-NNNN.json`, written once, named with its SHA-256 by the master.
#pragma once

#include "core/base/error.h"
#include "core/session/scan.h"
#include "core/session/session.h"
#include "core/storage/session_store.h"

#include <string>

namespace ulpscope::storage {

// Takes the lock, re-reads the master, writes the scan's file and then the master. The scan is numbered here, as the last. Gives the session
// as it then stands. `scanned`: the session whose model and samples were scanned; error kind run where another stands there now, else as
// addRun's. After an error nothing is changed.
base::Result<session::Session> addScan(const std::string& masterPath, const session::Session& scanned, session::Scan scan);

// Error kind usage for a number that the session does not have; kind input for a file that is missing or not the one that was written.
base::Result<session::Scan> readScan(const std::string& masterPath, const session::Session& session, int number);

}  // namespace ulpscope::storage
