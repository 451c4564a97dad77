#include "record/io/text.h"

#include <cstring>

#include "base/text.h"
#include "record/io/format.h"

namespace stepscope::record {
namespace {

/// An IoCall or a LongIoCall.
struct Told {
  std::uint64_t begin, end;
  std::uint32_t file;
  std::int32_t descriptor;
  std::int64_t offset;
  std::uint64_t size;
  std::int64_t result;
  std::uint32_t other = 0, detail = 0;
  bool is_long = false;
};

bool read(Told& told, Type type, std::uint64_t clock, std::span<const char> bytes) {
  if (IoCall call; type == Type::io_call && copy_to(call, bytes)) {
    told = {clock + call.begin, clock + call.begin + call.duration,
            call.file,          call.descriptor,
            call.offset,        call.size,
            call.result};
    return true;
  }
  LongIoCall call;
  if (type != Type::long_io_call || !copy_to(call, bytes)) return false;
  told = {call.begin, call.end,    call.file,  call.descriptor, call.offset,
          call.size,  call.result, call.other, call.detail,     true};
  return true;
}

bool has_size(IoKind kind) {
  return kind == IoKind::read || kind == IoKind::write || kind == IoKind::map || kind == IoKind::advise ||
         kind == IoKind::change;
}

/// What `detail` is, for those functions that have one.
std::string_view detail_of(IoFunction function, IoKind kind) {
  if (kind == IoKind::open) return "flags";
  if (kind == IoKind::seek) return "whence";
  if (kind == IoKind::map) return "prot";
  if (function == IoFunction::io_submit || function == IoFunction::io_uring_submit ||
      function == IoFunction::io_uring_submit_and_wait)
    return "opcode";
  if (function == IoFunction::fcntl || function == IoFunction::fcntl64) return "cmd";
  return kind == IoKind::read || kind == IoKind::write ? "iovcnt" : "";
}

}  // namespace

IoText::IoText(const Recording& recording) : recording_(recording) {
  for (const Segment& segment : recording.segments())
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      std::uint32_t length = 0;
      if (record.type != Type::io_path || !copy_to(length, bytes.subspan(sizeof(Record))) ||
          length > bytes.size() - kTextBytes)
        return;
      append_json(files_[record.value] = "", std::string_view(bytes.data() + kTextBytes, length));
    });
}

std::int64_t IoText::events(EventText& text, std::int64_t begin_ns, std::int64_t end_ns) const {
  std::int64_t written = 0;
  const auto file = [&](EventArgs& args, std::string_view key, std::uint32_t number) {
    if (const auto found = files_.find(number); found != files_.end()) args.key(key) += found->second;
  };
  for (const Segment& segment : recording_.segments()) {
    std::uint64_t clock = 0;
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      if (ClockRecord now; record.type == Type::clock && copy_to(now, bytes)) clock = now.pair.tick;
      const std::uint32_t function = record.value & 0xFFFF, error = record.value >> 16;
      Told told{};
      if (function >= kIoFunctions || !text.whole() || !read(told, record.type, clock, bytes)) return;
      const std::int64_t begin = recording_.times().ns(told.begin), end = recording_.times().ns(told.end);
      if (begin < begin_ns || end > end_ns) return;
      const IoKind kind = kIoKinds[function];
      text.begin("X", "posix_call", kIoNames[function], recording_.pid(), segment.thread, begin);
      text.duration(end - begin);
      EventArgs args(text.out);
      file(args, "fname", told.file);
      file(args, "to", told.other);
      if (told.offset != kUnknownOffset) args.add("offset", told.offset);
      if (has_size(kind) && told.size > 0) args.add("size", static_cast<std::int64_t>(told.size));
      args.add("ret", told.result);
      if (error != 0) args.add("errno", error);
      if (told.descriptor >= 0) args.add("fd", told.descriptor);
      const std::string_view detail = detail_of(static_cast<IoFunction>(function), kind);
      if (told.is_long && !detail.empty()) args.add(detail, static_cast<std::int64_t>(told.detail));
      args.end();
      text.pass_on_if_long();
      ++written;
    });
  }
  return written;
}

}  // namespace stepscope::record
