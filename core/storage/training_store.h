// Trainings of a session: `name.ulps.d/train-NNNN.json`, written once, named with its SHA-256 by the master.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/session/training.h"
#include "core/session/training_lock.h"
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
// that number; else as addRun's. After an error nothing is changed. session.trainingCriteria: the revisions that the
// training was judged by (criteriaForTraining); where others were locked meanwhile, those stay and its verdict becomes "not evaluated".
base::Result<session::Session> addTraining(const std::string& masterPath, const session::Session& session, session::Training training, WriteMode mode);

// Whether addTraining could write there, asked before a long training. Errors as checkWritable's; `share`: the session may exist.
base::Status checkTrainingWritable(const std::string& masterPath, WriteMode mode);

// The same of a model and inputs that are loaded by now; errors as addTraining's. A session that is not there takes any.
base::Status checkTrainingFits(const std::string& masterPath, const session::Session& session);

// The revisions that the session's trainings are held against; where it was written before there were any, from its first training that has
// criteria.
std::vector<session::CriteriaRevision> lockedTrainingCriteria(const std::string& masterPath, const session::Session& session);
// What a training of these terms would be judged by there; errors as session::agreedCriteria's and openSession's, and a lock that was changed.
base::Result<std::vector<session::CriteriaRevision>> criteriaForTraining(const std::string& masterPath, const session::TrainingTerms& terms);

// Error kind usage for a number that the session does not have; kind input for a file that is missing or not the one that was written.
base::Result<session::Training> readTraining(const std::string& masterPath, const session::Session& session, int number);

// "FP16, scaler, 12 of 16 steps skipped".
std::string trainingTitle(const session::Training& training);

}  // namespace ulpscope::storage
