// Which of forward's arguments inputs are that nobody named.
#pragma once

#include "core/model/model_info.h"

#include <string>
#include <vector>

namespace ulpscope::model {

// forward's tensors (no lists of them) in its order. `labels` is not among them where the labels of the set are given, since those go there.
std::vector<std::string> positionalArguments(const std::vector<Argument>& arguments, bool labelsAreGiven);

}  // namespace ulpscope::model
