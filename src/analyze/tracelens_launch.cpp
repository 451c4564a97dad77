#include "analyze/tracelens_launch.h"

#include <algorithm>

namespace stepscope::analyze::lens {

using trace::kNoRow;
using trace::Row;
using trace::StringId;

std::string_view Categories::of(StringId op, StringId first_kernel) {
  const auto [found, added] = known_.try_emplace(std::uint64_t{op} << 32 | first_kernel);
  if (added) found->second = category_of(trace_.text(op), trace_.text(first_kernel));
  return found->second;
}

std::vector<Launcher> launchers_of(const Lens& lens) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<Launcher> launchers;
  std::vector<std::uint32_t> number(lens.e.size(), kNone);
  Communication communication(lens.trace);
  for (const Row row : lens.tree.linked()) {
    if (communication.includes(lens.e.name[row])) continue;
    const Row launcher = lens.tree.launcher(row);
    if (number[launcher] == kNone) {
      number[launcher] = static_cast<std::uint32_t>(launchers.size());
      launchers.push_back({launcher, {}, {}});
    }
    launchers[number[launcher]].launched.push_back(row);
  }
  Categories categories(lens.trace);
  for (Launcher& one : launchers)
    one.category = categories.of(lens.e.name[one.row], lens.e.name[one.launched.front()]);
  std::sort(launchers.begin(), launchers.end(), [&](const Launcher& a, const Launcher& b) {
    if (lens.e.start[a.row] != lens.e.start[b.row]) return lens.e.start[a.row] < lens.e.start[b.row];
    return lens.e.source[a.row] < lens.e.source[b.row];
  });
  return launchers;
}

}  // namespace stepscope::analyze::lens
