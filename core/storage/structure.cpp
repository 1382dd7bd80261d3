#include "core/storage/structure.h"

#include "core/storage/session_paths.h"

#include <set>

namespace ulpscope::storage {
namespace {

constexpr int kDeepest = 8;            // ours: 3
constexpr int kMostObjects = 2000000;  // 9,999 runs of some hundred columns

class Walk {
 public:
  explicit Walk(Links allowed) : m_allowed(allowed) {}

  void group(hid_t group, const std::string& place, int depth) {
    if (depth > kDeepest) h5::fail("is nested deeper than any session", place, "do not trust this file");
    for (const h5::LinkName& link : h5::links(group)) {
      if (++m_objects > kMostObjects) h5::fail("holds more objects than any session", place, "do not trust this file");
      const std::string where = place + link.name;
      if (link.type == H5L_TYPE_HARD)
        object(group, link.name, where, depth);
      else
        refuseUnlessOwn(group, link, where);
    }
  }

  std::string linkedFolder() const { return m_linkedFolder; }

 private:
  void object(hid_t parent, const std::string& name, const std::string& where, int depth) {
    H5O_info_t info;
    h5::check(H5Oget_info_by_name(parent, name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", where);
    if (info.type == H5O_TYPE_DATASET) {
      h5::openDataset(parent, name);
    } else if (info.type == H5O_TYPE_GROUP) {
      if (!m_groups.insert(info.addr).second) h5::fail("is a group that stands at two places or contains itself", where, "do not trust this file");
      this->group(h5::openGroup(parent, name), where + "/", depth + 1);
    }
  }

  void refuseUnlessOwn(hid_t group, const h5::LinkName& link, const std::string& where) {
    if (link.type != H5L_TYPE_EXTERNAL) h5::fail("is a link, which no session holds", where, "do not trust this file");
    H5L_info_t info;
    h5::check(H5Lget_info(group, link.name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", where);
    std::vector<char> value(info.u.val_size + 1, '\0');
    h5::check(H5Lget_val(group, link.name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT), "cannot be looked at", where);
    const char* target = nullptr;
    h5::check(H5Lunpack_elink_val(value.data(), info.u.val_size, nullptr, &target, nullptr), "cannot be looked at", where);
    if (m_allowed != Links::ownHeatmaps || !isOwnLinkTarget(target))
      h5::fail("is a link to '" + std::string(target) + "', out of the session", where, "do not trust this file");
    if (m_linkedFolder.empty()) m_linkedFolder = std::string(target).substr(0, std::string(target).find('/'));
  }

  Links m_allowed;
  int m_objects = 0;
  std::set<haddr_t> m_groups;
  std::string m_linkedFolder;
};

}  // namespace

std::string refuseStrangeStructure(hid_t file, Links allowed) {
  Walk walk(allowed);
  walk.group(file, "/", 0);
  return walk.linkedFolder();
}

}  // namespace ulpscope::storage
