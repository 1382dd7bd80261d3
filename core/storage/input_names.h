// Private: names that mean something in an inputs file, whichever its kind.
#pragma once

#include "core/storage/input_samples.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// An input, or `targets`: every array but those with another meaning.
bool isTensorName(const std::string& name);
// The same without `targets`.
bool isInputName(const std::string& name);
// "expected/logits" and "expected.logits": logits, a saved output; for formats without groups.
std::optional<std::string> expectedOutput(const std::string& name);
// arr_0, arr_1, ... to the last, each once: what numpy calls arrays that nobody named. By number.
std::optional<std::vector<std::string>> positionalNames(std::vector<std::string> names);

// Bytes that a terminal would obey: C0, DEL and, in UTF-8, C1.
bool hasControls(const std::string& text);
// An Error (kind input) for an id that is empty, stands twice or has control characters.
base::Status checkSampleIds(const std::vector<std::string>& ids, const std::string& place);
// An Error unless such an input has that axis and these samples, none larger than slices.mostBytes.
base::Status checkSlices(const InputShape& shape, const SampleSlices& slices, const std::string& path);

}  // namespace ulpscope::storage
