#include "core/engine/inputs.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"
#include "core/engine/raw_tensors.h"
#include "core/model/archive.h"
#include "core/model/positional_arguments.h"
#include "core/storage/input_digest.h"
#include "core/storage/input_file.h"
#include "core/storage/input_kind.h"
#include "core/storage/input_size.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// What a file of any kind gives, before it is matched with the model.
struct RawSet {
  std::map<std::string, at::Tensor> tensors;
  std::vector<NamedTensor> expected;
  std::vector<std::string> ids;
  std::vector<std::int64_t> labels;
  std::vector<std::string> classNames, kinds;
  std::string preprocessing;
  std::vector<std::string> unnamed;  // inputs in the order of forward's arguments, where nobody named them for it
};

Result<RawSet> readFile(const std::string& path) {
  auto file = storage::readInputFile(path);
  if (!file) return file.error();
  RawSet set;
  for (const auto& raw : file->inputs) {
    set.tensors.emplace(raw.name, toTensor(raw));
    if (!file->isNamed && raw.name != "targets") set.unnamed.push_back(raw.name);
  }
  for (const auto& raw : file->expected) set.expected.push_back({raw.name, toTensor(raw)});
  set.ids = file->sampleIds;
  set.labels = file->labels;
  set.classNames = file->classNames;
  set.kinds = file->kinds;
  set.preprocessing = file->preprocessing;
  return set;
}

std::vector<std::string> stringsOf(const c10::IValue& value) {
  std::vector<std::string> strings;
  for (const c10::IValue& v : value.toListRef()) strings.push_back(v.toStringRef());
  return strings;
}

// Fractions are no classes, and are not made some.
std::vector<std::int64_t> integersOf(const at::Tensor& tensor) {
  if (tensor.is_floating_point() && !tensor.equal(tensor.trunc())) throw std::runtime_error("'labels' holds numbers with a fraction, or NaN; of a regression they are called 'targets'");
  const at::Tensor flat = tensor.to(at::kLong).contiguous().view({-1});
  return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

// A module that holds tensors as buffers or attributes: inputs by name, expected_0.. with expected_names, labels, targets, sample_ids,
// class_names, sample_kinds, preprocessing.
Result<RawSet> readHolder(const std::string& path) {
  if (auto checked = model::checkArchive(path); !checked) {
    Error error = checked.error();
    error.remedy = "inputs are HDF5, npz, npy, safetensors, a folder of images, or tensors saved as `ulpscope snippet` shows";
    return error;
  }
  try {
    const torch::jit::Module holder = torch::jit::load(path, at::kCPU);
    RawSet set;
    std::map<std::size_t, at::Tensor> expected;
    std::vector<std::string> expectedNames;
    for (const auto& attribute : holder.named_attributes(/*recurse=*/false)) {
      const std::string& name = attribute.name;
      const c10::IValue& value = attribute.value;
      if (name == "training" || name == "_is_full_backward_hook") continue;
      if (value.isTensor() && name.rfind("expected_", 0) == 0)
        expected[static_cast<std::size_t>(std::atoi(name.c_str() + 9))] = value.toTensor();
      else if (value.isTensor() && name == "labels")
        set.labels = integersOf(value.toTensor());
      else if (value.isTensor())
        set.tensors.emplace(name, value.toTensor());
      else if (name == "sample_ids" && value.isList())
        set.ids = stringsOf(value);
      else if (name == "class_names" && value.isList())
        set.classNames = stringsOf(value);
      else if (name == "sample_kinds" && value.isList())
        set.kinds = stringsOf(value);
      else if (name == "preprocessing" && value.isString())
        set.preprocessing = value.toStringRef();
      else if (name == "expected_names" && value.isList())
        expectedNames = stringsOf(value);
    }
    for (const auto& [i, tensor] : expected)
      set.expected.push_back({i < expectedNames.size() ? expectedNames[i] : "output." + std::to_string(i), tensor});
    return set;
  } catch (const std::exception& e) {
    return Error{ErrorKind::input, "LibTorch cannot load it: " + plainMessage(e), path, "save the inputs as ulpscope snippet shows"};
  }
}

bool takesTensor(const model::Argument& argument) { return argument.type.find("Tensor") != std::string::npos; }

std::vector<std::string> argumentNames(const LoadedModel& model) {
  std::vector<std::string> names;
  for (const auto& a : model.info.arguments) names.push_back(a.name);
  return names;
}

bool isRequired(const model::Argument& argument) { return !argument.hasDefault && argument.type.rfind("Optional", 0) != 0; }

// Inputs that nobody named are forward's tensors in their order, unless they happen to be called as its arguments are.
Status nameByPosition(RawSet& raw, const LoadedModel& model, const std::string& path) {
  const std::vector<std::string> names = argumentNames(model);
  const auto isArgument = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (std::all_of(raw.unnamed.begin(), raw.unnamed.end(), isArgument)) return base::success();
  const std::vector<std::string> places = model::positionalArguments(model.info.arguments, !raw.labels.empty());
  std::size_t required = 0;
  for (const model::Argument& a : model.info.arguments)
    required += isRequired(a) && std::find(places.begin(), places.end(), a.name) != places.end() ? 1 : 0;
  const std::size_t count = raw.unnamed.size();
  if (count < required || count > places.size())
    return Error{ErrorKind::input, fmt::format("holds {} without a name, forward({}) takes {}", base::counted(static_cast<std::int64_t>(count), "array"), fmt::join(names, ", "),
                                               base::counted(static_cast<std::int64_t>(count < required ? required : places.size()), "tensor")),
                 path, places.empty() ? "give inputs that forward takes" : fmt::format("name them as its arguments: numpy.savez(F, {}=...)", fmt::join(places, "=..., "))};
  std::map<std::string, at::Tensor> named;
  for (std::size_t i = 0; i < count; ++i) named.emplace(places[i], raw.tensors.extract(raw.unnamed[i]).mapped());
  raw.tensors.merge(named);
  return base::success();
}

// A loss inside the model takes them as arguments.
void giveLabelsToForward(RawSet& raw, const LoadedModel& model) {
  const std::vector<std::string> names = argumentNames(model);
  if (raw.labels.empty() || std::find(names.begin(), names.end(), "labels") == names.end()) return;
  raw.tensors.emplace("labels", at::tensor(raw.labels, at::kLong));
}

Status checkNames(const RawSet& raw, const LoadedModel& model, const std::string& path) {
  const std::vector<std::string> names = argumentNames(model);
  const std::string signature = fmt::format("forward({})", fmt::join(names, ", "));
  for (const auto& [name, tensor] : raw.tensors)
    if (name != "targets" && std::find(names.begin(), names.end(), name) == names.end())
      return Error{ErrorKind::input, fmt::format("'{}' is no argument of {}", name, signature), path,
                   names.empty() ? "forward takes no inputs" : "name the inputs as forward's arguments: " + base::quotedChoice(base::nearestNames(name, names))};
  for (const auto& a : model.info.arguments) {
    const bool given = raw.tensors.count(a.name) > 0;
    if (!given && isRequired(a))
      return Error{ErrorKind::input, fmt::format("has no '{}', which {} needs", a.name, signature), path,
                   raw.tensors.empty() ? "the file holds no inputs at all" : "save every input under its argument's name"};
    if (given && !takesTensor(a) && a.type != "int" && a.type != "float" && a.type != "bool")
      return Error{ErrorKind::input, fmt::format("argument '{}' is a {}, which no inputs file can hold", a.name, a.type), path,
                   "wrap the model so that forward takes tensors"};
    if (given && a.type.find("List") != std::string::npos)
      return Error{ErrorKind::input, fmt::format("argument '{}' is a {}, a list of tensors", a.name, a.type), path,
                   "wrap the model so that forward takes each tensor by name"};
  }
  return base::success();
}

c10::IValue scalarArgument(const at::Tensor& tensor, const std::string& type) {
  if (type == "int") return tensor.to(at::kLong).item<std::int64_t>();
  if (type == "bool") return tensor.to(at::kBool).item<bool>();
  return tensor.to(at::kDouble).item<double>();
}

Result<int> sampleAxisOf(const session::RunSettings& settings, const std::string& name, const at::Tensor& tensor, const std::string& path) {
  const auto given = settings.batchAxis.find(name);
  const int axis = given == settings.batchAxis.end() ? 0 : given->second;
  if (axis < -1 || axis >= tensor.dim())
    return Error{ErrorKind::input, fmt::format("input '{}' has {} and no axis {} to count samples", name, base::counted(tensor.dim(), "dimension"), axis),
                 path, fmt::format("say --batch-axis {}=none if all samples share it", name)};
  return axis;
}

Status addInputs(RawSet& raw, const LoadedModel& model, const session::RunRequest& request, ReferenceSet& set) {
  std::string countedBy;
  std::int64_t samples = 0;
  for (const auto& a : model.info.arguments) {
    const auto found = raw.tensors.find(a.name);
    if (found == raw.tensors.end()) continue;
    InputTensor input;
    if (!takesTensor(a)) {
      if (found->second.numel() != 1)
        return Error{ErrorKind::input, fmt::format("argument '{}' is a {} and needs one number, not {}", a.name, a.type, found->second.numel()), request.inputsPath, ""};
      input.constant = scalarArgument(found->second, a.type);
      input.sampleAxis = -1;
    } else {
      input.tensor = found->second;
      if (input.tensor.layout() != at::kStrided || input.tensor.is_quantized())
        return Error{ErrorKind::input, fmt::format("input '{}' is a sparse or quantised tensor", a.name), request.inputsPath, "save it dense, in a plain dtype"};
      auto axis = sampleAxisOf(request.settings, a.name, input.tensor, request.inputsPath);
      if (!axis) return axis.error();
      input.sampleAxis = axis.value();
    }
    if (input.sampleAxis >= 0) {
      const std::int64_t count = input.tensor.size(input.sampleAxis);
      if (!countedBy.empty() && count != samples)
        return Error{ErrorKind::input, fmt::format("'{}' holds {}, '{}' {}", countedBy, base::counted(samples, "sample"), a.name, count), request.inputsPath,
                     fmt::format("give both as many, or say --batch-axis {}=D (its axis that counts samples) or --batch-axis {}=none", a.name, a.name)};
      countedBy = a.name;
      samples = count;
    }
    set.inputs.emplace(a.name, std::move(input));
  }
  if (countedBy.empty() || samples == 0)
    return Error{ErrorKind::input, "holds no samples", request.inputsPath, "give at least one sample"};
  set.samples.ids.resize(static_cast<std::size_t>(samples));
  return base::success();
}

Status addKinds(const RawSet& raw, const session::RunRequest& request, session::SampleSet& samples) {
  if (!raw.kinds.empty() && raw.kinds.size() != samples.ids.size())
    return Error{ErrorKind::input, fmt::format("holds {} for {}", base::counted(static_cast<std::int64_t>(raw.kinds.size()), "sample kind"), base::counted(static_cast<std::int64_t>(samples.ids.size()), "sample")),
                 request.inputsPath, "give one kind a sample"};
  for (const std::string& kind : raw.kinds)
    if (kind != "common" && kind != "edge" && kind != "boundary")
      return Error{ErrorKind::input, "'" + kind + "' is no kind of sample", request.inputsPath, "use common, edge or boundary"};
  samples.kinds = raw.kinds;
  samples.preprocessing = raw.preprocessing;
  return base::success();
}

// Of the labels file, or what the inputs file has beside the inputs.
Status addTruth(RawSet& raw, const session::RunRequest& request, session::SampleSet& samples) {
  const std::size_t count = samples.ids.size();
  samples.labels = raw.labels;
  if (const auto found = raw.tensors.find("targets"); found != raw.tensors.end()) {
    const at::Tensor flat = found->second.to(at::kDouble).contiguous().view({-1});
    samples.targets.assign(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  }
  if (!request.labelsPath.empty()) {
    auto truth = storage::readTruth(request.labelsPath);
    if (!truth) return truth.error();
    samples.labels = std::move(truth->labels);
    samples.targets = std::move(truth->targets);
  }
  const std::string& path = request.labelsPath.empty() ? request.inputsPath : request.labelsPath;
  const bool regression = request.settings.decision.kind == session::DecisionRule::Kind::regression;
  if (regression && samples.targets.empty()) samples.targets.assign(samples.labels.begin(), samples.labels.end());
  if (request.settings.decision.decides() && !request.labelsPath.empty() && samples.labels.empty())
    return Error{ErrorKind::input, "holds numbers with a fraction, which are no classes", path, "give whole numbers, or use --decision regression"};
  if (std::any_of(samples.targets.begin(), samples.targets.end(), [](double t) { return !std::isfinite(t); }))
    return Error{ErrorKind::input, "holds a target that is NaN or infinite", path, "give every sample a finite target"};
  const auto texts = [&](std::size_t n, const char* noun) {
    return fmt::format("{} for {}", base::counted(static_cast<std::int64_t>(n), noun), base::counted(static_cast<std::int64_t>(count), "sample"));
  };
  if (!samples.labels.empty() && samples.labels.size() != count) return Error{ErrorKind::input, texts(samples.labels.size(), "label"), path, "give one label a sample"};
  if (samples.targets.size() % count != 0) return Error{ErrorKind::input, texts(samples.targets.size(), "target"), path, "give each sample the same number of targets"};
  return base::success();
}

Status addSampleNames(RawSet& raw, const session::RunRequest& request, session::SampleSet& samples) {
  const std::size_t count = samples.ids.size();
  if (!raw.ids.empty() && raw.ids.size() != count)
    return Error{ErrorKind::input, fmt::format("holds {} and {} sample ids", base::counted(static_cast<std::int64_t>(count), "sample"), raw.ids.size()), request.inputsPath, "give one id a sample"};
  for (std::size_t i = 0; i < count; ++i) samples.ids[i] = raw.ids.empty() ? std::to_string(i) : raw.ids[i];
  if (const std::set<std::string> unique(samples.ids.begin(), samples.ids.end()); unique.size() != count || unique.count(""))
    return Error{ErrorKind::input, "has sample ids that are empty or stand twice", request.inputsPath, "give every sample an id of its own"};
  samples.classNames = raw.classNames;
  if (!request.classNamesPath.empty()) {
    auto names = storage::readClassNames(request.classNamesPath);
    if (!names) return names.error();
    samples.classNames = std::move(names).value();
  }
  if (auto truth = addTruth(raw, request, samples); !truth) return truth;
  return addKinds(raw, request, samples);
}

// The rows of some samples, `width` entries each; of nothing, nothing.
template <typename T>
std::vector<T> rowsOf(const std::vector<T>& column, const std::vector<std::int64_t>& samples, std::size_t width) {
  std::vector<T> rows;
  for (const std::int64_t sample : samples)
    for (std::size_t i = 0; i < width && !column.empty(); ++i) rows.push_back(column[static_cast<std::size_t>(sample) * width + i]);
  return rows;
}

}  // namespace

Result<ReferenceSet> loadReferenceSet(const session::RunRequest& request, const LoadedModel& model) {
  const auto kind = storage::inputKindOf(request.inputsPath);
  if (!kind) return kind.error();
  if (auto fits = storage::checkFitsMemory(request.inputsPath); !fits) return fits.error();
  auto hash = storage::inputsDigest(request.inputsPath);
  if (!hash) return hash.error();
  auto raw = kind.value() == storage::InputKind::holder ? readHolder(request.inputsPath) : readFile(request.inputsPath);
  if (!raw) return raw.error();
  if (auto named = nameByPosition(raw.value(), model, request.inputsPath); !named) return named.error();
  giveLabelsToForward(raw.value(), model);
  if (auto named = checkNames(raw.value(), model, request.inputsPath); !named) return named.error();
  for (const auto& [name, axis] : request.settings.batchAxis)
    if (raw->tensors.count(name) == 0)
      return Error{ErrorKind::usage, fmt::format("'{}' is no input of {}", name, request.inputsPath), "--batch-axis", "name an argument of forward"};
  ReferenceSet set;
  set.samples.path = request.inputsPath;
  set.samples.sha256 = hash.value();
  set.samples.labelsPath = request.labelsPath;
  set.samples.classNamesPath = request.classNamesPath;
  if (auto added = addInputs(raw.value(), model, request, set); !added) return added.error();
  if (auto named = addSampleNames(raw.value(), request, set.samples); !named) return named.error();
  set.expected = std::move(raw->expected);
  return set;
}

Status restrictTo(ReferenceSet& set, const std::vector<std::string>& ids) {
  const std::vector<std::string> all = set.samples.ids;
  std::vector<std::int64_t> chosen;
  for (const std::string& id : ids) {
    const auto at = std::find(all.begin(), all.end(), id);
    if (at == all.end())
      return Error{ErrorKind::usage, "is no sample id of the inputs", "--only-samples " + id, "the nearest are " + base::quotedChoice(base::nearestNames(id, all))};
    chosen.push_back(at - all.begin());
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  const at::Tensor index = at::tensor(chosen, at::kLong);
  for (auto& [name, input] : set.inputs)
    if (input.tensor.defined() && input.sampleAxis >= 0) input.tensor = input.tensor.index_select(input.sampleAxis, index);
  set.samples.ids = rowsOf(all, chosen, 1);
  set.samples.labels = rowsOf(set.samples.labels, chosen, 1);
  set.samples.kinds = rowsOf(set.samples.kinds, chosen, 1);
  set.samples.targets = rowsOf(set.samples.targets, chosen, set.samples.targets.size() / all.size());
  set.chosen = std::move(chosen);
  return base::success();
}

Arguments argumentsFor(const ReferenceSet& set, const std::vector<std::int64_t>& samples) {
  const at::Tensor index = at::tensor(samples, at::kLong);
  Arguments arguments;
  for (const auto& [name, input] : set.inputs) {
    if (!input.tensor.defined())
      arguments.emplace(name, input.constant);
    else
      arguments.emplace(name, input.sampleAxis < 0 ? input.tensor : input.tensor.index_select(input.sampleAxis, index));
  }
  return arguments;
}

// Views where they can be: every forward takes copies of its own.
Arguments argumentsFor(const ReferenceSet& set, Batch batch) {
  Arguments arguments;
  for (const auto& [name, input] : set.inputs) {
    if (!input.tensor.defined())
      arguments.emplace(name, input.constant);
    else
      arguments.emplace(name, input.sampleAxis < 0 ? input.tensor : input.tensor.narrow(input.sampleAxis, batch.first, batch.size).contiguous());
  }
  return arguments;
}

}  // namespace ulpscope::engine
