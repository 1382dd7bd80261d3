// Trainings of a session: `name.ulps.d/train-NNNN.json`, written once, named with its SHA-256 by the master.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/session/training.h"
#include "core/storage/session_store.h"

#include <string>

namespace ulpscope::storage {

// Takes the lock and makes the folder of checkpoints of the next free number, durably: that number is then nobody else's, whatever becomes
// of the training. Gives the number. Errors as checkTrainingWritable's.
base::Result<int> reserveTraining(const std::string& masterPath, WriteMode mode);
// The reverse for a training that wrote nothing: removes its folder of checkpoints where nothing is in it, and the session's folder where
// that is bare and there is no master. Keeps everything else.
void releaseTraining(const std::string& masterPath, int number);

// Takes the lock, re-reads the master where it exists, writes the training's file and then the master. `training.number` is a reserved one
// (its entry then stands in the order of numbers), or 0: then it is numbered here, as the last. Gives the session as it then stands. Error
// kind usage where `mode` is create and the master exists; kind run where the session has another model or other inputs, or a training of
// that number; else as addRun's. After an error nothing is changed.
base::Result<session::Session> addTraining(const std::string& masterPath, const session::Session& session, session::Training training, WriteMode mode);

// Whether addTraining could write there, asked before a long training. Errors as checkWritable's; `share`: the session may exist.
base::Status checkTrainingWritable(const std::string& masterPath, WriteMode mode);

// Error kind usage for a number that the session does not have; kind input for a file that is missing or not the one that was written.
base::Result<session::Training> readTraining(const std::string& masterPath, const session::Session& session, int number);

// "FP16, scaler, 12 of 16 steps skipped".
std::string trainingTitle(const session::Training& training);

}  // namespace ulpscope::storage
