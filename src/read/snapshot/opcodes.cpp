#include "read/snapshot/opcodes.h"

namespace stepscope::read {
namespace {

constexpr std::string_view kCalls = "which calls code that the file names";
constexpr std::string_view kNames = "which loads code that the file names";
constexpr std::string_view kOutside = "which loads an object from outside the file";
constexpr std::string_view kOther = "which makes an object that no snapshot has";
constexpr std::string_view kText = "which only protocols 0 and 1 write";

struct Known {
  Op op;
  std::string_view name, refusal = {};
};

constexpr Known kKnown[] = {
    {Op::mark, "MARK"},
    {Op::stop, "STOP"},
    {Op::pop, "POP", kOther},
    {Op::pop_mark, "POP_MARK", kOther},
    {Op::dup, "DUP", kOther},
    {Op::float_text, "FLOAT", kText},
    {Op::int_text, "INT", kText},
    {Op::binint, "BININT"},
    {Op::binint1, "BININT1"},
    {Op::long_text, "LONG", kText},
    {Op::binint2, "BININT2"},
    {Op::none, "NONE"},
    {Op::persid, "PERSID", kOutside},
    {Op::binpersid, "BINPERSID", kOutside},
    {Op::reduce, "REDUCE", kCalls},
    {Op::string, "STRING", kText},
    {Op::binstring, "BINSTRING", kText},
    {Op::short_binstring, "SHORT_BINSTRING", kText},
    {Op::unicode, "UNICODE", kText},
    {Op::binunicode, "BINUNICODE"},
    {Op::append, "APPEND"},
    {Op::build, "BUILD", kCalls},
    {Op::global, "GLOBAL", kNames},
    {Op::dict, "DICT"},
    {Op::empty_dict, "EMPTY_DICT"},
    {Op::appends, "APPENDS"},
    {Op::get, "GET", kText},
    {Op::binget, "BINGET"},
    {Op::inst, "INST", kCalls},
    {Op::long_binget, "LONG_BINGET"},
    {Op::list, "LIST"},
    {Op::empty_list, "EMPTY_LIST"},
    {Op::obj, "OBJ", kCalls},
    {Op::put, "PUT", kText},
    {Op::binput, "BINPUT"},
    {Op::long_binput, "LONG_BINPUT"},
    {Op::setitem, "SETITEM"},
    {Op::tuple, "TUPLE"},
    {Op::empty_tuple, "EMPTY_TUPLE"},
    {Op::setitems, "SETITEMS"},
    {Op::binfloat, "BINFLOAT"},
    {Op::proto, "PROTO"},
    {Op::newobj, "NEWOBJ", kCalls},
    {Op::ext1, "EXT1", kNames},
    {Op::ext2, "EXT2", kNames},
    {Op::ext4, "EXT4", kNames},
    {Op::tuple1, "TUPLE1"},
    {Op::tuple2, "TUPLE2"},
    {Op::tuple3, "TUPLE3"},
    {Op::newtrue, "NEWTRUE"},
    {Op::newfalse, "NEWFALSE"},
    {Op::long1, "LONG1"},
    {Op::long4, "LONG4"},
    {Op::binbytes, "BINBYTES"},
    {Op::short_binbytes, "SHORT_BINBYTES"},
    {Op::short_binunicode, "SHORT_BINUNICODE"},
    {Op::binunicode8, "BINUNICODE8"},
    {Op::binbytes8, "BINBYTES8"},
    {Op::empty_set, "EMPTY_SET", kOther},
    {Op::additems, "ADDITEMS", kOther},
    {Op::frozenset, "FROZENSET", kOther},
    {Op::newobj_ex, "NEWOBJ_EX", kCalls},
    {Op::stack_global, "STACK_GLOBAL", kNames},
    {Op::memoize, "MEMOIZE"},
    {Op::frame, "FRAME"},
    {Op::bytearray8, "BYTEARRAY8", kOther},
    {Op::next_buffer, "NEXT_BUFFER", kOutside},
    {Op::readonly_buffer, "READONLY_BUFFER", kOutside},
};

const Known* find(Op op) {
  for (const Known& known : kKnown)
    if (known.op == op) return &known;
  return nullptr;
}

}  // namespace

std::string_view name_of(Op op) {
  const Known* known = find(op);
  return known == nullptr ? std::string_view{} : known->name;
}

std::string_view refusal_of(Op op) {
  const Known* known = find(op);
  return known == nullptr ? std::string_view{} : known->refusal;
}

}  // namespace stepscope::read
