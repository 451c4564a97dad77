#include "read/kineto/kind.h"

#include <algorithm>
#include <string>

namespace stepscope::read {

using trace::Kind;

namespace {

struct CategoryKind {
  std::string_view category;
  Kind kind;
};
constexpr CategoryKind kCategories[] = {
    {"cpu_op", Kind::op},
    {"operator", Kind::op},
    {"hpu_op", Kind::kernel},
    {"user_annotation", Kind::annotation},
    {"gpu_user_annotation", Kind::device_annotation},
    {"python_function", Kind::python},
    {"python", Kind::python},
    {"runtime", Kind::runtime},
    {"cuda_runtime", Kind::runtime},
    {"cuda_driver", Kind::runtime},
    {"hip_runtime", Kind::runtime},
    {"xpu_runtime", Kind::runtime},
    {"xpu_driver", Kind::runtime},
    {"mtia_runtime", Kind::runtime},
    {"glow_runtime", Kind::runtime},
    {"privateuse1_runtime", Kind::runtime},
    {"privateuse1_driver", Kind::runtime},
    {"posix", Kind::io},
    {"stdio", Kind::io},
    {"posix_call", Kind::io},
    {"hdf5", Kind::io_library},
    {"mpiio", Kind::io_library},
    {"kernel", Kind::kernel},
    {"mtia_ccp_events", Kind::kernel},
    {"collective_comm", Kind::kernel},
    {"memcpy", Kind::memcpy},
    {"gpu_memcpy", Kind::memcpy},
    {"memset", Kind::memset},
    {"gpu_memset", Kind::memset},
    {"cuda_sync", Kind::device_sync},
    {"xpu_sync", Kind::device_sync},
    {"cuda_event", Kind::device_mark},
    {"cpu_instant_event", Kind::instant},
    {"overhead", Kind::overhead},
    {"trace", Kind::span},
    {"cuda_profiler_range", Kind::range_metrics},
    {"hardware_counters", Kind::counter},
    {"mtia_counters", Kind::counter},
    {"xpu_scope_profiler", Kind::counter},
};

}  // namespace

Kind kind_of_category(std::string_view category) {
  std::string lower(category.substr(0, 32));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  for (const CategoryKind& known : kCategories)
    if (lower == known.category && category.size() == lower.size()) return known.kind;
  return Kind::other;
}

Kind kind_by_name(Kind kind, std::string_view name) {
  if (kind != Kind::kernel || !name.starts_with("event_")) return kind;
  return name == "event_wait" ? Kind::device_sync : name == "event_record" ? Kind::device_mark : kind;
}

}  // namespace stepscope::read
