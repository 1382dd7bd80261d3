// A training's whole state after a step, in one HDF5 file: what resuming needs to go on as if nothing had happened.
#pragma once

#include "core/base/error.h"
#include "core/storage/input_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// torch.optim's state of one parameter; one that never stepped has none.
struct ParameterState {
  std::string name;              // of the parameter
  std::int64_t step = 0;         // updates it got; 0 where the optimizer does not count (SGD)
  std::vector<RawTensor> tensors;  // PyTorch's names: "momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"
};

struct OptimizerState {
  std::string name, type;  // the recipe's: "adam", "Adam"
  std::vector<ParameterState> parameters;
};

// Taken only at a coherent point: after update(), or after the last optimizer's step where there is no scaler.
struct TrainingCheckpoint {
  std::string createdUtc, creatorVersion, libtorchVersion;
  std::string policyTable;        // "cuda@2.6"
  std::string recipe;             // canonical JSON: autocast's policy and FP32 regions are in it
  std::string modelFingerprint, inputsSha256;
  std::int64_t step = 0;          // steps done
  std::int64_t microBatches = 0;  // taken: where in the data, and with `seed` the state of the random ops
  std::uint64_t seed = 0;
  std::vector<std::byte> generator;  // the default CPU generator's state, as torch.get_rng_state()
  std::int64_t schedulerSteps = 0, appliedUpdates = 0, scalersMade = 0;
  std::optional<std::map<std::string, double>> scaler;  // GradScaler.state_dict(); empty: there was none
  std::vector<RawTensor> parameters, buffers;  // names as named_parameters() and named_buffers()
  std::vector<RawTensor> gradients;            // where the next step starts from them; else empty
  std::vector<RawTensor> tensorAttributes;     // of modules, neither parameter nor buffer
  std::string attributes;         // JSON object by name: the modules' numbers, flags and texts
  std::vector<OptimizerState> optimizers;
  std::string trajectory;         // JSON of session::Trajectory so far, without its end
  std::string events;             // JSON lines of the loop's calls so far (training_events.h)
  std::string resumes;            // JSON array of session::ResumeRecord: how it came here
};

// Whole or not at all: written beside as path + ".part", synced, renamed. Gives the SHA-256 of the file. Error kind usage where `path`
// exists; kind run where it cannot be written.
base::Result<std::string> writeCheckpoint(const std::string& path, const TrainingCheckpoint& checkpoint);

// Error kind input, naming the file: missing, no checkpoint (with what it is, where that can be told: a session, a `.part`), damaged,
// of a newer format.
base::Result<TrainingCheckpoint> readCheckpoint(const std::string& path);

}  // namespace ulpscope::storage
