// Private: the records of a TorchScript archive by the names LibTorch gives them.
#pragma once

#include "core/model/zip_archive.h"

#include <map>
#include <string>

namespace ulpscope::model {

using Records = std::map<std::string, ZipRecord>;  // by name below the archive's top folder

// As LibTorch's reader: the first record's folder is the top; records outside it do not count.
Records recordsBelowRoot(const ZipArchive& archive);

// Code and pickles are read whole; error kind input for one that is larger than any real one.
base::Result<std::string> readText(const ZipArchive& archive, const ZipRecord& record);

}  // namespace ulpscope::model
