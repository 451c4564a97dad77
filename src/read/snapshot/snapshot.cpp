#include "read/snapshot/snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "read/json_members.h"
#include "read/json_text.h"
#include "read/losses.h"
#include "read/snapshot/assemble.h"
#include "read/snapshot/json.h"

namespace stepscope::read {
namespace {

constexpr std::string_view kNoSnapshot =
    "is no memory snapshot of PyTorch; give a file that torch.cuda.memory._dump_snapshot() wrote";

bool is_json_snapshot(std::string_view head) {
  std::string text(head);
  text.append(kPadding, '\0');
  const char* const end = text.data() + head.size();
  const char* p = skip_space(text.data());
  const bool list = p < end && *p == '[';
  if (list) p = skip_space(p + 1);
  if (p >= end || *p != '{') return false;
  constexpr std::string_view kTop[] = {"segments", "device_traces", "allocator_settings",
                                       "external_annotations"};
  constexpr std::string_view kOfSegment[] = {"total_size", "blocks", "segment_type"};
  Members members(p, end);
  for (std::string_view key, value; members.next(key, value);)
    if (list ? is_one_of(key, kOfSegment) : is_one_of(key, kTop)) return true;
  return false;
}

void add_losses(trace::Reading& reading, const ByteSource& source, const DocumentEnd& end) {
  reading.losses = source.fault_count;
  reading.lost_bytes = source.lost_bytes;
  for (const ByteFault& fault : source.faults)
    describe(reading.first_losses, {fault.offset, fault.bytes, fault.reason});
  if (end.whole) return;
  ++reading.losses;
  reading.complete = false;
  describe(reading.first_losses,
           {end.bytes, -1, "the snapshot ends early; what was read before is kept: copy or write it again"});
}

}  // namespace

bool is_pickle(std::string_view head) {
  constexpr unsigned char kMaxProtocol = 32;  // of some future
  return head.size() >= 2 && head[0] == '\x80' && static_cast<unsigned char>(head[1]) < kMaxProtocol;
}

bool is_snapshot(std::string_view head) {
  if (!is_pickle(head)) return is_json_snapshot(head);
  constexpr std::string_view kKeys[] = {"segments", "device_traces", "allocator_settings", "total_size"};
  return std::ranges::any_of(kKeys, [&](std::string_view key) { return has(head, key); });
}

Result<ParsedFile> parse_snapshot(const std::string& path, ByteSource& source, std::string_view head,
                                  const StoredBytes& progress) {
  ParsedFile file;
  file.words.resize(1);
  file.snapshot = std::make_shared<trace::Snapshot>();
  trace::Snapshot& snapshot = *file.snapshot;
  trace::Reading& reading = file.rank.reading;
  file.rank.path = path;
  reading.format = "memory snapshot";
  Machine machine(file.words[0].strings);
  const auto end =
      is_pickle(head) ? read_pickle(source, machine, progress) : read_json(source, machine, progress);
  if (!end) return Error{end.error().message, path, end.error().byte};
  add_losses(reading, source, *end);
  if (!assemble(machine, snapshot)) {
    if (end->whole) return Error{std::string(kNoSnapshot), path};
    return Error{"ends before its first segment or event; copy or write it again", path, end->bytes};
  }
  snapshot.cut = !reading.complete;
  if (!end->behind.empty()) snapshot.faults.push_back(end->behind);
  reading.text_bytes = end->bytes;
  for (const trace::MemoryOfDevice& device : snapshot.devices) reading.events += device.events.count();
  return file;
}

void renumber(trace::Snapshot& snapshot, const trace::StringPool& from, trace::StringPool& to) {
  std::vector<trace::StringId> ids(from.size(), trace::kNoString);
  ids[trace::kEmptyString] = trace::kEmptyString;
  const auto use = [&](trace::StringId& id) {
    if (ids[id] == trace::kNoString) ids[id] = to.intern(from[id]);
    id = ids[id];
  };
  for (trace::Frame& frame : snapshot.stacks.frames) {
    use(frame.name);
    use(frame.file);
    use(frame.extra);
  }
  for (trace::MemoryMark& mark : snapshot.marks) use(mark.name);
  for (trace::MemoryOfDevice& device : snapshot.devices) {
    for (trace::StringId& id : device.events.metadata) use(id);
    for (trace::StringId& id : device.events.context) use(id);
    for (trace::EventExtra& extra : device.extras) {
      use(extra.key);
      use(extra.value);
    }
  }
}

}  // namespace stepscope::read
