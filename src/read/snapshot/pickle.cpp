#include "read/snapshot/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "read/snapshot/bytes.h"
#include "read/snapshot/opcodes.h"

namespace stepscope::read {
namespace {

constexpr std::string_view kRemedy =
    "nothing of the file was run; snapshots of torch.cuda.memory._dump_snapshot() hold only data";
constexpr std::uint64_t kMaxText = std::uint64_t{1} << 16;  // bytes kept of a text
constexpr std::size_t kMaxFixed = 16;                       // bytes of the longest opcode without a text

template <class Number>
Number load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

std::uint64_t load_big_endian(const char* at) { return __builtin_bswap64(load<std::uint64_t>(at)); }

class Pickle {
 public:
  Pickle(ByteSource& source, Machine& machine, const StoredBytes& progress)
      : source_(source), bytes_(source), machine_(machine), progress_(progress) {}

  Result<DocumentEnd> read() {
    while (!stopped_) {
      if (!run()) return error();
      if (stopped_ || cut_) break;
      if (!machine_.has_room(source_.position())) return damaged(machine_.reason(), bytes_.offset());
      if (progress_) progress_(source_.position());
    }
    if (cut_ && bytes_.expands()) return damaged(Bytes::kExpands, bytes_.total());
    if (cut_) machine_.close();
    DocumentEnd end{0, !cut_, {}};
    if (!cut_) end.behind = what_follows();
    end.bytes = bytes_.total();
    return end;
  }

 private:
  /// Runs opcodes until the window is used up; false at an error.
  bool run() {
    bytes_.need(Bytes::kWindow / 2);
    // Behind the window are zeros, so the fixed part of an opcode can be loaded without asking first.
    while (bytes_.at() < bytes_.end()) {
      begin_ = bytes_.offset();
      op_ = static_cast<Op>(*bytes_.at());
      bytes_.pass(1);
      if (!step()) return false;
      if (stopped_ || cut_) return true;
      if (bytes_.end() - bytes_.at() < static_cast<std::ptrdiff_t>(kMaxFixed)) {
        bytes_.need(kMaxFixed);
        if (bytes_.end() == bytes_.at()) break;
        return true;
      }
    }
    cut_ = true;
    return true;
  }

  [[gnu::always_inline]] bool step() {
    using Kind = Object::Kind;
    switch (op_) {
      case Op::binget:
        return take(1) ? machine_.recall(u8()) && push_more() : cut();
      case Op::long_binget:
        return take(4) ? machine_.recall(load<std::uint32_t>(arg_)) && push_more() : cut();
      case Op::memoize:
        return machine_.memoize(machine_.heap.memo_size());
      case Op::binput:
        return take(1) ? machine_.memoize(u8()) : cut();
      case Op::long_binput:
        return take(4) ? machine_.memoize(load<std::uint32_t>(arg_)) : cut();
      case Op::binint1:
        return take(1) ? push_integer(u8()) && push_more() : cut();
      case Op::binint2:
        return take(2) ? push_integer(load<std::uint16_t>(arg_)) && push_more() : cut();
      case Op::binint:
        return take(4) ? push_integer(load<std::int32_t>(arg_)) && push_more() : cut();
      case Op::long1:
        return take(1) ? long_integer(u8()) && push_more() : cut();
      case Op::long4:
        return take(4) ? long_integer(load<std::uint32_t>(arg_)) : cut();
      case Op::short_binunicode:
        return take(1) ? text(u8()) : cut();
      case Op::binunicode:
        return take(4) ? text(load<std::uint32_t>(arg_)) : cut();
      case Op::binunicode8:
        return take(8) ? text(load<std::uint64_t>(arg_)) : cut();
      case Op::short_binbytes:
        return take(1) ? opaque(u8()) : cut();
      case Op::binbytes:
        return take(4) ? opaque(load<std::uint32_t>(arg_)) : cut();
      case Op::binbytes8:
        return take(8) ? opaque(load<std::uint64_t>(arg_)) : cut();
      case Op::binfloat:
        return take(8) ? push(machine_.heap.real(std::bit_cast<double>(load_big_endian(arg_)))) : cut();
      case Op::none:
        return push({Tag::none, 0});
      case Op::newtrue:
        return push({Tag::boolean, 1});
      case Op::newfalse:
        return push({Tag::boolean, 0});
      case Op::empty_list:
        return push(machine_.heap.make(Kind::list));
      case Op::empty_dict:
        return push(machine_.heap.make(Kind::dict));
      case Op::empty_tuple:
        return machine_.make_tuple(0);
      case Op::tuple1:
        return machine_.make_tuple(1);
      case Op::tuple2:
        return machine_.make_tuple(2);
      case Op::tuple3:
        return machine_.make_tuple(3);
      case Op::tuple:
        return machine_.make_marked(Kind::tuple);
      case Op::list:
        return machine_.make_marked(Kind::list);
      case Op::dict:
        return machine_.make_marked(Kind::dict);
      case Op::mark:
        return mark();
      case Op::append:
        return machine_.append_one();
      case Op::appends:
        return machine_.append_marked();
      case Op::setitem:
        return machine_.set_one();
      case Op::setitems:
        return machine_.set_marked();
      case Op::proto:
        return take(1) ? protocol(u8()) : cut();
      case Op::frame:
        return take(8) || cut();
      case Op::global:
        return global();
      case Op::reduce:
        return machine_.reduce();
      case Op::stop:
        stopped_ = true;
        return !machine_.stack.empty() || refuse("ends before it holds anything");
      default:
        return refuse_opcode();
    }
  }

  bool mark() {
    const char* p = bytes_.at();
    if (!machine_.fill_frames(p, bytes_.end())) return machine_.mark();
    bytes_.go(p + 1);
    return true;
  }

  /// Nearly all opcodes push an integer or what the memo has, one after the other.
  bool push_more() {
    constexpr std::ptrdiff_t kAtOnce = 64;
    const char* p = bytes_.at();
    const char* const last = bytes_.end() - kMaxFixed;
    Value* const begin = machine_.stack.room(kAtOnce);
    Value* to = begin;
    for (; p < last && to - begin < kAtOnce; ++to) {
      const auto op = static_cast<Op>(*p);
      if (op == Op::long_binget) {
        if (!machine_.heap.recall_plain(load<std::uint32_t>(p + 1), *to)) break;
        p += 5;
      } else if (op == Op::binget) {
        if (!machine_.heap.recall_plain(load<std::uint8_t>(p + 1), *to)) break;
        p += 2;
      } else if (op == Op::long1 && load<std::uint8_t>(p + 1) - 1U < 8) {
        const std::size_t size = load<std::uint8_t>(p + 1);
        *to = machine_.heap.integer(little_endian(p + 2, size));
        p += 2 + size;
      } else if (op == Op::binint1) {
        *to = {Tag::integer, load<std::uint8_t>(p + 1)};
        p += 2;
      } else if (op == Op::binint2) {
        *to = {Tag::integer, load<std::uint16_t>(p + 1)};
        p += 3;
      } else if (op == Op::binint) {
        *to = {Tag::integer, load<std::int32_t>(p + 1)};
        p += 5;
      } else {
        break;
      }
    }
    machine_.stack.took(to);
    bytes_.go(p);
    return true;
  }

  /// Of 1 to 8 bytes; those behind are read too.
  static std::int64_t little_endian(const char* at, std::size_t size) {
    const std::size_t unused = 64 - 8 * size;
    return static_cast<std::int64_t>(load<std::uint64_t>(at) << unused) >> unused;
  }

  [[gnu::always_inline]] bool take(std::size_t count) {
    if (!bytes_.need(count)) return false;
    arg_ = bytes_.at();
    bytes_.pass(count);
    return true;
  }
  std::uint8_t u8() const { return static_cast<std::uint8_t>(*arg_); }
  bool push(Value value) {
    machine_.push(value);
    return true;
  }
  bool push_integer(std::int64_t value) { return push({Tag::integer, value}); }
  /// The file ends within an opcode.
  bool cut() {
    cut_ = true;
    return true;
  }

  bool protocol(std::uint8_t version) {
    if (version >= 2 && version <= 5) return true;
    return refuse(fmt::format("says that it is of pickle protocol {}; protocols 2 to 5 are read", version));
  }

  /// Little endian, two's complement.
  bool long_integer(std::uint64_t size) {
    if (size > 9) {
      if (!bytes_.skip(size)) return cut();
      return push(machine_.heap.text(fmt::format("(an integer of {} bytes)", size)));
    }
    if (!take(size)) return cut();
    if (size == 9 && arg_[8] != 0) return push(machine_.heap.text("(an integer of 9 bytes)"));
    if (size == 9) return push(machine_.heap.large(load<std::uint64_t>(arg_)));
    return push(machine_.heap.integer(size == 0 ? 0 : little_endian(arg_, size)));
  }

  bool text(std::uint64_t size) {
    const std::uint64_t kept = std::min(size, kMaxText);
    if (!take(kept)) return cut();
    push(machine_.heap.text({arg_, kept}));
    return bytes_.skip(size - kept) || cut();
  }

  bool opaque(std::uint64_t size) {
    if (!bytes_.skip(size)) return cut();
    return push({Tag::bytes, static_cast<std::int64_t>(size)});
  }

  /// The one name that old writers wrap containers in; it does nothing.
  bool global() {
    constexpr std::string_view kHarmless = "torch.jit._pickle\nrestore_type_tag\n";
    bytes_.need(kMaxName);
    const std::string_view rest(bytes_.at(), static_cast<std::size_t>(bytes_.end() - bytes_.at()));
    if (rest.starts_with(kHarmless)) {
      bytes_.pass(kHarmless.size());
      return push({Tag::restore_type_tag, 0});
    }
    if (kHarmless.starts_with(rest)) return cut();
    const std::size_t first = rest.find('\n');
    const std::string_view behind = rest.substr(std::min(rest.size(), first + 1));
    const std::string_view module = rest.substr(0, std::min<std::size_t>(first, kMaxName));
    const std::string_view name = behind.substr(0, std::min<std::size_t>(behind.find('\n'), kMaxName));
    return refuse(fmt::format("holds the opcode GLOBAL, which loads code that the file names, here {}: {}",
                              json_text(fmt::format("{}.{}", module, name)), kRemedy));
  }

  bool refuse_opcode() {
    const std::string_view name = name_of(op_);
    if (name.empty())
      return refuse(
          fmt::format("holds the byte {:#04x} where an opcode belongs: the file is damaged; copy it again",
                      static_cast<unsigned>(op_)));
    return refuse(fmt::format("holds the opcode {}, {}: {}", name, refusal_of(op_), kRemedy));
  }

  bool refuse(std::string message) {
    refusal_ = std::move(message);
    return false;
  }
  Error failed(std::string message, std::int64_t at) { return {std::move(message), {}, at}; }
  Error error() {
    if (!refusal_.empty()) return failed(std::move(refusal_), begin_);
    return damaged(fmt::format("{} with the opcode {}", machine_.reason(), name_of(op_)), begin_);
  }
  Error damaged(std::string_view reason, std::int64_t at) {
    return failed(fmt::format("{}: the file is damaged, or no snapshot; write it again", reason), at);
  }

  /// Viewers pad the pickle with NULs.
  std::string what_follows() {
    const std::int64_t end = bytes_.offset();
    while (bytes_.need(1)) {
      const char* p = bytes_.at();
      while (p < bytes_.end() && *p == '\0') ++p;
      bytes_.go(p);
      if (p < bytes_.end())
        return fmt::format("Bytes that do not belong to it follow its end at byte {}; they were not read.",
                           end);
    }
    if (bytes_.expands()) return fmt::format("Zeros without end follow its end at byte {}.", end);
    return "";
  }

  static constexpr std::size_t kMaxName = 100;

  ByteSource& source_;
  Bytes bytes_;
  Machine& machine_;
  const StoredBytes& progress_;
  Op op_{};
  const char* arg_ = nullptr;
  std::int64_t begin_ = 0;
  bool stopped_ = false, cut_ = false;
  std::string refusal_;
};

}  // namespace

Result<DocumentEnd> read_pickle(ByteSource& source, Machine& machine, const StoredBytes& progress) {
  return Pickle(source, machine, progress).read();
}

}  // namespace stepscope::read
