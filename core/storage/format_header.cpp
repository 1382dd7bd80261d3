#include "core/storage/format_header.h"

#include <charconv>

namespace ulpscope::storage {
namespace {

// Sessions and metrics of format 1 lack what later ones hold.
int oldestRead(const std::string& format) { return format == "ulpscope-session" || format == "ulpscope-metrics" ? 2 : 1; }

}  // namespace

std::string ulpscopeVersion() { return ULPSCOPE_VERSION; }

std::string linkedHdf5() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

void writeHeader(hid_t file, const std::string& format, int version) {
  h5::writeAttribute(file, "NX_class", "NXroot");
  h5::writeAttribute(file, "file_format", format + "/" + std::to_string(version));
  h5::writeAttribute(file, "creator", "ulpscope");
  h5::writeAttribute(file, "creator_version", ulpscopeVersion());
  h5::writeAttribute(file, "HDF5_Version", linkedHdf5());
}

void writeHeader(hid_t file, const std::string& format, int version, const std::string& sessionId) {
  writeHeader(file, format, version);
  h5::writeAttribute(file, "session_id", sessionId);
}

int checkHeader(hid_t file, const std::string& format, int version) {
  const std::string kind = h5::hasAttribute(file, "file_format") ? h5::readTextAttribute(file, "file_format") : "";
  const std::string prefix = format + "/";
  int found = 0;
  const char* end = kind.data() + kind.size();
  if (!kind.starts_with(prefix) || std::from_chars(kind.data() + prefix.size(), end, found).ptr != end || found < 1)
    h5::fail(kind.empty() ? "is an HDF5 file, but none that Ulpscope wrote" : "is of the kind '" + kind + "', not '" + prefix + "N'", "",
             "check that this is the file you meant");
  if (found > version)
    h5::fail("has format " + std::to_string(found) + ", this Ulpscope (" + ulpscopeVersion() + ") reads up to " + std::to_string(version), "",
             "open it with the Ulpscope that wrote it, or a newer one");
  if (found < oldestRead(format))
    h5::fail("has format " + std::to_string(found) + ", of a version before the first release", "", "run the experiment again");
  return found;
}

}  // namespace ulpscope::storage
