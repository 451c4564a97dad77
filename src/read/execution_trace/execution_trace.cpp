#include "read/execution_trace/execution_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "derive/id_index.h"
#include "read/execution_trace/node_inputs.h"
#include "read/json_members.h"
#include "read/kineto/document.h"
#include "read/losses.h"

namespace stepscope::read {
namespace {

using trace::kNoRow;
using trace::Row;

/// How often something is wrong, and the first node where it is.
struct Fault {
  std::int64_t count = 0;
  Row first = kNoRow;
  void at(Row node) {
    if (count++ == 0) first = node;
  }
};

std::string named(const ExecutionTrace& trace, Row node) {
  return fmt::format("node {} ({})", trace.nodes[node].id, trace.strings[trace.nodes[node].name]);
}

/// Cycles in the chains of parents, with one node of each.
Fault circles(const std::vector<Row>& parents) {
  constexpr Row kWalked = kNoRow - 1;
  Fault fault;
  std::vector<Row> walk(parents.size(), kNoRow);  // by node: the walk that met it first
  for (Row start = 0; start < parents.size(); ++start) {
    Row at = start;
    while (at != kNoRow && walk[at] == kNoRow) {
      walk[at] = start;
      at = parents[at];
    }
    if (at != kNoRow && walk[at] == start) fault.at(at);
    for (at = start; at != kNoRow && walk[at] == start; at = parents[at]) walk[at] = kWalked;
  }
  return fault;
}

/// Sentences about duplicate ids, parents that are missing or form a cycle, and ops without outputs.
std::vector<std::string> graph_faults(const ExecutionTrace& trace) {
  const auto size = static_cast<Row>(trace.nodes.size());
  derive::IdIndex ids;  // leaves out id 0, hence the + 1
  for (Row node = 0; node < size; ++node) ids.add(trace.nodes[node].id + 1, node);
  ids.build();
  Fault again, orphaned;
  std::vector<Row> parents(size, kNoRow);
  for (Row node = 0; node < size; ++node) {
    const ExecutionNode& of = trace.nodes[node];
    if (ids.find(of.id + 1) != node) again.at(node);
    if (of.parent == of.id || of.parent == 0) continue;  // a root
    parents[node] = ids.find(of.parent + 1);
    if (parents[node] == kNoRow) orphaned.at(node);
  }
  const Fault round = circles(parents);
  std::vector<std::string> faults;
  if (again.count > 0)
    faults.push_back(fmt::format("{} of its nodes {} the id of another node, e.g. {}.", again.count,
                                 again.count == 1 ? "has" : "have", named(trace, again.first)));
  if (orphaned.count > 0)
    faults.push_back(
        fmt::format("{} of its nodes {} a parent that is not in the file, e.g. {}, with parent {}.",
                    orphaned.count, orphaned.count == 1 ? "has" : "have", named(trace, orphaned.first),
                    trace.nodes[orphaned.first].parent));
  if (round.count > 0)
    faults.push_back(fmt::format("cycles among the parents of its nodes: {}, e.g. at {}.", round.count,
                                 named(trace, round.first)));
  if (trace.without_outputs > 0)
    faults.push_back(fmt::format("{} of its nodes {} no outputs.", trace.without_outputs,
                                 trace.without_outputs == 1 ? "has" : "have"));
  return faults;
}

/// Whether a node begins at `brace`, a "{": its first key is an id, or a name followed by an id. Other
/// objects with a name are attributes of a node.
bool node_at(const char* brace, const char* end) {
  constexpr std::string_view kId = "\"id\"", kName = "\"name\"";
  const auto stands = [&](const char* p, std::string_view key) {
    return text_between(p, std::max(p, end)).starts_with(key);
  };
  const char* p = skip_space(brace + 1);
  if (stands(p, kId)) return true;
  if (!stands(p, kName)) return false;
  p = skip_space(p + kName.size());
  if (p >= end || *p != ':') return false;
  p = skip_space(p + 1);
  bool escaped = false;
  const char* close = p < end && *p == '"' ? string_end(p + 1, end, escaped) : nullptr;
  if (close == nullptr) return false;
  p = skip_space(close + 1);
  return p < end && *p == ',' && stands(skip_space(p + 1), kId);
}

struct NodeList {
  static constexpr std::string_view kKey = "nodes", kItem = "a node",
                                    kStranger = "something other than a node is in the list of nodes";
  static const char* next(const char* from, const char* end) {
    for (const char* p = from; p < end; ++p) {
      p = static_cast<const char*>(std::memchr(p, '}', static_cast<std::size_t>(end - p)));
      if (p == nullptr) return nullptr;
      const char* start = skip_space(p + 1);
      if (start < end && *start == ',') start = skip_space(start + 1);
      if (start < end && *start == '{' && node_at(start, end)) return start;
    }
    return nullptr;
  }
  static const char* undecided(const char* from, const char* end) { return read::undecided(from, end); }
};

/// Receives nodes and losses.
struct Sink {
  ExecutionTrace& trace;
  void lose(std::int64_t byte, std::int64_t bytes, std::string_view reason) {
    trace::Reading& reading = trace.reading;
    describe(reading.first_losses, {byte, bytes, std::string(reason)});
    ++reading.losses;
    reading.lost_bytes += bytes;
  }
};

class NodeParser {
 public:
  using Sink = read::Sink;
  enum class Outcome : std::uint8_t { read, damaged, cut };

  Outcome parse(const char*& p, const char* limit, const Block&, Sink& sink) {
    const char* looked = p;
    const char* behind = value_end(p, limit, &looked);
    if (behind == nullptr) return Outcome::cut;
    reached_ = std::max(looked, behind);
    damage_ = behind == p ? "a quote was not escaped in this node" : "";
    words_ = &sink.trace.strings;
    ExecutionNode node;
    if (behind == p || !read_node(text_between(p, behind), node)) return Outcome::damaged;
    sink.trace.nodes.push_back(node);
    sink.trace.without_outputs += !has_outputs_;
    p = behind;
    return Outcome::read;
  }
  void end_batch(Sink&) {}
  const char* damage() const { return damage_; }
  const char* reached() const { return reached_; }

 private:
  bool fail(const char* why) {
    damage_ = why;
    return false;
  }

  bool number(std::string_view json, std::int64_t& out) {
    const char* p = json.data();
    double unused = 0;
    return !json.empty() && read_number(p, out, unused) == Number::integer &&
           p == json.data() + json.size() && out >= 0;
  }

  trace::StringId text(std::string_view json) {
    if (json.size() < 2 || json.front() != '"') return trace::kEmptyString;
    json = json.substr(1, json.size() - 2);
    if (json.find('\\') == json.npos) return words_->intern(json);
    unescape(json, scratch_);
    return words_->intern(scratch_);
  }

  /// Reads both versions: flat keys (1.0), or lists of lists and attributes (1.1).
  bool read_node(std::string_view json, ExecutionNode& node) {
    inputs_ = outputs_ = {};
    has_outputs_ = false;
    bool has_id = false;
    Members members(json);
    for (std::string_view key, value; members.next(key, value);) {
      if (key == "id") {
        if (!(has_id = number(value, node.id))) return fail("the id of this node is not a whole number");
      } else if (key == "name") {
        if (!value.starts_with('"')) return fail("the name of this node is not a string");
        node.name = text(value);
      } else if (!read_member(key, value, node)) {
        return false;
      }
    }
    if (!members.at_close()) return fail("this node is not JSON");
    if (!has_id) return fail("this node has no id");
    if (read_inputs(inputs_, args_) && args_.dims.size() > 2) {
      node.dims = words_->intern(args_.dims);
      node.types = words_->intern(args_.types);
      node.strides = words_->intern(args_.strides);
      node.concrete = words_->intern(args_.concrete);
    }
    if (read_inputs(outputs_, args_) && args_.dims.size() > 2) {
      node.out_dims = words_->intern(args_.dims);
      node.out_types = words_->intern(args_.types);
    }
    return true;
  }

  bool read_member(std::string_view key, std::string_view value, ExecutionNode& node) {
    if (key == "rf_id" && !number(value, node.record_id))
      return fail("the rf_id of this node is not a whole number");
    if ((key == "parent" || key == "ctrl_deps") && !number(value, node.parent))
      return fail("the parent of this node is not a whole number");
    if (key == "op_schema") node.schema = text(value);
    if (key == "inputs") read_lists(value, inputs_);
    if (key == "outputs") read_lists(value, outputs_), has_outputs_ = true;
    for (const auto& [name, list] : std::array<std::pair<std::string_view, std::string_view*>, 6>{
             {{"input_shapes", &inputs_.shapes},
              {"input_types", &inputs_.types},
              {"input_strides", &inputs_.strides},
              {"output_shapes", &outputs_.shapes},
              {"output_types", &outputs_.types},
              {"output_strides", &outputs_.strides}}})
      if (key == name) *list = value;
    return key != "attrs" || read_attributes(value, node);
  }

  static void read_lists(std::string_view value, NodeLists& lists) {
    if (value.starts_with('[')) lists.values = value;
    if (!value.starts_with('{')) return;
    Members members(value);
    for (std::string_view key, list; members.next(key, list);) {
      if (key == "values") lists.values = list;
      if (key == "shapes") lists.shapes = list;
      if (key == "types") lists.types = list;
      if (key == "strides") lists.strides = list;
    }
  }

  bool read_attributes(std::string_view list, ExecutionNode& node) {
    const char* end = list.data() + list.size();
    const char* p = skip_space(list.data() + 1);
    while (list.starts_with('[') && p < end && *p == '{') {
      const char* behind = value_end(p, end);
      if (behind == nullptr || behind == p) break;
      Members members(text_between(p, behind));
      std::string_view name, value;
      for (std::string_view key, of_key; members.next(key, of_key);) {
        if (key == "name") name = of_key;
        if (key == "value") value = of_key;
      }
      if (name == "\"op_schema\"") node.schema = text(value);
      if (name == "\"rf_id\"" && !number(value, node.record_id))
        return fail("the rf_id of this node is not a whole number");
      p = skip_space(behind);
      if (p < end && *p == ',') p = skip_space(p + 1);
    }
    return true;
  }

  trace::StringPool* words_ = nullptr;
  NodeLists inputs_, outputs_;
  InputArgs args_;
  bool has_outputs_ = false;
  std::string scratch_;
  const char* damage_ = "";
  const char* reached_ = nullptr;
};

void count_reading(ExecutionTrace& trace, const ByteSource& source) {
  trace::Reading& reading = trace.reading;
  reading.events = static_cast<std::int64_t>(trace.nodes.size());
  reading.losses += source.fault_count;
  reading.lost_bytes += source.lost_bytes;
  for (const ByteFault& fault : source.faults)
    reading.first_losses.push_back({fault.offset, fault.bytes, fault.reason});
}

}  // namespace

bool is_execution_trace(std::string_view head) {
  std::string text(head);
  text.append(kPadding, '\0');
  const char* end = text.data() + head.size();
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const char* p = skip_space(text.data() + (head.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
  if (p >= end || *p != '{') return false;
  Members members(p, end);
  bool has_schema = false;
  for (std::string_view key, value; members.next(key, value);) {
    if (key == "schema") has_schema = value.starts_with('"');
    if (key == ChromeList::kKey) return false;
    if (key == NodeList::kKey) return has_schema && value.starts_with('[');
  }
  return false;
}

Error execution_trace_alone(const std::string& path) {
  return {
      "is an execution trace, which holds ops and their inputs but no times; give the trace of the same run "
      "with it, recorded with profile(execution_trace_observer=...) and export_chrome_trace",
      path};
}

Result<ExecutionTrace> parse_execution_trace(const std::string& path, ByteSource& source,
                                             const BlockSizes& blocks) {
  ExecutionTrace trace;
  trace.path = path;
  Sink sink{trace};
  BlockReader reader(source, false, blocks);
  DocumentParser<NodeParser, NodeList> parser;
  Block block;
  while (reader.next(block)) parse_next(parser, reader, block, blocks.most, sink);
  trace.reading.text_bytes = reader.bytes_read();
  trace.reading.complete = parser.place == Place::done && !parser.lost();
  trace.reading.format = "execution trace " + text_of(member(parser.top_level, "schema"));
  trace.pid = integer_of(member(parser.top_level, "pid"), -1);
  count_reading(trace, source);
  if (trace.nodes.empty()) {
    const auto& losses = trace.reading.first_losses;
    return Error{"is an execution trace without nodes" +
                     (losses.empty() ? "" : ": " + losses.front().reason) +
                     "; record it again: the observer writes it when it is unregistered",
                 path, losses.empty() ? -1 : losses.front().byte};
  }
  trace.faults = graph_faults(trace);
  return trace;
}

}  // namespace stepscope::read
