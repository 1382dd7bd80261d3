// The ops of a model, each once: what autocast does to it, and what the engine's build of LibTorch has for it.
#pragma once

#include "core/model/model_info.h"

#include <string>
#include <vector>

namespace ulpscope::model {

// What a build's dispatcher has for an op on a device.
struct OpKernel {
  std::string kernel;              // "own", "generic", "composite", "none", "interpreter": kernelMeaning() says what they mean
  bool hasAutocastKernel = false;  // one is registered for the device's autocast key
};

// All sites of one op and overload that stand in the same class.
struct Operator {
  std::string op;        // "aten::linear"
  std::string overload;  // "" or "Tensor"
  std::string policyClass;
  std::map<std::string, std::string> otherTables;  // of the device: only those that say something else than policyClass
  OpKernel kernel;
  std::vector<std::string> modulePaths;  // of its sites, in order of the code, a module once
  std::int64_t sites = 0;
};

// In the order in which they first stand in the code. kernels: one an op; fewer, and the rest have none that are known.
std::vector<Operator> operatorsOf(const std::vector<StaticOp>& ops, const std::vector<OpKernel>& kernels);

std::string qualifiedName(const std::string& op, const std::string& overload);  // "aten::add.Tensor"
// Neither PyTorch's own ops nor the interpreter's: registered by an extension, which autocast passes unless the extension says otherwise.
bool isCustom(const std::string& op);

// For people, a line each; empty for a word that is none.
std::string classMeaning(const std::string& policyClass);
// kernel: "own": registered for the device's dispatch key; "generic": one kernel for all backends (CompositeExplicitAutograd); "composite": made of
// other ops (CompositeImplicitAutograd); "none"; "interpreter": TorchScript's own, without a kernel in the dispatcher.
std::string kernelMeaning(const std::string& kernel);
// What autocast does to the op, with what follows from it: classMeaning, or for a custom op without autocast kernel that it runs in the
// type of its inputs.
std::string treatment(const Operator& op);
// Policy classes in the order in which they matter to a reader.
const std::vector<std::string>& policyClasses();

}  // namespace ulpscope::model
