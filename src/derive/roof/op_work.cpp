#include "derive/roof/op_work.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/key_hash.h"
#include "derive/work/conv_hints.h"
#include "derive/work/op_args.h"
#include "derive/work/tally.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

struct ArgKey {
  StringId name, dims, types, strides, concrete;
  StringId hint = trace::kEmptyString;  ///< sizes that came from another op
  friend bool operator==(const ArgKey&, const ArgKey&) = default;
};
struct ArgKeyHash {
  std::size_t operator()(const ArgKey& k) const {
    return hash_of_all(process_hash_seed(), k.name, k.dims, k.types, k.strides, k.concrete, k.hint);
  }
};

/// Work by distinct arguments, each parsed and computed once.
class WorkCache {
 public:
  WorkCache(const trace::Trace& trace, const Rank& rank, Convention convention, std::vector<Work>& works)
      : trace_(trace),
        rank_(rank),
        convention_(convention),
        works_(works),
        dims_(trace, rank, "Input Dims"),
        old_dims_(trace, rank, "Input dims"),
        types_(trace, rank, "Input type"),
        strides_(trace, rank, "Input Strides"),
        concrete_(trace, rank, "Concrete Inputs"),
        conv_hints_(trace, rank) {}

  std::uint32_t of(Row row) {
    StringId dims = dims_.id(row);
    if (dims == trace::kEmptyString) dims = old_dims_.id(row);
    ArgKey key{rank_.events.name[row], dims, types_.id(row), strides_.id(row), concrete_.id(row)};
    const std::uint32_t work = counted(key, {});
    if (works_[work].unknown_reason != kNoConcrete) return work;
    const ConvHint hint = conv_hints_.of(row);
    if (hint.source == trace::kEmptyString) return work;
    key.hint = hint.source;
    return counted(key, hint);
  }

 private:
  std::uint32_t counted(const ArgKey& key, const ConvHint& hint) {
    const auto [found, added] = by_args_.try_emplace(key, static_cast<std::uint32_t>(works_.size()));
    if (added) {
      const OpArgs args = parse_op_args(trace_.text(key.dims), trace_.text(key.types),
                                        trace_.text(key.strides), trace_.text(key.concrete));
      works_.push_back(work_of(
          trace_.text(key.name), args, convention_,
          {.output_spatial = hint.output_spatial, .weight_dims = hint.weight, .input_dims = hint.input}));
    }
    return found->second;
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const Convention convention_;
  std::vector<Work>& works_;
  trace::ArgReader dims_, old_dims_, types_, strides_, concrete_;
  ConvHints conv_hints_;
  std::unordered_map<ArgKey, std::uint32_t, ArgKeyHash> by_args_;
};

class Roles {
 public:
  explicit Roles(const trace::Trace& trace) : trace_(trace), by_name_(trace.strings.size(), -1) {}
  WorkRole of(StringId name) {
    std::int8_t& role = by_name_[name];
    if (role < 0) role = static_cast<std::int8_t>(work_role(trace_.text(name)));
    return static_cast<WorkRole>(role);
  }

 private:
  const trace::Trace& trace_;
  std::vector<std::int8_t> by_name_;
};

bool usable(const Work& work) { return work.flops_known || work.bytes_known; }

/// Blocks of a grid arg such as "[320, 1, 1]", computed once per text.
class Grids {
 public:
  Grids(const trace::Trace& trace, const Rank& rank) : trace_(trace), grid_(trace, rank, "grid") {}
  std::int64_t blocks(Row row) {
    const StringId id = grid_.id(row);
    if (id == trace::kEmptyString) return 0;
    const auto [found, added] = by_text_.try_emplace(id, 0);
    if (added) found->second = product(trace_.text(id));
    return found->second;
  }

 private:
  static std::int64_t product(std::string_view text) {
    std::int64_t blocks = 1;
    bool any = false;
    const char* end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
      std::int64_t n = 0;
      const auto [rest, error] = std::from_chars(p, end, n);
      if (rest == p) {
        ++p;
        continue;
      }
      if (error != std::errc{} || n <= 0 || __builtin_mul_overflow(blocks, n, &blocks)) return 0;
      any = true;
      p = rest;
    }
    return any ? blocks : 0;
  }
  const trace::Trace& trace_;
  trace::ArgReader grid_;
  std::unordered_map<StringId, std::int64_t> by_text_;
};

constexpr std::uint32_t kNone = OpWork::kNone;

std::uint32_t inherited(const EventTable& e, const OpWork& work, Row row) {
  return e.parent[row] == kNoRow ? kNone : work.claim_of[e.parent[row]];
}

void add_claim(OpWork& out, Row row, std::uint32_t work) {
  out.claim_of[row] = static_cast<std::uint32_t>(out.claims.size());
  Claim claim;
  claim.row = row;
  claim.work = work;
  out.claims.push_back(claim);
}

/// Rows are in pre-order per track, so parents are decided before their children.
void claim_canonical(Roles& roles, WorkCache& works, const EventTable& e, OpWork& out) {
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    out.claim_of[row] = inherited(e, out, row);
    if (out.claim_of[row] != kNone || e.kind[row] != Kind::op || roles.of(e.name[row]) != WorkRole::canonical)
      continue;
    const std::uint32_t work = works.of(row);
    if (usable(out.works[work])) add_claim(out, row, work);
  }
}

void claim_composite(Roles& roles, WorkCache& works, const EventTable& e,
                     const std::vector<bool>& launches_below, OpWork& out) {
  std::vector<bool> claimed_below(e.size());
  for (Row row = e.size(); row-- > 0;)
    if ((out.claim_of[row] != kNone || claimed_below[row]) && e.parent[row] != kNoRow)
      claimed_below[e.parent[row]] = true;
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row]) || out.claim_of[row] != kNone) continue;
    out.claim_of[row] = inherited(e, out, row);
    if (out.claim_of[row] != kNone || e.kind[row] != Kind::op || claimed_below[row] || !launches_below[row])
      continue;
    if (roles.of(e.name[row]) != WorkRole::composite) continue;
    const std::uint32_t work = works.of(row);
    if (usable(out.works[work])) add_claim(out, row, work);
  }
}

/// Rows with device work below them; all rows if the recording has no device work.
std::vector<bool> rows_that_launch(const EventTable& e) {
  bool any = false;
  std::vector<bool> launches(e.size());
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_device_work(e.kind[row])) continue;
    any = true;
    for (Row at = e.op[row]; at != kNoRow && !launches[at]; at = e.parent[at]) launches[at] = true;
  }
  if (!any) launches.assign(e.size(), true);
  return launches;
}

void describe_kernels(const trace::Trace& trace, const Rank& rank, OpWork& out) {
  const EventTable& e = rank.events;
  Grids grids(trace, rank);
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_device_work(e.kind[row]) || e.op[row] == kNoRow || out.claim_of[e.op[row]] == kNone) continue;
    Claim& claim = out.claims[out.claim_of[e.op[row]]];
    ++claim.kernels;
    claim.device = rank.tracks[e.track[row]].device;
    if (e.kind[row] != Kind::kernel) continue;
    claim.largest_grid = std::max(claim.largest_grid, grids.blocks(row));
    if (e.duration(row) > claim.longest) {
      claim.longest = e.duration(row);
      claim.longest_kernel = e.name[row];
    }
  }
}

}  // namespace

OpWork op_work(const trace::Trace& trace, const Rank& rank, Convention convention) {
  const EventTable& e = rank.events;
  OpWork out;
  out.claim_of.assign(e.size(), kNone);
  Roles roles(trace);
  WorkCache works(trace, rank, convention, out.works);
  claim_canonical(roles, works, e, out);
  claim_composite(roles, works, e, rows_that_launch(e), out);
  describe_kernels(trace, rank, out);
  return out;
}

}  // namespace stepscope::derive
