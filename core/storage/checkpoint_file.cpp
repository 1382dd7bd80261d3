#include "core/storage/checkpoint_file.h"

#include "core/base/number_text.h"
#include "core/storage/format_header.h"
#include "core/storage/h5_data.h"
#include "core/storage/stored_tensors.h"
#include "core/storage/structure.h"

#include <fmt/format.h>

#include <bit>

namespace ulpscope::storage {
namespace {

constexpr const char* kKind = "ulpscope-checkpoint";
constexpr const char* kEntry = "checkpoint";
constexpr const char* kOptimizers = "optimizers";
constexpr const char* kScaler = "scaler";
constexpr const char* kDamaged = "the file is damaged; restore it from a copy";

struct TextField {
  const char* name;
  std::string TrainingCheckpoint::*value;
};
constexpr TextField kTextAttributes[] = {{"created", &TrainingCheckpoint::createdUtc},
                                         {"creator_version", &TrainingCheckpoint::creatorVersion},
                                         {"libtorch", &TrainingCheckpoint::libtorchVersion},
                                         {"policy_table", &TrainingCheckpoint::policyTable},
                                         {"model_fingerprint", &TrainingCheckpoint::modelFingerprint},
                                         {"inputs_sha256", &TrainingCheckpoint::inputsSha256}};
constexpr TextField kTexts[] = {{"recipe", &TrainingCheckpoint::recipe},
                                {"attributes", &TrainingCheckpoint::attributes},
                                {"trajectory", &TrainingCheckpoint::trajectory},
                                {"events", &TrainingCheckpoint::events},
                                {"resumes", &TrainingCheckpoint::resumes}};

struct CountField {
  const char* name;
  std::int64_t TrainingCheckpoint::*value;
};
constexpr CountField kCounts[] = {{"step", &TrainingCheckpoint::step},
                                  {"micro_batches", &TrainingCheckpoint::microBatches},
                                  {"scheduler_steps", &TrainingCheckpoint::schedulerSteps},
                                  {"applied_updates", &TrainingCheckpoint::appliedUpdates},
                                  {"scalers_made", &TrainingCheckpoint::scalersMade}};

struct TensorField {
  const char* name;
  std::vector<RawTensor> TrainingCheckpoint::*value;
};
constexpr TensorField kTensors[] = {{"parameters", &TrainingCheckpoint::parameters},
                                    {"buffers", &TrainingCheckpoint::buffers},
                                    {"gradients", &TrainingCheckpoint::gradients},
                                    {"tensor_attributes", &TrainingCheckpoint::tensorAttributes}};

std::string optimizerGroup(std::size_t index) { return fmt::format("{:04}", index); }

void writeScaler(hid_t entry, const std::map<std::string, double>& scaler) {
  std::vector<std::string> keys;
  std::vector<double> values;
  for (const auto& [key, value] : scaler) {
    keys.push_back(checkedText(key, kScaler));
    values.push_back(value);
  }
  const h5::Group group = h5::createGroup(entry, kScaler, "NXcollection");
  h5::writeColumn(group, "keys", keys);
  h5::writeColumn(group, "values", values);
}

std::map<std::string, double> readScaler(hid_t entry) {
  const h5::Group group = h5::openGroup(entry, kScaler);
  const auto keys = h5::readTexts(group, "keys");
  const auto values = h5::readDoubles(group, "values");
  h5::ofLength(values, keys.size(), "scaler, values");
  std::map<std::string, double> scaler;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!scaler.emplace(keys[i], values[i]).second) h5::fail("stands there twice", "scaler, " + keys[i], kDamaged);
  return scaler;
}

// All parameters' tensors are one list, with a column that says whose each is: a group a parameter would be many groups.
void writeOptimizer(hid_t parent, const std::string& name, const OptimizerState& optimizer) {
  const h5::Group group = h5::createGroup(parent, name, "NXcollection");
  h5::writeAttribute(group, "name", checkedText(optimizer.name, kOptimizers));
  h5::writeAttribute(group, "type", checkedText(optimizer.type, kOptimizers));
  std::vector<std::string> names;
  std::vector<std::int64_t> steps, owners;
  std::vector<const RawTensor*> tensors;
  for (const ParameterState& parameter : optimizer.parameters) {
    owners.insert(owners.end(), parameter.tensors.size(), static_cast<std::int64_t>(names.size()));
    for (const RawTensor& tensor : parameter.tensors) tensors.push_back(&tensor);
    names.push_back(checkedText(parameter.name, kOptimizers));
    steps.push_back(parameter.step);
  }
  h5::writeColumn(group, "parameters", names);
  h5::writeColumn(group, "steps", steps);
  h5::writeColumn(group, "state_of", owners);
  writeTensors(group, "state", tensors);
}

OptimizerState readOptimizer(hid_t parent, const std::string& name) {
  const h5::Group group = h5::openGroup(parent, name);
  OptimizerState optimizer{h5::readTextAttribute(group, "name"), h5::readTextAttribute(group, "type"), {}};
  const auto names = h5::readTexts(group, "parameters");
  const auto steps = h5::readIntegers(group, "steps"), owners = h5::readIntegers(group, "state_of");
  auto tensors = readTensors(group, "state");
  h5::ofLength(steps, names.size(), "steps");
  h5::ofLength(owners, tensors.size(), "state_of");
  for (std::size_t i = 0; i < names.size(); ++i) optimizer.parameters.push_back({names[i], steps[i], {}});
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (owners[i] < last || owners[i] >= static_cast<std::int64_t>(names.size())) h5::fail("names a parameter that is not there, or not in order", "state_of", kDamaged);
    last = owners[i];
    optimizer.parameters[static_cast<std::size_t>(last)].tensors.push_back(std::move(tensors[i]));
  }
  return optimizer;
}

void writeOptimizers(hid_t entry, const std::vector<OptimizerState>& optimizers) {
  const h5::Group group = h5::createGroup(entry, kOptimizers, "NXcollection");
  h5::writeAttribute(group, "count", static_cast<std::int64_t>(optimizers.size()));
  for (std::size_t i = 0; i < optimizers.size(); ++i) writeOptimizer(group, optimizerGroup(i), optimizers[i]);
}

std::vector<OptimizerState> readOptimizers(hid_t entry) {
  const h5::Group group = h5::openGroup(entry, kOptimizers);
  const std::size_t stored = h5::links(group).size();
  if (h5::readIntegerAttribute(group, "count") != static_cast<std::int64_t>(stored)) h5::fail("are not as many as were written", kOptimizers, kDamaged);
  std::vector<OptimizerState> optimizers;
  for (std::size_t i = 0; i < stored; ++i) {
    try {
      optimizers.push_back(readOptimizer(group, optimizerGroup(i)));
    } catch (const h5::Failure& failure) {
      throw h5::Failure{failure.error.within(std::string(kOptimizers) + ", " + optimizerGroup(i))};
    }
  }
  return optimizers;
}

void writeEntry(hid_t entry, const TrainingCheckpoint& checkpoint) {
  h5::writeAttribute(entry, "title", "after " + base::counted(checkpoint.step, "step"));
  for (const TextField& field : kTextAttributes) h5::writeAttribute(entry, field.name, checkedText(checkpoint.*field.value, field.name));
  for (const CountField& field : kCounts) h5::writeAttribute(entry, field.name, checkpoint.*field.value);
  h5::writeAttribute(entry, "seed", std::bit_cast<std::int64_t>(checkpoint.seed));  // torch.manual_seed takes either
  for (const TextField& field : kTexts) h5::writeText(entry, field.name, checkedText(checkpoint.*field.value, field.name));
  writeTensor(entry, "generator", {"generator", base::DType::uint8, {static_cast<std::int64_t>(checkpoint.generator.size())}, checkpoint.generator});
  if (checkpoint.scaler) writeScaler(entry, *checkpoint.scaler);
  for (const TensorField& field : kTensors) writeTensors(entry, field.name, checkpoint.*field.value);
  writeOptimizers(entry, checkpoint.optimizers);
}

TrainingCheckpoint readEntry(hid_t entry) {
  TrainingCheckpoint checkpoint;
  for (const TextField& field : kTextAttributes) checkpoint.*field.value = h5::readTextAttribute(entry, field.name);
  for (const CountField& field : kCounts) {
    checkpoint.*field.value = h5::readIntegerAttribute(entry, field.name);
    if (checkpoint.*field.value < 0) h5::fail("is negative", std::string("attribute ") + field.name, kDamaged);
  }
  checkpoint.seed = std::bit_cast<std::uint64_t>(h5::readIntegerAttribute(entry, "seed"));
  for (const TextField& field : kTexts) checkpoint.*field.value = h5::readText(entry, field.name);
  RawTensor generator = readStoredTensor(entry, "generator");
  if (generator.dtype != base::DType::uint8 || generator.shape.size() != 1) h5::fail("is no list of bytes", "generator", kDamaged);
  checkpoint.generator = std::move(generator.bytes);
  if (h5::hasLink(entry, kScaler)) checkpoint.scaler = readScaler(entry);
  for (const TensorField& field : kTensors) checkpoint.*field.value = readTensors(entry, field.name);
  checkpoint.optimizers = readOptimizers(entry);
  return checkpoint;
}

// What a user may have named instead.
void refuseOtherKinds(hid_t file) {
  const std::string kind = h5::hasAttribute(file, "file_format") ? h5::readTextAttribute(file, "file_format") : "";
  const char* remedy = "name one of its checkpoints: SESSION.ulps.d/train-NNNN.checkpoints/step-NNNNNNNN.h5";
  if (kind.starts_with("ulpscope-session/")) h5::fail("is a session, not a training's checkpoint", "", remedy);
  if (kind.starts_with("ulpscope-metrics/") || kind.starts_with("ulpscope-tensors/")) h5::fail("is a file of a run, not a training's checkpoint", "", "name a training's checkpoint: train-NNNN.checkpoints/step-NNNNNNNN.h5");
}

}  // namespace

std::vector<std::byte> checkpointImage(const TrainingCheckpoint& checkpoint) {
  const h5::File file = h5::createInMemory();
  writeHeader(file, kKind, kCheckpointFormat);
  h5::writeAttribute(file, "default", kEntry);
  writeEntry(h5::createGroup(file, kEntry, "NXentry"), checkpoint);
  return h5::imageOf(file);
}

void checkCheckpointKind(hid_t file) {
  refuseOtherKinds(file);
  checkHeader(file, kKind, kCheckpointFormat);
}

TrainingCheckpoint readCheckpointFile(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::none);
  checkCheckpointKind(file);
  refuseStrangeStructure(file, Links::none);
  return readEntry(h5::openGroup(file, kEntry));
}

}  // namespace ulpscope::storage
