// Private: the HDF5 side of a tensors file that is being written: which dataset a captured block belongs to, and where its bytes go.
// Everything throws h5::Failure; precondition of every call and of the end of its life: the library's mutex (h5_guard.h) is held.
#pragma once

#include "core/storage/digest.h"
#include "core/storage/growing_file.h"
#include "core/storage/run_writer.h"

#include <map>
#include <string>
#include <vector>

namespace ulpscope::storage {

class CaptureLayout {
 public:
  CaptureLayout(const std::string& sessionId, const std::string& runId);

  // The place of the block's bytes in the file; makes its dataset when it is the first of it. 0 for a block without elements.
  std::uint64_t place(const CapturePlan& plan, const CaptureBlock& block);
  // The block placed last is written.
  void written(std::uint64_t checksum);

  // Names, module links and outputs; then closes the HDF5 file. Sets the bytes of run.capture.
  void finish(const std::vector<CapturePlan>& plans, session::RunRecord& run, const std::vector<OutputTensors>& outputs);
  // After finish(): all bytes that are not in an extent, and the extents, by offset, all of each dataset covered.
  const GrowingImage& image() const { return m_image; }
  const std::vector<Extent>& extents() const { return m_extents; }

 private:
  struct Rows {
    std::int64_t first, count;
  };
  struct Dataset {
    std::size_t capture = 0;
    std::string name;
    base::DType dtype = base::DType::float32;
    std::vector<std::int64_t> shape;
    std::uint64_t offset = 0, sizeBytes = 0;
    std::map<std::int64_t, std::int64_t> rows;  // first -> count; of a dataset that holds all batches
    bool allBatches = false;
  };
  Dataset& datasetFor(const CapturePlan& plan, const CaptureBlock& block);
  Dataset& create(const CaptureBlock& block, const std::string& name, std::vector<std::int64_t> shape);
  const h5::Group& groupOf(std::size_t capture);
  void describeCaptures(const std::vector<CapturePlan>& plans, session::RunRecord& run);
  void describeRows(const Dataset& dataset);
  static std::int64_t writtenBytes(const Dataset& dataset);
  void linkModules(const session::RunRecord& run);
  void sortExtents();

  GrowingImage m_image;
  h5::File m_file;
  h5::Group m_entry, m_captures, m_group;  // m_group: of the capture m_current
  std::size_t m_current = 0;
  std::map<std::pair<std::size_t, std::string>, Dataset> m_datasets;
  Extent m_pending;
  std::vector<Extent> m_extents;
};

}  // namespace ulpscope::storage
