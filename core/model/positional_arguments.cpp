#include "core/model/positional_arguments.h"

namespace ulpscope::model {

std::vector<std::string> positionalArguments(const std::vector<Argument>& arguments, bool labelsAreGiven) {
  std::vector<std::string> names;
  for (const Argument& a : arguments)
    if (a.type.find("Tensor") != std::string::npos && a.type.find("List") == std::string::npos && !(labelsAreGiven && a.name == "labels")) names.push_back(a.name);
  return names;
}

}  // namespace ulpscope::model
