#include "run_options.h"

#include "core/session/criteria.h"
#include "core/session/lineage.h"
#include "core/session/sample_choice.h"
#include "core/storage/session_store.h"
#include "option_number.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <filesystem>
#include <limits>

namespace ulpscope::cli {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr NumberRange kAxes{0, 63};  // LibTorch's iterators take 64 dimensions

Error usage(const std::string& which, const std::string& what, const std::string& remedy = "") {
  return Error{ErrorKind::usage, what, which, remedy};
}

std::string absolute(const std::string& path) { return path.empty() ? path : fs::absolute(path).lexically_normal().string(); }

Status setAutocast(const RunWords& words, session::RunSettings& settings) {
  if (words.autocast == "fp16")
    settings.autocast = base::DType::float16;
  else if (words.autocast == "bf16")
    settings.autocast = base::DType::bfloat16;
  else
    return usage("--autocast " + words.autocast, "is no autocast type", "use fp16 or bf16");
  const std::string native = words.mode == "native" ? "cpu" : "cuda";
  const std::string policy = words.policy.empty() ? native : words.policy;
  const std::string device = policy.substr(0, policy.find('@'));
  if ((device != "cuda" && device != "cpu") || policy.back() == '@')
    return usage("--policy " + policy, "is no policy", "use cuda or cpu, or a table of one PyTorch series, such as cuda@2.6");
  settings.policyTable = policy;
  return base::success();
}

// The words are right, but this version has no engine for them: not a usage error.
Status setMode(const RunWords& words, session::RunSettings& settings) {
  if (words.mode != "emulated" && words.mode != "native") return usage("--mode " + words.mode, "is no mode", "use emulated or native");
  if (words.device != "cpu" && words.device != "cuda") return usage("--device " + words.device, "is no device", "use cpu");
  if (words.device == "cuda")
    return Error{ErrorKind::input, "is not in this version", "--device cuda", "use --device cpu, which emulates CUDA autocast"};
  settings.mode = words.mode == "native" ? session::Mode::native : session::Mode::emulated;
  settings.device = words.device;
  return base::success();
}

Status setDecision(const RunWords& words, session::RunSettings& settings) {
  auto rule = session::parseDecisionRule(words.decision);
  if (!rule) return rule.error();
  settings.decision = rule.value();
  settings.decisionOutput = words.decisionOutput;
  const auto tie = session::tieRuleFromName(words.tie);
  if (!tie) return usage("--tie " + words.tie, "is no tie rule", "use first, flag or refuse");
  settings.tie = *tie;
  return base::success();
}

Status setBatchAxis(const RunWords& words, session::RunSettings& settings) {
  for (const std::string& word : words.batchAxis) {
    const auto equals = word.find('=');
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const bool number = !value.empty() && value.find_first_not_of("-0123456789") == std::string::npos;
    if (equals == 0 || (value != "none" && !number))
      return usage("--batch-axis " + word, "is not of the form NAME=D", "use the argument's name and the axis that counts samples, or NAME=none");
    const auto axis = number ? wholeNumber(value, "--batch-axis " + word, kAxes) : Result<std::uint64_t>(0);
    if (!axis) return axis.error();
    if (!settings.batchAxis.emplace(word.substr(0, equals), number ? static_cast<int>(axis.value()) : -1).second)
      return usage("--batch-axis " + word, "names an argument twice");
  }
  return base::success();
}

Status setNumbers(const RunWords& words, session::RunSettings& settings) {
  const auto batchSize = wholeNumber(words.batchSize, "--batch-size " + words.batchSize, {1, std::numeric_limits<int>::max()});
  if (!batchSize) return batchSize.error();
  const auto seed = wholeNumber(words.seed, "--seed " + words.seed, {0, std::numeric_limits<std::uint64_t>::max()});
  if (!seed) return seed.error();
  settings.batchSize = static_cast<int>(batchSize.value());
  settings.seed = seed.value();
  settings.trainMode = words.train;
  settings.castCache = !words.noCastCache;
  settings.verifyProbe = words.verifyProbe;
  settings.fp32 = words.fp32;
  settings.disable = words.disable;
  settings.allowNonfinite = words.allowNonfinite;
  for (const auto* list : {&words.fp32, &words.disable})
    for (const std::string& path : *list)
      if (path.empty()) return usage(list == &words.fp32 ? "--fp32" : "--disable", "got an empty module path", "the whole model is '.'");
  return base::success();
}

Status setObserved(const RunWords& words, session::RunSettings& settings) {
  const auto observe = session::observeFromName(words.observe);
  if (!observe) return usage("--observe " + words.observe, "is nothing to observe", "use outputs, stats or full");
  settings.observe = *observe;
  settings.noiseFloor = !words.noNoiseFloor;
  settings.referee = words.referee;
  settings.capture = words.capture;
  for (const std::string& pattern : words.capture)
    if (pattern.empty()) return usage("--capture", "got an empty pattern", "everything is '*'");
  const auto budget = byteSize(words.captureBudget, "--capture-budget " + words.captureBudget);
  if (!budget) return budget.error();
  settings.captureBudget = budget.value();
  if (settings.observe == session::Observe::outputs && !words.capture.empty())
    return usage("--observe outputs", "looks at no op, so there is nothing to --capture", "use --observe stats or full");
  return base::success();
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// A word of the command may say the same as the criteria fix, not something else.
Status applyCriteria(const session::Criteria& criteria, const RunWords& words, session::RunSettings& settings) {
  const auto conflict = [](const std::string& option, const std::string& fixed) { return usage(option, "the criteria fix another: " + fixed, "leave it out"); };
  if (criteria.decision && words.decision != "none" && words.decision != criteria.decision->text()) return conflict("--decision " + words.decision, criteria.decision->text());
  if (!criteria.decisionOutput.empty() && !words.decisionOutput.empty() && words.decisionOutput != criteria.decisionOutput)
    return conflict("--decision-output " + words.decisionOutput, criteria.decisionOutput);
  if (criteria.tie && words.tie != "first" && words.tie != session::name(*criteria.tie)) return conflict("--tie " + words.tie, session::name(*criteria.tie));
  if (!words.allowNonfinite.empty()) return usage("--allow-nonfinite " + words.allowNonfinite.front(), "the criteria fix what is intended", "name it in their allow_nonfinite before they are locked");
  session::takeOver(criteria, settings);
  return base::success();
}

// After setSession: those of the session are locked, and a file must be the same.
Status setCriteria(const RunWords& words, RunOrder& order) {
  session::RunRequest& request = order.request;
  if (!words.criteria.empty()) {
    const auto criteria = session::readCriteria(words.criteria);
    if (!criteria) return criteria.error();
    request.criteria = criteria->canonical;
    if (auto applied = applyCriteria(criteria.value(), words, request.settings); !applied) return applied;
  } else if (request.append && exists(request.sessionPath)) {
    const auto session = storage::openSession(request.sessionPath);
    if (!session) return session.error();
    if (session->exploratory()) return base::success();
    if (auto untouched = session::checkUntouched(session->criteria.back()); !untouched) return untouched.error().within(request.sessionPath);
    const auto criteria = session::criteriaFromText(session->criteria.back().canonical);
    if (!criteria) return criteria.error();
    if (auto applied = applyCriteria(criteria.value(), words, request.settings); !applied) return applied;
  }
  if (words.explored.empty()) return base::success();
  if (words.criteria.empty()) return usage("--explored", "goes with --criteria: it says what was known when they were written", "leave it out, or add --criteria F");
  const auto explored = storage::openSession(words.explored);
  if (!explored) return explored.error();
  request.explored = session::lineageOf(explored.value());
  return base::success();
}

// After setSession: flips and the like are those of a session that exists.
Status setOnlySamples(const RunWords& words, RunOrder& order) {
  session::RunRequest& request = order.request;
  if (words.onlySamples.empty()) return base::success();
  if (!session::choosesFromRun(words.onlySamples)) {
    auto ids = session::sampleIdsIn(words.onlySamples);
    if (!ids) return ids.error();
    request.settings.onlySamples = ids.value();
    return base::success();
  }
  if (!request.append || !exists(request.sessionPath))
    return usage("--only-samples " + words.onlySamples, "chooses from an earlier run", "name a session that has one with --session F --append");
  auto session = storage::openSession(request.sessionPath);
  if (!session) return session.error();
  auto choice = session::chooseSamples(session.value(), words.onlySamples, request.settings.autocast);
  if (!choice) return choice.error();
  request.settings.onlySamples = choice->ids;
  order.onlySamplesWord = words.onlySamples;
  const std::string kind = words.onlySamples == "flips" ? "no flips" : "no non-finite samples";
  if (choice->ids.empty()) order.nothingToDo = choice->runId + ", the latest whole run, has " + kind + ": nothing to do";
  return base::success();
}

Status setAccumulate(const RunWords& words, session::RunSettings& settings) {
  if (words.accumulate.empty()) return base::success();
  settings.accumulate = session::accumulateFromName(words.accumulate);
  if (!settings.accumulate) return usage("--accumulate " + words.accumulate, "is no way to add up", "use strict or pessimistic");
  if (settings.mode == session::Mode::native || settings.policyTable.rfind("cuda", 0) != 0)
    return usage("--accumulate", "is about GPUs: it goes with emulated CUDA autocast only", "leave it out, or use --policy cuda");
  return base::success();
}

Status setFailOn(const RunWords& words, RunOrder& order) {
  for (const std::string& finding : words.failOn) {
    if (finding == "nonfinite")
      order.failOnNonfinite = true;
    else if (finding == "flip")
      order.failOnFlip = true;
    else
      return usage("--fail-on " + finding, "is no finding", "use nonfinite, flip or both: nonfinite,flip");
  }
  if (order.failOnFlip && !order.request.settings.decision.decides())
    return usage("--fail-on flip", "needs a decision, without one nothing can flip", "add --decision argmax");
  return base::success();
}

Status setSession(const RunWords& words, session::RunRequest& request) {
  if (words.session == "-") return usage("--session -", "a session cannot go to standard output", "name a file");
  const std::string dtype = request.settings.autocast == base::DType::bfloat16 ? "bf16" : "fp16";
  const std::string chosen = words.session.empty() ? fs::path(words.model).stem().string() + "-" + dtype + ".ulps" : words.session;
  request.sessionPath = absolute(chosen);
  std::error_code ignored;
  // While it is written the name is longer.
  if (static_cast<void>(fs::symlink_status(request.sessionPath + ".part", ignored)); ignored == std::errc::filename_too_long)
    return usage(chosen, "is too long for a session's name", "name another with --session");
  if (exists(request.sessionPath) && !words.append)
    return usage(chosen, "the session exists", "add the run to it with --append, or name another with --session");
  request.append = words.append;
  const fs::path folder = fs::path(request.sessionPath).parent_path();
  if (!fs::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK) != 0)
    return usage(chosen, "no session can be written in " + folder.string(), "name another with --session");
  return base::success();
}

}  // namespace

CLI::Option* addList(CLI::App& command, const std::string& name, std::vector<std::string>& values, const std::string& help) {
  return command.add_option(name, values, help)->allow_extra_args(false)->take_all();
}

void addRunOptions(CLI::App& command, RunWords& words) {
  command.add_option("MODEL", words.model, "TorchScript file (.pt, .ts)");
  command.add_option("--inputs", words.inputs, "inputs: HDF5, npz, npy, safetensors, a TorchScript module that holds tensors, or a folder of images with a preprocessing.json")->type_name("F");
  command.add_option("--labels", words.labels, "true classes ('labels' of an inputs file, an npy, or one whole number a line) or, for regression, values ('targets', an npy, or one number a line)")->type_name("F");
  command.add_option("--class-names", words.classNames, "names of the classes, one a line, or 'class_names' of an inputs file")->type_name("F");
  command.add_option("--autocast", words.autocast, "fp16 (default) or bf16")->type_name("TYPE");
  command.add_option("--policy", words.policy, "whose autocast lists: cuda (default) or cpu, the newest known; or of one series: cuda@1.13, cuda@2.6, cpu@2.6 ...")->type_name("P");
  command.add_option("--mode", words.mode, "emulated (default): what that autocast does, on any CPU; native: LibTorch's own CPU autocast (--autocast bf16)")->type_name("M");
  command.add_option("--device", words.device, "cpu")->type_name("D");
  command.add_option("--batch-size", words.batchSize, "samples a forward (default 32)")->type_name("N");
  addList(command, "--fp32", words.fp32, "keep this module in FP32, its inputs cast to float32 (repeatable, globs, '.' is all)")->type_name("PATH");
  addList(command, "--disable", words.disable, "autocast off in this module, its inputs as they are (repeatable)")->type_name("PATH");
  command.add_option("--decision", words.decision, "none (default), argmax[:DIM], argmin[:DIM], topk:K[:DIM], threshold:T[:gt|ge], exact or regression")->type_name("R");
  command.add_option("--decision-output", words.decisionOutput, "output that the decision is read off")->type_name("NAME");
  command.add_option("--tie", words.tie, "equal best scores: first (default), flag or refuse")->type_name("RULE");
  command.add_flag("--no-cast-cache", words.noCastCache, "cast parameters anew at every use");
  addList(command, "--batch-axis", words.batchAxis, "axis of an input that counts samples: NAME=D, or NAME=none (repeatable)")->type_name("NAME=D");
  command.add_option("--seed", words.seed, "of the model's random ops (default 0)")->type_name("N");
  command.add_flag("--train", words.train, "run the model in train mode");
  command.add_option("--observe", words.observe, "outputs: outputs and decisions only, to screen a large set; stats: every op's numbers; full (default): and what each op adds by itself")->type_name("WHAT");
  addList(command, "--capture", words.capture, "store these activations of both runs: a module path, a glob ('*' is all) or an op site (repeatable)")->type_name("GLOB");
  command.add_option("--capture-budget", words.captureBudget, "at most this much of them (default 1GiB); what is left out is listed")->type_name("SIZE");
  command.add_option("--only-samples", words.onlySamples, "flips, near:N (the N smallest FP32 margins) or nonfinite of the session's latest whole run (one over all samples); or sample ids: a,b or '[\"a,b\",\"c\"]' where ids hold commas")->type_name("WHICH");
  command.add_flag("--no-noise-floor", words.noNoiseFloor, "do not run FP32 once more in another sample order (faster)");
  command.add_flag("--referee", words.referee, "measure both runs against one more in float64");
  command.add_option("--accumulate", words.accumulate, "long sums in float32 (strict) or in parts rounded to the low dtype, as a GPU may do (pessimistic); given, both ends are told")->type_name("WAY");
  command.add_flag("--verify-probe", words.verifyProbe, "check that observing does not change the outputs");
  addList(command, "--fail-on", words.failOn, "exit 1 on a finding: nonfinite, flip or nonfinite,flip")->delimiter(',')->type_name("WHAT");
  command.add_option("--criteria", words.criteria, "acceptance criteria, locked before the first op runs; the exit code is the verdict's (see `ulpscope criteria`)")->type_name("F");
  command.add_option("--explored", words.explored, "the exploratory session that this validation comes from")->type_name("SESSION");
  addList(command, "--allow-nonfinite", words.allowNonfinite, "NaN or inf that FP32 itself has there is intended: input:NAME, parameter:NAME, a module or an op site (repeatable)")->type_name("SITE");
  command.add_option("--session", words.session, "where the session goes (default ./MODEL-fp16.ulps)")->type_name("OUT.ulps");
  command.add_flag("--append", words.append, "the session may exist: add one more run (it is made if it does not)");
  command.add_option("--json", words.json, "write the run document to F ('-': standard output)")->type_name("F");
}

Result<RunOrder> orderFrom(const RunWords& words) {
  if (words.model.empty()) return usage("run", "which model? MODEL is missing", "for instance: ulpscope run model.ts --inputs inputs.h5");
  if (words.inputs.empty()) return usage("run", "on which inputs? --inputs F is missing", "`ulpscope snippet` prints Python lines that save them");
  RunOrder order;
  order.json = words.json;
  session::RunSettings& settings = order.request.settings;
  for (const auto& set : {setAutocast, setMode, setDecision, setBatchAxis, setNumbers, setObserved, setAccumulate})
    if (const Status good = set(words, settings); !good) return good.error();
  order.request.modelPath = absolute(words.model);
  order.request.inputsPath = absolute(words.inputs);
  order.request.labelsPath = absolute(words.labels);
  order.request.classNamesPath = absolute(words.classNames);
  if (const Status good = setSession(words, order.request); !good) return good.error();
  if (const Status good = setCriteria(words, order); !good) return good.error();
  if (const Status good = setFailOn(words, order); !good) return good.error();
  if (const Status good = setOnlySamples(words, order); !good) return good.error();
  return order;
}

}  // namespace ulpscope::cli
