// What times hang on besides the program. No Torch.
#pragma once

#include <string>
#include <vector>

namespace ulpscope::engine {

std::string processorName();                           // as the system names it; "unknown" where it does not
std::vector<std::string> bfloat16Instructions();       // of this processor: "avx512_bf16", "amx_bf16", ...; empty: none, or not told
int usableProcessors();                                // that this process may run on
double loadAverage();                                  // processes that ran or waited to, over the last minute; NaN: not told

}  // namespace ulpscope::engine
