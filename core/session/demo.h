// The built-in experiments: small real models that each show one thing, run for real every time.
#pragma once

#include "core/session/settings.h"

#include <string>
#include <vector>

namespace ulpscope::session {

// From `<data>/demo/<name>/demo.json`: {"title", "description", "shows", "like", "model", "inputs", "settings": {keys of RunSettings that
// differ from the defaults}, "cure": [module paths], "finding", "licence"}; model and inputs are file names in that folder. shows, like,
// settings and cure may be left out. finding is what the tests hold the engine to and is not read here.
struct Demo {
  std::string name;
  std::string title;
  std::string description;
  std::string shows;              // the finding in a few words: "NaN in 3 of 64 messages"; empty: not said
  std::string like;               // the public report it resembles, "owner/repository#number" of GitHub; empty: none
  std::vector<std::string> cure;  // modules that, kept in FP32, remove the finding; may be empty
  RunRequest request;             // paths absolute; sessionPath empty
};

// In alphabetical order. Error kind input when the folder or one demo.json cannot be read.
base::Result<std::vector<Demo>> listDemos(const std::string& demoFolder);
// Error kind usage that names the demos there are.
base::Result<Demo> findDemo(const std::string& demoFolder, const std::string& name);

// First of DIR/NAME.ulps, DIR/NAME-2.ulps, ... that does not exist.
std::string freeSessionPath(const std::string& folder, const std::string& stem);

}  // namespace ulpscope::session
