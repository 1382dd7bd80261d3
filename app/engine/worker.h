// The loop of `ulpscope-engine worker`: requests in, answers out, one at a time; cancel may come in between.
#pragma once

namespace ulpscope::worker {

// Reads JSON lines from `input` until shutdown or its end, writes answers to `output`. Returns the exit code.
int serve(int input, int output);

}  // namespace ulpscope::worker
