#include "read/execution_trace/link_execution_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "derive/id_index.h"
#include "read/rank_numbers.h"

namespace stepscope::read {
namespace {

using trace::ArgType;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// Args that may hold an op's record id. In older files, External id was the same number.
constexpr std::string_view kKeys[] = {"Record function id", "External id"};

/// How well a rank's ops match the nodes with their ids.
struct Fit {
  std::string_view key;
  Row ids = 0;              ///< ops that have an id
  Row same = 0, other = 0;  ///< ops whose id is a node's: with the node's name, with another name
  bool is_sure() const { return same > 0 && same / 9 >= other; }
};

class Linker {
 public:
  Linker(trace::Trace& trace, const ExecutionTrace& nodes) : trace_(trace), nodes_(nodes) {
    for (Row n = 0; n < nodes.nodes.size(); ++n) by_id_.add(nodes.nodes[n].record_id, n);
    by_id_.build();
    ids_.assign(nodes.strings.size(), trace::kNoString);
    names_.reserve(nodes.nodes.size());
    for (const ExecutionNode& node : nodes.nodes)
      names_.push_back(trace.strings.find(nodes.strings[node.name]));
  }

  Fit fit(const Rank& rank) const {
    Fit best;
    for (const std::string_view key : kKeys) {
      Fit fit{key};
      for_each_op(rank, key, [&](Row row, Row node) {
        ++fit.ids;
        if (node != kNoRow) ++(is_same(rank, row, node) ? fit.same : fit.other);
      });
      if (best.key.empty() || std::pair(fit.same, fit.ids) > std::pair(best.same, best.ids)) best = fit;
    }
    return best;
  }

  /// False when there was no room for more args: the remaining ops got none.
  bool link(Rank& rank, std::string_view key) {
    const trace::ArgLookup dims = trace_.arg("Input Dims"), old_dims = trace_.arg("Input dims"),
                           schema = trace_.arg("op_schema"), out = trace_.arg("Output Dims");
    bool room = true;
    for_each_op(rank, key, [&](Row row, Row n) {
      if (!room || n == kNoRow || !is_same(rank, row, n)) return;
      const ExecutionNode& node = nodes_.nodes[n];
      const trace::SchemaId at = rank.events.schema[row];
      Args args;
      if (!dims.in(at) && !old_dims.in(at)) {
        args.add(kDims, node.dims), args.add(kTypes, node.types);
        args.add(kStrides, node.strides), args.add(kConcrete, node.concrete);
      }
      if (!out.in(at)) args.add(kOutDims, node.out_dims), args.add(kOutTypes, node.out_types);
      if (!schema.in(at)) args.add(kSchema, node.schema);
      room = give(rank, row, args);
    });
    return room;
  }

 private:
  enum Field : std::uint8_t { kDims, kTypes, kStrides, kConcrete, kOutDims, kOutTypes, kSchema };
  static constexpr std::array<std::string_view, 7> kFields = {
      "Input Dims",  "Input type",  "Input Strides", "Concrete Inputs",
      "Output Dims", "Output type", "op_schema"};
  struct Args {
    std::array<StringId, kFields.size()> of{};
    unsigned mask = 0;
    void add(Field field, StringId text) {
      if (text == trace::kEmptyString) return;
      of[field] = text;
      mask |= 1U << field;
    }
  };

  bool is_same(const Rank& rank, Row row, Row node) const { return names_[node] == rank.events.name[row]; }

  /// Calls `use(row, node with its id)` for ops that have an id; kNoRow if no node has it.
  template <class Use>
  void for_each_op(const Rank& rank, std::string_view key, Use use) const {
    const trace::ArgReader id(trace_, rank, key);
    for (const Row row : rank.host_rows()) {
      const Kind kind = rank.events.kind[row];
      if (kind != Kind::op && kind != Kind::annotation) continue;
      if (const auto of_row = id.integer(row); of_row && *of_row > 0) use(row, by_id_.find(*of_row));
    }
  }

  bool give(Rank& rank, Row row, const Args& args) {
    constexpr std::size_t kMaxWords = 0xFFFFFFFF, kMaxFields = std::size_t{1} << 24;
    if (args.mask == 0) return true;
    trace::SchemaId& schema = rank.events.schema[row];
    const std::size_t words = trace_.schemas.words(schema), first = rank.events.args_at[row];
    const std::size_t at = rank.values.size();
    if (at + words + kFields.size() > kMaxWords || trace_.schemas.total_fields() > kMaxFields) return false;
    rank.values.repeat(first, words);
    for (std::size_t field = 0; field < kFields.size(); ++field)
      if ((args.mask >> field & 1U) != 0) rank.values.push_back(text(args.of[field]), false);
    rank.events.args_at[row] = static_cast<std::uint32_t>(at);
    schema = longer(schema, args.mask);
    return true;
  }

  trace::SchemaId longer(trace::SchemaId schema, unsigned mask) {
    const auto [known, is_new] = longer_.try_emplace(std::uint64_t{schema} << kFields.size() | mask, schema);
    for (std::size_t field = 0; is_new && field < kFields.size(); ++field)
      if ((mask >> field & 1U) != 0)
        known->second = trace_.schemas.extend(
            known->second,
            {trace_.strings.intern(kFields[field]), field == kSchema ? ArgType::text : ArgType::raw});
    return known->second;
  }

  /// The trace's string id for a string of the file.
  StringId text(StringId of_file) {
    StringId& id = ids_[of_file];
    if (id == trace::kNoString) id = trace_.strings.intern(nodes_.strings[of_file]);
    return id;
  }

  trace::Trace& trace_;
  const ExecutionTrace& nodes_;
  derive::IdIndex by_id_;        // nodes by record id
  std::vector<StringId> names_;  // by node: its name's id in the trace's pool
  std::vector<StringId> ids_;    // by the file's string id: the trace's
  std::unordered_map<std::uint64_t, trace::SchemaId> longer_;
};

bool is_process_of(const Rank& rank, std::int64_t pid) {
  const std::string text = std::to_string(pid);
  return std::any_of(rank.tracks.begin(), rank.tracks.end(), [&](const trace::Track& track) {
    return track.side == trace::Track::Side::host && track.pid == text;
  });
}

/// Ranks that the file may belong to: those with its process, else all. If one of them has the number in the
/// file's name, only that one.
std::vector<Rank*> candidates_of(trace::Trace& trace, const ExecutionTrace& nodes) {
  std::vector<Rank*> all, of_process;
  for (Rank& rank : trace.ranks) {
    all.push_back(&rank);
    if (is_process_of(rank, nodes.pid)) of_process.push_back(&rank);
  }
  const std::vector<Rank*>& candidates = of_process.empty() ? all : of_process;
  const std::int64_t number = rank_in_name(nodes.path);
  for (Rank* rank : candidates)
    if (number >= 0 && rank->rank == number) return {rank};
  return candidates;
}

struct Found {
  Rank* rank = nullptr;
  Fit fit;                ///< of `rank`; without a fitting rank, of the rank that shares the most ids
  std::size_t alike = 0;  ///< ranks that fit
};

/// Finds the file's rank. A rank fits if nine in ten of its ops with a node's id have that node's name. One
/// such op is enough for the only candidate if it has the file's process.
Found find_rank(trace::Trace& trace, const ExecutionTrace& nodes, const Linker& linker) {
  const std::vector<Rank*> candidates = candidates_of(trace, nodes);
  Found found, refused;
  for (Rank* rank : candidates) {
    const Fit fit = linker.fit(*rank);
    const bool own = candidates.size() == 1 && is_process_of(*rank, nodes.pid);
    const bool fits = fit.is_sure() || (own && fit.same > 0);
    found.alike += fits;
    if (fits && found.rank == nullptr) found = {rank, fit, found.alike};
    const Fit& so_far = refused.fit;
    const std::pair shared(fit.same + fit.other, fit.ids), most(so_far.same + so_far.other, so_far.ids);
    if (!fits && (so_far.key.empty() || shared > most)) refused.fit = fit;
  }
  if (found.alike == 0) return refused;
  if (found.alike > 1) found.rank = nullptr;
  return found;
}

std::string of_damage(const ExecutionTrace& nodes) {
  const trace::Reading& reading = nodes.reading;
  std::string out;
  if (!reading.first_losses.empty())
    out += fmt::format(" {} part{} of it could not be read: {}.", reading.losses,
                       reading.losses == 1 ? "" : "s", reading.first_losses.front().text());
  else if (!reading.complete)
    out += " It ends early, as if the job was killed.";
  for (const std::string& fault : nodes.faults) out += " " + fault;
  return out;
}

constexpr std::string_view kRemedy =
    "Record both in one run: profile(execution_trace_observer=...) and export_chrome_trace.";

std::string sentence(const trace::Trace& trace, const Found& found, bool room) {
  const std::string whose = trace.ranks.size() > 1 && found.rank != nullptr
                                ? fmt::format("rank {}", found.rank->rank)
                                : std::string("this recording");
  const Fit& fit = found.fit;
  if (found.rank != nullptr) {
    std::string out = fmt::format(
        "is the execution trace of {}: {} of its ops and ranges got from it the inputs, "
        "outputs and schema that the recording lacks.",
        whose, fit.same);
    if (fit.other > 0)
      out +=
          fmt::format(" {} {} the id ({}) of a node with another name and {} got nothing from it.", fit.other,
                      fit.other == 1 ? "has" : "have", fit.key, fit.other == 1 ? "has" : "have");
    if (!room) out += " The limit on args was reached: the rest got nothing.";
    return out;
  }
  if (found.alike > 1)
    return fmt::format(
        "is an execution trace that fits {} ranks equally well, so it was left out. Put the rank into its "
        "name (rank0.et.json), or open it with the recording of its rank alone.",
        found.alike);
  if (fit.ids == 0)
    return "is an execution trace, but no op here has an id (Record function id) to match it to a node; it "
           "was left out. The profiler of PyTorch 1.13 and later writes ids if it is built with Kineto.";
  if (fit.same + fit.other == 0)
    return fmt::format(
        "is an execution trace of another run: no op here has an id (Record function id) of its "
        "nodes; it was left out. {}",
        kRemedy);
  return fmt::format(
      "is an execution trace of another run: of {} ops with an id of its nodes only {} have the "
      "node's name; it was left out. {}",
      fit.same + fit.other, fit.same, kRemedy);
}

}  // namespace

void link_execution_trace(trace::Trace& trace, ExecutionTrace nodes) {
  Found found;
  bool room = true;
  {
    Linker linker(trace, nodes);
    found = find_rank(trace, nodes, linker);
    if (found.rank != nullptr) room = linker.link(*found.rank, found.fit.key);
  }
  trace.notes.push_back(nodes.path + " " + sentence(trace, found, room) + of_damage(nodes));
  trace.companions.push_back({std::move(nodes.path), std::move(nodes.reading), std::move(nodes.faults),
                              found.rank == nullptr ? -1 : found.rank->rank});
}

}  // namespace stepscope::read
