#include "core/engine/engine.h"

#include "core/engine/blas_threads.h"
#include "core/engine/loaded_model.h"
#include "core/engine/policy_table.h"
#include "core/engine/run_driver.h"

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

}  // namespace

struct Engine::Cache {
  FileStamp stamp;
  std::optional<LoadedModel> model;

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

Result<Inspection> Engine::inspect(const std::string& modelPath, const std::string& target) try {
  if (target == "cpu")
    return Error{ErrorKind::input, "no table for CPU autocast in this version", "--target cpu", "use --target cuda"};
  auto table = findPolicyTable(target);
  if (!table) return table.error();
  auto model = m_cache->load(modelPath);
  if (!model) return model.error();
  const LoadedModel& loaded = *model.value();
  Inspection inspection{loaded.info, loaded.ops, table.value()->name(), loaded.info.warnings};
  for (model::StaticOp& op : inspection.ops)
    op.policyClass = name(table.value()->classOf(op.overload.empty() ? op.op : op.op + "." + op.overload));
  for (const std::string& call : loaded.unresolvedCalls) inspection.warnings.push_back("unresolved: " + call);
  return inspection;
} catch (const std::exception& e) {
  return internalError(e);
}

Result<RunOutcome> Engine::run(const session::RunRequest& request, const RunHooks& hooks, std::stop_token stop) try {
  if (request.settings.mode == session::Mode::native)
    return Error{ErrorKind::input, "native autocast is not in this version", "--mode native", "use --mode emulated"};
  if (request.settings.device != "cpu")
    return Error{ErrorKind::input, "only the CPU is supported by this version", "--device " + request.settings.device, "use --device cpu: CUDA autocast is emulated"};
  auto table = findPolicyTable(request.settings.policyTable);
  if (!table) return table.error();
  if (hooks.progress) hooks.progress({"loading", "", "", 0, 0});
  auto model = m_cache->load(request.modelPath);
  if (!model) return model.error();
  auto outcome = RunDriver(*model.value(), request, *table.value(), hooks).run(stop);
  if (!outcome) m_cache->forget();  // the model may have been changed by what failed
  return outcome;
} catch (const std::bad_alloc&) {
  return Error{ErrorKind::run, "out of memory", request.modelPath, "use a smaller --batch-size"};
} catch (const std::exception& e) {
  return internalError(e);
}

}  // namespace ulpscope::engine
