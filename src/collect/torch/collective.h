// Writes PyTorch's description of a collective into the op's signature when the collective starts. Its class
// changed with nearly every version; members that this version lacks are left out.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#if __has_include(<torch/csrc/distributed/c10d/ParamCommsUtils.hpp>)
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#define STEPSCOPE_HAS_COLLECTIVES
#endif

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "record/signature.h"

namespace stepscope::collect {

/// True for "record_param_comms", the op by which PyTorch describes a collective.
template <class Fn>
bool tells_of_collective(const Fn& fn) {
  if constexpr (requires { fn.isNcclMeta(); })
    return fn.isNcclMeta();
  else
    return fn.name()[0] == 'r' && std::strcmp(fn.name(), "record_param_comms") == 0;
}

/// Writes fields with Out::put().
template <class Out>
class CollectiveWriter {
 public:
  using Field = record::CollectiveField;
  explicit CollectiveWriter(Out& out) : out_(out) { out_.put(record::Input::collective); }
  void end() { put(Field::end); }

  void field(Field field, std::int64_t value) {
    put(field);
    number(value);
  }
  void field(Field field, bool value) {
    put(field);
    out_.put(record::Input::boolean);
    out_.put(static_cast<std::uint8_t>(value));
  }
  void field(Field field, const std::string& value) {
    put(field);
    text(value);
  }
  /// A long list is cut and ends in the text "...".
  void field(Field field, const std::vector<std::int64_t>& values) {
    put(field);
    const std::size_t told = std::min<std::size_t>(values.size(), record::kMaxList);
    const bool cut = told < values.size();
    out_.put(record::Input::list);
    out_.put(static_cast<std::uint16_t>(told + (cut ? 1 : 0)));
    for (std::size_t i = 0; i < told; ++i) number(values[i]);
    if (cut) text("...");
  }

 private:
  static constexpr std::size_t kMaxName = 256;
  void put(Field field) { out_.put(static_cast<std::uint8_t>(field)); }
  void number(std::int64_t value) {
    out_.put(record::Input::integer);
    out_.put(value);
  }
  void text(const std::string& value) {
    const std::size_t length = std::min(value.size(), kMaxName);
    out_.put(record::Input::text);
    out_.put(static_cast<std::uint16_t>(length));
    for (std::size_t i = 0; i < length; ++i) out_.put(static_cast<std::uint8_t>(value[i]));
  }
  Out& out_;
};

/// The collective's sequence number in its group. Older versions of PyTorch lack it in the info; there it is
/// the first element of a tuple among the op's inputs.
template <class Info>
std::optional<std::int64_t> sequence_of(const at::RecordFunction& fn, const Info& info) {
  if constexpr (requires { info.getSequenceNumber(); })
    if (info.getSequenceNumber() >= 0) return info.getSequenceNumber();
  for (const c10::IValue& input : fn.inputs())
    if (input.isTuple() && !input.toTupleRef().elements().empty() && input.toTupleRef().elements()[0].isInt())
      return input.toTupleRef().elements()[0].toInt();
  return std::nullopt;
}

template <class Writer, class Info>
void put_sizes(Writer& out, const Info& info) {
  using Field = record::CollectiveField;
  if constexpr (requires { info.getInMessageNelems(); }) {
    out.field(Field::in, std::int64_t{info.getInMessageNelems()});
    out.field(Field::out, std::int64_t{info.getOutMessageNelems()});
  } else {
    out.field(Field::in, std::int64_t{info.getInMessageSize()});
    out.field(Field::out, std::int64_t{info.getOutMessageSize()});
  }
  out.field(Field::dtype, std::string(c10::toString(info.getDType())));
  out.field(Field::in_split, info.getInputSplitSizes());
  out.field(Field::out_split, info.getOutputSplitSizes());
}

template <class Writer, class Info>
void put_group(Writer& out, const Info& info) {
  using Field = record::CollectiveField;
  out.field(Field::rank, std::int64_t{info.getRank()});
  if constexpr (requires { info.getWorldSize(); })
    if (info.getWorldSize() > 0) out.field(Field::group_size, std::int64_t{info.getWorldSize()});
  if constexpr (requires { info.getProcessGroupName(); })
    if (!info.getProcessGroupName().empty()) out.field(Field::group_name, info.getProcessGroupName());
  if constexpr (requires { info.getProcessGroupDesc(); })
    if (!info.getProcessGroupDesc().empty()) out.field(Field::group_description, info.getProcessGroupDesc());
  if constexpr (requires { info.getGlobalRankStart(); }) {
    out.field(Field::first_rank, std::int64_t{info.getGlobalRankStart()});
    out.field(Field::rank_stride, std::int64_t{info.getGlobalRankStride()});
  }
  if constexpr (requires { info.getGroupRanks(); })
    if (!info.getGroupRanks().empty()) out.field(Field::group_ranks, info.getGroupRanks());
}

/// For send and recv, the info's rank is the peer, as an index into the group.
template <class Writer, class Info>
void put_message(Writer& out, const Info& info, const std::string& name) {
  using Field = record::CollectiveField;
  if constexpr (requires { info.getGroupRanks(); }) {
    const bool sends = name == "send";
    const auto& ranks = info.getGroupRanks();
    const auto place = static_cast<std::size_t>(info.getRank());
    if ((sends || name == "recv") && info.getRank() >= 0 && place < ranks.size())
      out.field(sends ? Field::to : Field::from, std::int64_t{ranks[place]});
  }
}

template <class Out, class Info>
void put_collective(Out& signature, const at::RecordFunction& fn, const Info& info) {
  using Field = record::CollectiveField;
  CollectiveWriter<Out> out(signature);
  std::string name;
  if constexpr (requires { info.getCollectiveName(); })
    name = info.getCollectiveName();
  else
    name = info.getColumnName();
  out.field(Field::name, name);
  put_sizes(out, info);
  put_group(out, info);
  put_message(out, info, name);
  if (const auto sequence = sequence_of(fn, info)) out.field(Field::sequence, *sequence);
  if constexpr (requires { info.isAsynchronizedOp(); })
    out.field(Field::asynchronous, bool{info.isAsynchronizedOp()});
  out.end();
}

/// The collective that the calling thread starts; nothing if PyTorch does not describe it.
template <class Out>
void put_collective(Out& signature, const at::RecordFunction& fn) {
#ifdef STEPSCOPE_HAS_COLLECTIVES
  const c10::DebugInfoBase* said = c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO);
  if (said != nullptr) put_collective(signature, fn, static_cast<const torch::ParamCommsDebugInfo&>(*said));
#endif
}

}  // namespace stepscope::collect
