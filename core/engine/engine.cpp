#include "core/engine/engine.h"

#include "core/engine/benchmark_run.h"
#include "core/engine/blas_threads.h"
#include "core/engine/fused_layers.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/op_kernels.h"
#include "core/engine/policy_table.h"
#include "core/engine/run_driver.h"
#include "core/engine/scan_driver.h"
#include "core/engine/scan_settings.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/version.h>
#include <sys/stat.h>

#include <optional>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

// A file is the same one while path, size, and change time are.
struct FileStamp {
  std::string path;
  long long sizeBytes = -1, seconds = 0, nanoseconds = 0, inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp stampOf(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return {path};
  return {path, static_cast<long long>(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec, static_cast<long long>(s.st_ino)};
}

// The two runs have a thread each; OpenBLAS's own pool on top of them would only contend.
void limitBlasThreads() { setBlasThreads(1); }

std::string blasName() {
  if (auto* config = reinterpret_cast<char* (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_config"))) return config();
  return "";
}

Error internalError(const std::exception& e) {
  return Error{ErrorKind::run, "the engine failed: " + plainMessage(e), "run", "please report it with the model"};
}

Error outOfMemory(const std::string& which) { return Error{ErrorKind::run, "out of memory", which, "use a smaller --batch-size"}; }

}  // namespace

struct Engine::Cache {
  FileStamp stamp;
  std::optional<LoadedModel> model;
  int machineThreads = at::get_num_threads();  // before a run changes it

  void forget() { model.reset(); }

  Result<const LoadedModel*> load(const std::string& path) {
    const FileStamp wanted = stampOf(path);
    if (!model || !(wanted == stamp)) {
      model.reset();
      auto loaded = loadModel(path);
      if (!loaded) return loaded.error();
      model = std::move(loaded).value();
      stamp = wanted;
    }
    return &*model;
  }
};

Engine::Engine() : m_cache(std::make_unique<Cache>()) { limitBlasThreads(); }
Engine::~Engine() = default;

EngineFacts Engine::facts() { return {TORCH_VERSION, policyTableNames(), at::get_num_threads(), blasName()}; }

namespace {

// Native runs follow the lists of the LibTorch that runs, whatever others are known.
Result<const PolicyTable*> nativeTable(const session::RunSettings& settings) {
  const PolicyTable& own = TORCH_VERSION_MAJOR >= 2 ? cpu26() : cpu113();
  if (settings.policyTable != "cpu" && settings.policyTable != own.name())
    return Error{ErrorKind::usage, "does not go with --mode native, which follows LibTorch " TORCH_VERSION "'s own lists for the CPU", "--policy " + settings.policyTable,
                 "leave it out, or use --mode emulated"};
  if (settings.autocast == base::DType::float16 && &own == &cpu113())
    return Error{ErrorKind::usage, "LibTorch " TORCH_VERSION " has no FP16 autocast on the CPU", "--mode native --autocast fp16", "use --autocast bf16, or --mode emulated"};
  return &own;
}

Result<const PolicyTable*> tableFor(const session::RunSettings& settings) {
  if (settings.mode == session::Mode::recorded)
    return Error{ErrorKind::usage, "was recorded by ulpscope_recorder.py, in another PyTorch; no engine can run it again", "mode recorded",
                 "record it again in Python, with append=True"};
  if (settings.device != "cpu")
    return Error{ErrorKind::input, "only the CPU is supported by this version", "--device " + settings.device, "use --device cpu: CUDA autocast is emulated"};
  return settings.mode == session::Mode::native ? nativeTable(settings) : findPolicyTable(settings.policyTable);
}

}  // namespace

Result<protocol::Inspection> Engine::inspect(const std::string& modelPath, const std::string& target) try {
  auto table = findPolicyTable(target);
  if (!table) {
    Error error = table.error();
    error.which = "--target " + target;
    return error;
  }
  auto model = m_cache->load(modelPath);
  if (!model) return model.error();
  const LoadedModel& loaded = *model.value();
  protocol::Inspection inspection{loaded.info, loaded.ops, table.value()->name(), loaded.info.warnings, targetDevice(table.value()->device()), {}};
  for (model::StaticOp& op : inspection.ops) {
    inspection.kernels.push_back(kernelOf(op, table.value()->device()));
    for (const PolicyTable* other : tablesOf(table.value()->device())) {
      const std::string qualified = op.overload.empty() || op.overload == "vec" ? op.op : op.op + "." + op.overload;
      const std::string policyClass = isOpened(op.op) ? "opened" : name(other->classOf(qualified));
      (other == table.value() ? op.policyClass : op.otherTables[other->name()]) = policyClass;
    }
  }
  for (const std::string& call : loaded.unresolvedCalls) inspection.warnings.push_back("unresolved: " + call);
  return inspection;
} catch (const std::exception& e) {
  return internalError(e);
}

Result<protocol::OpenedExperiment> Engine::open(const session::RunRequest& request) try {
  auto model = m_cache->load(request.modelPath);
  if (!model) return model.error();
  protocol::OpenedExperiment opened;
  opened.model = model.value()->info;
  if (request.inputsPath.empty()) return opened;
  auto set = loadReferenceSet(request, *model.value());
  if (!set) return set.error();
  for (const auto& [name, input] : set->inputs) {
    const bool isTensor = input.tensor.defined();
    opened.inputs.push_back({name, isTensor ? base::name(dtypeOf(input.tensor.scalar_type())) : std::string(),
                             isTensor ? input.tensor.sizes().vec() : std::vector<std::int64_t>(), input.sampleAxis});
  }
  for (const std::string& kind : set->samples.kinds) ++opened.kinds[kind];
  opened.labels = static_cast<std::int64_t>(set->samples.labels.size());
  opened.targets = static_cast<std::int64_t>(set->samples.targets.size());
  opened.classNames = static_cast<std::int64_t>(set->samples.classNames.size());
  opened.preprocessing = set->samples.preprocessing;
  opened.sampleIds = std::move(set->samples.ids);
  for (const NamedTensor& output : set->expected) opened.expected.push_back(output.name);
  return opened;
} catch (const std::exception& e) {
  return internalError(e);
}

Result<RunOutcome> Engine::run(const session::RunRequest& request, const RunHooks& hooks, std::stop_token stop) try {
  auto table = tableFor(request.settings);
  if (!table) return table.error();
  if (hooks.progress) hooks.progress({"loading", "", "", 0, 0});
  auto model = m_cache->load(request.modelPath);
  if (!model) return model.error();
  auto outcome = RunDriver(*model.value(), request, *table.value(), hooks).run(stop);
  if (!outcome) m_cache->forget();  // the model may have been changed by what failed
  return outcome;
} catch (const std::bad_alloc&) {
  return outOfMemory(request.modelPath);
} catch (const std::exception& e) {
  return internalError(e);
}

Result<session::Scan> Engine::scan(const session::ScanRequest& request, const session::Session& session, const base::ProgressSink& progress, std::stop_token stop) try {
  if (auto good = session::checkScanRequest(request); !good) return good.error();
  const auto run = scannedRun(request, session);
  if (!run) return run.error();
  auto settings = scanSettings(request, *run.value());
  if (!settings) return settings.error();
  const auto table = tableFor(settings.value());
  if (!table) return table.error();
  const auto axis = scannedAxis(settings.value(), *run.value());
  if (!axis) return axis.error();
  session::RunRequest files;
  files.modelPath = request.modelPath.empty() ? session.model.path : request.modelPath;
  files.inputsPath = request.inputsPath.empty() ? session.samples.path : request.inputsPath;
  files.settings.batchAxis = settings->batchAxis;
  for (const auto& there : {checkThere(files.modelPath, "--model"), checkThere(files.inputsPath, "--inputs")})
    if (!there) return there.error();
  if (progress) progress({"loading", "", "", 0, 0});
  const auto model = m_cache->load(files.modelPath);
  if (!model) return model.error();
  auto set = loadReferenceSet(files, *model.value());
  if (!set) return set.error();
  if (auto same = checkSameFiles(session, model.value()->info, set->samples); !same) return same.error();
  auto scan = ScanDriver(*model.value(), request, std::move(settings).value(), *table.value(), progress).run(std::move(set).value(), axis.value(), stop);
  if (scan) scan.value().runId = run.value()->id();
  if (!scan) m_cache->forget();
  return scan;
} catch (const std::bad_alloc&) {
  return outOfMemory(request.sessionPath);
} catch (const std::exception& e) {
  return internalError(e);
}

namespace {

// What the two have in common: the loaded model, and an order that can be timed.
template <typename T, typename Load, typename Measure>
Result<T> benchmarked(BenchmarkOrder order, int machineThreads, const base::ProgressSink& progress, const Load& load, const Measure& measure) try {
  const auto table = tableFor(order.request.settings);
  if (!table) return table.error();
  if (progress) progress({"loading", "", "", 0, 0});
  const Result<const LoadedModel*> model = load();
  if (!model) return model.error();
  if (order.threads < 1) order.threads = machineThreads;
  BenchmarkRun run(*model.value(), order, *table.value(), progress);
  return measure(run);
} catch (const std::bad_alloc&) {
  return Error{ErrorKind::run, "out of memory", order.request.modelPath, "time a run of a smaller --batch-size"};
} catch (const std::exception& e) {
  return internalError(e);
}

}  // namespace

Result<TimedRun> Engine::time(const BenchmarkOrder& order, const base::ProgressSink& progress, std::stop_token stop) {
  auto timed = benchmarked<TimedRun>(order, m_cache->machineThreads, progress, [&] { return m_cache->load(order.request.modelPath); }, [&](BenchmarkRun& run) { return run.time(stop); });
  if (!timed) m_cache->forget();
  return timed;
}

Result<session::PeakMemory> Engine::peakMemory(const BenchmarkOrder& order, TimedSide side, const base::ProgressSink& progress, std::stop_token stop) {
  return benchmarked<session::PeakMemory>(order, m_cache->machineThreads, progress, [&] { return m_cache->load(order.request.modelPath); }, [&](BenchmarkRun& run) { return run.peak(side, stop); });
}

}  // namespace ulpscope::engine
