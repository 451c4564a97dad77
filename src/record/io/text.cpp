#include "record/io/text.h"

#include <cstring>
#include <optional>

#include "base/text.h"
#include "record/io/format.h"
#include "record/io/libraries.h"

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

/// A function of a record, whoever has it.
struct Callee {
  std::string_view name, category;
  IoKind kind;
  std::uint32_t number;
};

std::optional<Callee> callee_of(std::uint32_t number) {
  if (number < kIoFunctions) return Callee{kIoNames[number], "posix_call", kIoKinds[number], number};
  if (number < kFirstLibraryFunction || number - kFirstLibraryFunction >= kLibraryFunctions) return {};
  const LibraryCallee& of = kLibraryCallees[number - kFirstLibraryFunction];
  return Callee{of.name, category_of(of.library), of.kind, number};
}

/// What `detail` is, for those functions that have one.
std::string_view detail_of(const Callee& callee) {
  const auto function = static_cast<IoFunction>(callee.number);
  const IoKind kind = callee.kind;
  if (const auto of = static_cast<LibraryFunction>(callee.number); callee.number >= kFirstLibraryFunction)
    return of == LibraryFunction::H5Fcreate || of == LibraryFunction::H5Fopen ||
                   of == LibraryFunction::MPI_File_open
               ? "flags"
               : "";
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
      const std::optional<Callee> callee = callee_of(record.value & 0xFFFF);
      const std::uint32_t error = record.value >> 16;
      Told told{};
      if (!callee || !text.whole() || !read(told, record.type, clock, bytes)) return;
      const std::int64_t begin = recording_.times().ns(told.begin), end = recording_.times().ns(told.end);
      if (begin < begin_ns || end > end_ns) return;
      text.begin("X", callee->category, callee->name, recording_.pid(), segment.thread, begin);
      text.duration(end - begin);
      EventArgs args(text.out);
      file(args, "fname", told.file);
      file(args, callee->number < kIoFunctions ? "to" : "object", told.other);
      if (told.offset != kUnknownOffset) args.add("offset", told.offset);
      if (has_size(callee->kind) && told.size > 0) args.add("size", static_cast<std::int64_t>(told.size));
      args.add("ret", told.result);
      if (error != 0) args.add("errno", error);
      if (told.descriptor >= 0) args.add("fd", told.descriptor);
      const std::string_view detail = detail_of(*callee);
      if (told.is_long && !detail.empty()) args.add(detail, static_cast<std::int64_t>(told.detail));
      args.end();
      text.pass_on_if_long();
      ++written;
    });
  }
  return written;
}

}  // namespace stepscope::record
