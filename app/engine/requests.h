// What the worker answers to each request.
#pragma once

#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/train/trainer.h"

#include <nlohmann/json.hpp>

#include <stop_token>
#include <string>

namespace ulpscope::worker {

// Error kind run when the client speaks another version of the protocol.
base::Result<nlohmann::json> answerHello(const nlohmann::json& parameters);
base::Result<nlohmann::json> answerInspect(engine::Engine& engine, const nlohmann::json& parameters);
base::Result<nlohmann::json> answerOpen(engine::Engine& engine, const nlohmann::json& parameters);
// Runs, stores the run in its session, gives {"session", "run_id", "new_session"}. hooks.open is set here; experiment and cells are
// told only where the parameters ask for it.
base::Result<nlohmann::json> answerRun(engine::Engine& engine, const nlohmann::json& parameters, engine::RunHooks hooks, std::stop_token stop);

// The same of a request whose paths are absolute.
base::Result<nlohmann::json> runAndStore(engine::Engine& engine, const session::RunRequest& request, engine::RunHooks hooks, std::stop_token stop);

// Trains, stores the training in its session, gives {"session", "training"}; or replays, or compares (message.h). runHooks are for the runs
// of those two. What does not belong into the session is refused before the first step.
base::Result<nlohmann::json> answerTrain(engine::Engine& engine, const nlohmann::json& parameters, const train::TrainingHooks& hooks, const engine::RunHooks& runHooks, std::stop_token stop);

// Scans between samples of a session and stores the scan there, gives {"session", "scan"}; where nothing is to be stored {"session", "record"}.
base::Result<nlohmann::json> answerScan(engine::Engine& engine, const nlohmann::json& parameters, const base::ProgressSink& progress, std::stop_token stop);
// One part of a benchmark (message.h).
base::Result<nlohmann::json> answerBenchmark(engine::Engine& engine, const nlohmann::json& parameters, const base::ProgressSink& progress, std::stop_token stop);

// Of a path as the client gave it; empty stays empty.
std::string absolute(const std::string& path);

}  // namespace ulpscope::worker
