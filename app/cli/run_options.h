// The options of `ulpscope run`, from words to a request.
#pragma once

#include "core/base/error.h"
#include "core/session/settings.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}

namespace ulpscope::cli {

// As they stand on the command line.
struct RunWords {
  std::string model, inputs, labels, classNames, session, json;
  std::string autocast = "fp16", policy, mode = "emulated", device = "cpu", decision = "none", tie = "first";
  std::string decisionOutput, batchSize = "32", seed = "0", observe = "full", captureBudget = "1GiB", onlySamples, accumulate, criteria, explored;
  std::vector<std::string> fp32, disable, batchAxis, failOn, capture, allowNonfinite;
  bool noCastCache = false, noNoiseFloor = false, referee = false, train = false, verifyProbe = false, append = false;
};

struct RunOrder {
  session::RunRequest request;
  std::string json;             // target of --json, may be empty
  bool failOnNonfinite = false;
  bool failOnFlip = false;
  std::string onlySamplesWord;  // flips, near:N or nonfinite, where the samples were chosen so
  std::string nothingToDo;      // why there is nothing to run; empty: there is
};

// An option given several times, with one value each: it must not swallow the words that follow.
CLI::Option* addList(CLI::App& command, const std::string& name, std::vector<std::string>& values, const std::string& help);

void addRunOptions(CLI::App& command, RunWords& words);

// Error kind usage for a wrong word; kind input for what this version cannot do (--device cuda).
base::Result<RunOrder> orderFrom(const RunWords& words);

}  // namespace ulpscope::cli
