// Trainings of a session: `name.ulps.d/train-NNNN.json`, written once, named with its SHA-256 by the master.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/session/training.h"
#include "core/storage/session_store.h"

#include <string>

namespace ulpscope::storage {

// Takes the lock, re-reads the master where it exists, numbers the training, writes its file and then the master. Gives the session as it
// then stands, `training.number` being that of its last entry. Error kind usage where `mode` is create and the master exists; kind run
// where the session has another model or other inputs; else as addRun's. After an error nothing is changed.
base::Result<session::Session> addTraining(const std::string& masterPath, const session::Session& session, session::Training training, WriteMode mode);

// Whether addTraining could write there, asked before a long training. Errors as checkWritable's; `share`: the session may exist.
base::Status checkTrainingWritable(const std::string& masterPath, WriteMode mode);

// Error kind usage for a number that the session does not have; kind input for a file that is missing or not the one that was written.
base::Result<session::Training> readTraining(const std::string& masterPath, const session::Session& session, int number);

// "FP16, scaler, 12 of 16 steps skipped".
std::string trainingTitle(const session::Training& training);

}  // namespace ulpscope::storage
