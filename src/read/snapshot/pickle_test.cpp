// Pickles opcode by opcode: what is read, what is refused, and what a hostile file can cost.
#include "read/snapshot/pickle.h"

#include <gtest/gtest.h>

#include "read/snapshot/opcodes.h"
#include "read/snapshot/pickled_for_test.h"

namespace stepscope::read {
namespace {

using namespace std::string_literals;
using test::extra_of;
using test::little;
using test::parsed;
using test::pickled;
using test::text;
using test::with_extra;

TEST(Pickle, EachOpcode) {
  const std::pair<std::string, std::string> kCases[] = {
      {"N", "null"},
      {"\x88", "true"},
      {"\x89", "false"},
      {"K\xff", "255"},
      {"M\xff\xff", "65535"},
      {"J\xff\xff\xff\xff", "-1"},
      {"\x8a\0"s, "0"},
      {"\x8a\x01\xff"s, "-1"},
      {"\x8a\x08" + little(1ULL << 62, 8), "4611686018427387904"},
      {"\x8a\x08" + little(~std::uint64_t{0}, 8), "-1"},
      {"\x8a\x09" + little(~std::uint64_t{0}, 8) + "\0"s, "18446744073709551615"},
      {"\x8a\x09" + little(1, 8) + "\1", "(an integer of 9 bytes)"},
      {"\x8a\xff" + std::string(255, '\1'), "(an integer of 255 bytes)"},
      {"\x8b" + little(2, 4) + "\1\1", "257"},
      {"G\x3f\xf8\0\0\0\0\0\0"s, "1.5"},
      {"\x8c\2ab", "ab"},
      {"X" + little(2, 4) + "ab", "ab"},
      {"\x8d" + little(2, 8) + "ab", "ab"},
      {"C\3abc", "\"(3 bytes)\""},
      {"B" + little(3, 4) + "abc", "\"(3 bytes)\""},
      {"\x8e" + little(3, 8) + "abc", "\"(3 bytes)\""},
      {"]", "[]"},
      {"]K\1a", "[1]"},
      {"](K\1K\2e", "[1, 2]"},
      {"(K\1K\2l", "[1, 2]"},
      {"}", "{}"},
      {"}X\1\0\0\0aK\1s"s, "{\"a\": 1}"},
      {"}(\x8c\1aK\1\x8c\1bK\2u", "{\"a\": 1, \"b\": 2}"},
      {"(\x8c\1aK\1d", "{\"a\": 1}"},
      {")", "[]"},
      {"K\1\x85", "[1]"},
      {"K\1K\2\x86", "[1, 2]"},
      {"\x8c\1aK\2\x86", "[\"a\", 2]"},
      {"J\xff\xff\xff\xffJ\0\0\0\x80\x86"s, "[-1, -2147483648]"},
      {"K\1K\2K\3\x87", "[1, 2, 3]"},
      {"(K\1K\2K\3K\4t", "[1, 2, 3, 4]"},
      {"](K\1\x94h\0e"s, "[1, 1]"},
      {"](K\1q\5h\5j\5\0\0\0e"s, "[1, 1, 1]"},
      {"](K\1r\5\0\0\0h\5e"s, "[1, 1]"},
      {"\x95" + little(~std::uint64_t{0}, 8) + "K\1", "1"},
      {"\x80\4K\1", "1"},
      {"ctorch.jit._pickle\nrestore_type_tag\n]X\3\0\0\0tag\x86R"s, "[]"},
  };
  for (const auto& [value, json] : kCases) {
    const std::string found = extra_of(with_extra(value));
    EXPECT_EQ(found, json) << testing::PrintToString(value);
  }
}

TEST(Pickle, RefusedOpcodes) {
  constexpr Op kRefused[] = {Op::global,      Op::stack_global,
                             Op::inst,        Op::obj,
                             Op::newobj,      Op::newobj_ex,
                             Op::build,       Op::persid,
                             Op::binpersid,   Op::ext1,
                             Op::ext2,        Op::ext4,
                             Op::next_buffer, Op::readonly_buffer,
                             Op::bytearray8,  Op::empty_set,
                             Op::additems,    Op::frozenset,
                             Op::pop,         Op::pop_mark,
                             Op::dup,         Op::int_text,
                             Op::long_text,   Op::float_text,
                             Op::string,      Op::unicode,
                             Op::get,         Op::put,
                             Op::binstring,   Op::short_binstring};
  for (const Op op : kRefused) {
    const std::string bytes = pickled("]" + std::string(1, static_cast<char>(op)) + "posix\nsystem\n");
    const auto file = parsed(bytes);
    ASSERT_FALSE(file.ok()) << name_of(op);
    EXPECT_EQ(file.error().byte, 3) << name_of(op);
    const std::string said = file.error().text();
    EXPECT_NE(said.find("holds the opcode " + std::string(name_of(op)) + ", which"), said.npos) << said;
    EXPECT_NE(said.find("nothing of the file was run"), said.npos) << said;
  }
  const std::string reduce = extra_of(with_extra("N)R"));
  EXPECT_NE(reduce.find("calls something other than restore_type_tag with the opcode REDUCE"), reduce.npos)
      << reduce;
  const std::string system = extra_of(with_extra("cposix\nsystem\nX\4\0\0\0true\x85R"s));
  EXPECT_NE(system.find("here \"posix.system\""), system.npos) << system;
  const std::string damaged = extra_of(with_extra("\xff"));
  EXPECT_NE(damaged.find("holds the byte 0xff where an opcode belongs"), damaged.npos) << damaged;
}

// Claimed lengths are not believed, and what is far too deep or far away in the memo is refused.
TEST(Pickle, HostileClaims) {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  for (const std::string& claim : {"\x8d" + little(huge, 8), "\x8e" + little(huge, 8),
                                   "\x8b" + little(~0u, 4), "X" + little(~0u, 4), "B" + little(~0u, 4)}) {
    const auto file = parsed(with_extra(claim + "abc"));
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_FALSE(file->rank.reading.complete);
    EXPECT_TRUE(file->snapshot->cut);
  }
  EXPECT_NE(extra_of(with_extra("Nr\xff\xff\xff\xff")).find("far beyond the end of the memo"),
            std::string::npos);
  EXPECT_NE(extra_of(with_extra("h\7")).find("asks for a memo entry"), std::string::npos);
  EXPECT_NE(extra_of(with_extra(std::string(1'001, '('))).find("1,000 levels"), std::string::npos);
  EXPECT_NE(extra_of(with_extra("e")).find("the opcode APPENDS"), std::string::npos);
  EXPECT_NE(extra_of(pickled("a")).find("the opcode APPEND"), std::string::npos);
  EXPECT_NE(extra_of(pickled("}K\1s")).find("the opcode SETITEM"), std::string::npos);
  EXPECT_NE(extra_of(pickled("](}(K\1s")).find("the opcode SETITEM"), std::string::npos);  // across a mark
  EXPECT_NE(extra_of(pickled("")).find("ends before it holds anything"), std::string::npos);
  EXPECT_NE(extra_of("\x80\x09.").find("protocol 9"), std::string::npos);
}

// Lists in lists cost nothing but the file's own length, and so do lists that share others or hold
// themselves.
TEST(Pickle, DeepAndSharedLists) {
  constexpr int kDeep = 1'000'000;
  EXPECT_TRUE(
      extra_of(with_extra(std::string(kDeep, ']') + std::string(kDeep - 1, 'a'))).starts_with("[[[["));
  std::string laughs = "]\x94";
  for (char i = 0; i < 60; ++i) {
    laughs += "]\x94(";
    for (int k = 0; k < 10; ++k) laughs += "h"s + i;
    laughs += "e";
  }
  EXPECT_LT(extra_of(with_extra("(" + laughs + "l")).size(), 20'000u);
  EXPECT_TRUE(extra_of(with_extra("]\x94h\0a"s)).starts_with("[[[["));
}

TEST(Pickle, AfterTheEnd) {
  const std::string whole = with_extra("K\1");
  EXPECT_TRUE(parsed(whole + std::string(5'000'000, '\0'))->snapshot->faults.empty());
  const auto behind = parsed(whole + "\0\0cposix\nsystem\n"s);
  ASSERT_EQ(behind->snapshot->faults.size(), 1u);
  EXPECT_NE(behind->snapshot->faults[0].find("were not read"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::read
