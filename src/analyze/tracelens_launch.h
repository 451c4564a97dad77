// The calls that launch device work themselves, as TraceLens counts them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/tracelens.h"
#include "analyze/tracelens_names.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::lens {

/// One op, or a runtime call outside all ops, that launched something beside collectives.
struct Launcher {
  trace::Row row = trace::kNoRow;
  std::vector<trace::Row> launched;  ///< its own device events in launch order, collectives left out
  std::string_view category;
};

/// By start.
std::vector<Launcher> launchers_of(const Lens& lens);

/// category_of(), asked once per pair of names.
class Categories {
 public:
  explicit Categories(const trace::Trace& trace) : trace_(trace) {}
  std::string_view of(trace::StringId op, trace::StringId first_kernel);

 private:
  const trace::Trace& trace_;
  std::unordered_map<std::uint64_t, std::string_view> known_;
};

/// is_communication(), asked once per name.
class Communication {
 public:
  explicit Communication(const trace::Trace& trace) : known_(trace.strings, is_communication) {}
  bool includes(trace::StringId kernel) { return known_(kernel); }

 private:
  trace::AskedOnce<bool (*)(std::string_view)> known_;
};

}  // namespace stepscope::analyze::lens
