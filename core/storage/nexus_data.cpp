#include "core/storage/nexus_data.h"

#include "core/storage/h5_data.h"

#include <deque>
#include <set>

namespace ulpscope::storage {
namespace {

constexpr int kDeepest = 8;
constexpr int kMostLinks = 32;        // in one chain
constexpr int kMostObjects = 100000;  // looked at for an NXdata

h5::Group rootOf(hid_t file) { return h5::Group(h5::check(H5Gopen2(file, "/", H5P_DEFAULT), "has no root group")); }

std::deque<std::string> partsOf(const std::string& path) {
  std::deque<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (const std::string part = path.substr(at, end - at); !part.empty() && part != ".") parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

H5L_info_t infoOf(hid_t group, const std::string& name, const std::string& shown) {
  if (!h5::hasLink(group, name)) h5::fail("leads to '" + name + "', which is not there", shown, "the file is damaged, or not whole");
  H5L_info_t info;
  h5::check(H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", shown);
  if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT) h5::fail("is a link out of the file", shown, "store the data itself in this file");
  return info;
}

std::string softTarget(hid_t group, const std::string& name, const H5L_info_t& info, const std::string& shown) {
  std::vector<char> value(info.u.val_size + 1, '\0');
  h5::check(H5Lget_val(group, name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT), "cannot be looked at", shown);
  return value.data();
}

// Walks from `group` along `path`, soft links included, to the last hard link.
LinkedDataset follow(hid_t file, h5::Group group, const std::string& path, const std::string& shown) {
  std::deque<std::string> parts = partsOf(path);
  for (int steps = 0; !parts.empty(); ++steps) {
    if (steps > kMostLinks) h5::fail("is a link that leads to no end", shown, "the file is damaged or hostile");
    const std::string name = parts.front();
    parts.pop_front();
    const H5L_info_t info = infoOf(group, name, shown);
    if (info.type == H5L_TYPE_HARD && parts.empty()) return {"", std::move(group), name};
    if (info.type == H5L_TYPE_HARD) {
      group = h5::openGroup(group, name);
      continue;
    }
    const std::string target = softTarget(group, name, info, shown);
    const std::deque<std::string> inserted = partsOf(target);
    parts.insert(parts.begin(), inserted.begin(), inserted.end());
    if (parts.size() > kMostLinks) h5::fail("is a link that leads to no end", shown, "the file is damaged or hostile");
    if (target.starts_with('/')) group = rootOf(file);
  }
  h5::fail("is a link to no dataset", shown, "the file is damaged, or not whole");
}

bool isNexusData(hid_t group) { return h5::hasAttribute(group, "NX_class") && h5::readTextAttribute(group, "NX_class") == "NXdata"; }

h5::Group groupAt(hid_t file, const std::string& place) {
  const LinkedDataset found = follow(file, rootOf(file), place, place);
  return h5::openGroup(found.parent, found.leaf);
}

// "/entry/data"; empty: the chain does not end in an NXdata.
std::string defaultPlace(hid_t file) {
  std::string place;
  h5::Group group = rootOf(file);
  for (int depth = 0; depth < kDeepest && !isNexusData(group); ++depth) {
    if (!h5::hasAttribute(group, "default")) return "";
    place += "/" + h5::readTextAttribute(group, "default");
    if (partsOf(place).empty()) return "";
    group = groupAt(file, place);
  }
  return isNexusData(group) ? place : "";
}

class Search {
 public:
  std::vector<std::string> found;

  void look(hid_t group, const std::string& place, int depth) {
    if (isNexusData(group)) found.push_back(place);
    if (depth == kDeepest) return;
    for (const h5::LinkName& link : h5::links(group)) {
      if (++m_objects > kMostObjects) h5::fail("holds more objects than any set of inputs", "", "say which NXdata is meant by the root's attribute 'default'");
      if (link.type != H5L_TYPE_HARD) continue;
      H5O_info_t info;
      h5::check(H5Oget_info_by_name(group, link.name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", place + "/" + link.name);
      if (info.type == H5O_TYPE_GROUP && m_seen.insert(info.addr).second) look(h5::openGroup(group, link.name), place + "/" + link.name, depth + 1);
    }
  }

 private:
  int m_objects = 0;
  std::set<haddr_t> m_seen;
};

std::string onlyPlace(hid_t file) {
  Search search;
  search.look(rootOf(file), "", 0);
  if (search.found.size() > 1)
    h5::fail("holds " + std::to_string(search.found.size()) + " NXdata groups (" + search.found[0] + ", " + search.found[1] + (search.found.size() > 2 ? ", ...)" : ")"), "", "say which is meant by the root's attribute 'default'");
  return search.found.empty() ? "" : search.found.front();
}

std::optional<NexusData> dataAt(hid_t file, const std::string& place) {
  if (place.empty()) return std::nullopt;
  NexusData data{place, groupAt(file, place), {}};
  if (!h5::hasAttribute(data.group, "signal")) h5::fail("is an NXdata without the attribute 'signal'", place, "name its dataset there");
  std::vector<std::string> names{h5::readTextAttribute(data.group, "signal")};
  if (h5::hasAttribute(data.group, "auxiliary_signals"))
    for (const std::string& name : h5::readTextsAttribute(data.group, "auxiliary_signals")) names.push_back(name);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty() || name.find('/') != std::string::npos || !seen.insert(name).second) h5::fail("names its signals in a way that cannot be followed ('" + name.substr(0, 80) + "')", place, "name each dataset once");
    LinkedDataset dataset = follow(file, groupAt(file, place), name, place + "/" + name);
    dataset.name = name;
    data.signals.push_back(std::move(dataset));
  }
  return data;
}

}  // namespace

std::optional<NexusData> defaultNexusData(hid_t file) { return dataAt(file, defaultPlace(file)); }

std::optional<NexusData> onlyNexusData(hid_t file) { return dataAt(file, onlyPlace(file)); }

}  // namespace ulpscope::storage
