// A model that is run bare and under the hook, with inputs. See make_workloads.py for the two large ones.
#pragma once

#include "core/engine/comparison.h"
#include "core/engine/executors.h"
#include "core/engine/forward.h"
#include "core/engine/native_executor.h"

#include <memory>
#include <string>

namespace ulpscope::bench {

struct Workload {
  std::string name;
  torch::jit::Module bare;                  // as a newcomer loads it: no markers
  torch::jit::Module reference, candidate;  // marked
  engine::PathAliases aliases;
  engine::Arguments arguments;
  session::SampleSet samples;
  engine::Batch batch;
  engine::AxisProbe axes;
  engine::DescriptionCache referenceDescriptions, candidateDescriptions;  // as over the batches of one run
  engine::OperandTrace* trace = nullptr;  // told of inputs and border casts; null: nobody is

  // As PyTorch alone runs it: no hook, no markers, one thread.
  void runBareFp32();
  void runBareBf16();
  // Under the hook; an empty sink: nobody looks.
  engine::SideResult runReference(const engine::EventSink& sink = {});
  engine::SideResult runCandidate(const engine::EventSink& sink = {});
  // Under emulated CUDA autocast, nobody looking.
  void runEmulated(at::ScalarType low);
  // Both together, each in its own thread.
  void runLockStep(engine::MeetingObserver& observer);
  // All metrics of every op, per sample; introduced may be null.
  void compare(const engine::IntroducedError* introduced = nullptr);
  // The same, and where each operand came from, as in the first batch of a run.
  void compareAndTrace();
  void findAxes();
};

// Freed memory stays with the process, for bare and observed forwards alike. Otherwise each forward gives its pages back and takes
// them anew, or does not, by what lies at the top of the heap: chance that moves a forward's cost by half.
void keepFreedMemory();

// "resnet18" or "encoder6" from `folder`; prints what is missing and ends the program otherwise.
std::unique_ptr<Workload> loadWorkload(const std::string& folder, const std::string& name);

// `ops` subtractions of tensors [samples, width], one after another.
std::unique_ptr<Workload> subtractions(int ops, std::int64_t samples, std::int64_t width);

}  // namespace ulpscope::bench
