#include "cli/compared.h"

#include <utility>

namespace stepscope::cli {

Result<Sides> open_sides(const Call& call, const std::vector<std::string>& a,
                         const std::vector<std::string>& b) {
  Sides sides;
  for (const auto& [paths, traces] : {std::pair{&a, &sides.a}, {&b, &sides.b}}) {
    for (const std::string& path : *paths) {
      auto trace = open_trace(call, {path});
      if (!trace) return trace.error();
      say_unread(*trace);
      traces->push_back(std::move(*trace));
    }
  }
  return sides;
}

void leave_out_details(report::Report& report) {
  for (report::Table& table : report.tables)
    std::erase_if(table.columns,
                  [](const report::Column& column) { return column.role == report::Role::detail; });
}

}  // namespace stepscope::cli
