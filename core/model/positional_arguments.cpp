#include "core/model/positional_arguments.h"

#include <algorithm>

namespace ulpscope::model {

std::vector<std::string> positionalArguments(const std::vector<Argument>& arguments, bool labelsAreGiven) {
  std::vector<std::string> names;
  for (const Argument& a : arguments)
    if (a.type.find("Tensor") != std::string::npos && a.type.find("List") == std::string::npos && !(labelsAreGiven && a.name == "labels")) names.push_back(a.name);
  return names;
}

std::string argumentOf(const std::string& name, std::size_t place, const std::vector<std::string>& positional) {
  const bool isNamed = std::find(positional.begin(), positional.end(), name) != positional.end();
  return isNamed || place >= positional.size() ? name : positional[place];
}

}  // namespace ulpscope::model
