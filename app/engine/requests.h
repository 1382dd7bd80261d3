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

// Trains, stores the training in its session, gives {"session", "training"}.
base::Result<nlohmann::json> answerTrain(const nlohmann::json& parameters, const train::TrainingHooks& hooks, std::stop_token stop);

}  // namespace ulpscope::worker
