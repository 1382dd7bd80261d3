// Why a trajectory cannot go on. Private to core/train: trainer.cpp and trajectory_run.cpp make it an error or a sentence.
#pragma once

#include "core/base/error.h"

#include <exception>
#include <utility>

namespace ulpscope::train {

class StepFailure : public std::exception {
 public:
  explicit StepFailure(base::Error error) : m_error(std::move(error)), m_text(m_error.message()) {}
  const char* what() const noexcept override { return m_text.c_str(); }
  const base::Error& error() const { return m_error; }

 private:
  base::Error m_error;
  std::string m_text;
};

}  // namespace ulpscope::train
