#include "lanes/family.h"

#include "derive/kernel_class.h"
#include "derive/kernel_kind.h"
#include "derive/ranks/collective.h"

namespace stepscope::lanes {
namespace {

using report::Family;
using trace::Kind;

Family family_of_kernel(std::string_view name) {
  const Family family = report::family_of(derive::name_of(derive::kernel_kind(name)));
  return family == Family::other ? Family::compute : family;
}

}  // namespace

Families::Families(const trace::Trace& trace, const Names& names) : names_(names) {
  for (const Name& name : names.all()) {
    const std::string_view text = trace.text(name.text);
    OfName of;
    if (name.is_of(Kind::kernel)) of.kernel = family_of_kernel(text);
    of.waits = derive::is_blocking_call(text);
    of.loads = derive::is_data_loading(text);
    of.communicates = derive::is_host_collective(text) || derive::is_communication_range(text);
    of.is_node = derive::is_autograd_node(text);
    of_name_.push_back(of);
  }
}

bool Families::below_node(const trace::EventTable& e, trace::Row row) const {
  constexpr int kMaxAsked = 64;  // an operator is not called from further below
  int asked = 0;
  for (trace::Row at = row; at != trace::kNoRow && asked < kMaxAsked; at = e.parent[at], ++asked)
    if (e.kind[at] == Kind::op && about(e, at).is_node) return true;
  return false;
}

Family Families::of(const trace::Rank& rank, trace::Row row, bool autograd) const {
  const trace::EventTable& e = rank.events;
  const OfName& name = about(e, row);
  switch (e.kind[row]) {
    case Kind::kernel:
      return e.work[row] == trace::Work::communication ? Family::communication : name.kernel;
    case Kind::memcpy:
      return Family::copy;
    case Kind::memset:
      return Family::fill;
    case Kind::device_sync:
      return Family::waiting;
    case Kind::runtime:
      return name.waits ? Family::waiting : Family::runtime;
    case Kind::io:
    case Kind::io_library:
      return Family::data;
    case Kind::python:
      return Family::python;
    case Kind::op:
      if (name.communicates) return Family::communication;
      if (name.loads) return Family::data;
      return autograd || below_node(e, row) ? Family::host_backward : Family::host;
    case Kind::annotation:
    case Kind::device_annotation:
      return name.communicates ? Family::communication : name.loads ? Family::data : Family::other;
    default:
      return Family::other;
  }
}

}  // namespace stepscope::lanes
