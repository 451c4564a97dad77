// Files whose paths differ in digits of folders and in names only: the samples of a dataset are one group.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/trace.h"

namespace stepscope::analyze {

/// The files of a group, see IoGroup.
class GroupName {
 public:
  /// What files of one group have in common: digits of folders are '#', names are '*' and their ending.
  static std::string pattern_of(std::string_view file);
  void add(std::string_view file);
  /// The pattern, with the folders that all its files share; the name of a single file.
  std::string text() const;

 private:
  std::string first_;
  std::size_t common_ = 0;  ///< bytes that all begin with
  bool several_ = false;
};

/// Sums over the files of each group.
template <class Sum>
class FileGroups {
 public:
  struct Group {
    GroupName name;
    std::int64_t files = 0;
    Sum sum{};
  };

  Group& of(const trace::Trace& trace, trace::StringId file) {
    Group*& group = of_file_[file];
    if (group == nullptr) {
      group = &groups_[GroupName::pattern_of(trace.text(file))];
      group->name.add(trace.text(file));
      ++group->files;
    }
    return *group;
  }

  std::map<std::string, Group>& by_pattern() { return groups_; }

 private:
  std::map<std::string, Group> groups_;
  std::unordered_map<trace::StringId, Group*> of_file_;
};

}  // namespace stepscope::analyze
