#include "trace/trace.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace stepscope::trace {
namespace {

TEST(StringPool, GivesEqualTextsEqualIds) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), kEmptyString);
  const StringId a = pool.intern("a"), b = pool.intern("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.intern("a"), a);
  EXPECT_EQ(pool[a], "a");
  EXPECT_EQ(pool.find("b"), b);
  EXPECT_EQ(pool.find("c"), kNoString);
}

TEST(StringPool, KeepsViewsValidAsItGrows) {
  StringPool pool;
  std::mt19937 random(1);
  std::unordered_map<std::string, StringId> ids;
  const std::string_view first = pool[pool.intern("the first text of all")];
  for (int i = 0; i < 50000; ++i) {
    std::string text(random() % 40, static_cast<char>('a' + random() % 26));
    text += std::to_string(random() % 20000);
    const StringId id = pool.intern(text);
    const auto [known, added] = ids.emplace(text, id);
    ASSERT_EQ(known->second, id);
  }
  for (const auto& [text, id] : ids) ASSERT_EQ(pool[id], text);
  EXPECT_EQ(first, "the first text of all");
  EXPECT_EQ(pool.size(), ids.size() + 2);
}

TEST(StringPool, TellsTextsOfEveryLengthApart) {
  StringPool pool;
  std::vector<StringId> ids;
  std::string text;
  for (int i = 0; i < 100; ++i) ids.push_back(pool.intern(text += '\0'));
  for (int i = 1; i < 100; ++i)
    EXPECT_NE(ids[static_cast<std::size_t>(i)], ids[static_cast<std::size_t>(i - 1)]);
}

TEST(StringPool, HoldsTextsLargerThanItsArena) {
  StringPool pool;
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(pool[pool.intern(large)], large);
  EXPECT_GE(pool.bytes(), large.size());
}

/// A trace of one rank; each add() appends a row with these args.
struct WithArgs {
  Trace trace;
  void add(std::initializer_list<std::tuple<std::string_view, ArgType, std::int64_t>> args) {
    if (trace.ranks.empty()) trace.ranks.emplace_back();
    Rank& rank = trace.ranks[0];
    SchemaId schema = kNoArgs;
    rank.events.args_at.push_back(static_cast<std::uint32_t>(rank.values.size()));
    for (const auto& [key, type, value] : args) {
      const bool wide =
          type == ArgType::real || (type == ArgType::integer && value != static_cast<std::int32_t>(value));
      schema = trace.schemas.extend(schema, {trace.strings.intern(key), type, wide});
      rank.values.push_back(value, wide);
    }
    rank.events.schema.push_back(schema);
  }
};

TEST(Values, KeepTheirOrderWhenAnotherTakesThem) {
  constexpr std::int64_t kMany = 600'000;  // more than two pieces
  Values first, all;
  first.push_back(-1, false);  // so that wide values lie across the ends of pieces
  for (std::int64_t i = 0; i < kMany; ++i) first.push_back(i << 20, true);
  const std::vector<std::int64_t> more{7, -8, std::int64_t{9} << 40};
  const std::vector<ArgField> fields{{1, ArgType::text}, {2, ArgType::integer}, {3, ArgType::integer, true}};
  Values second;
  second.append(more, fields);
  const std::size_t at_first = all.take(std::move(first)), at_second = all.take(std::move(second));
  const std::size_t at_none = all.take({});
  EXPECT_EQ(all.get(at_first, false), -1);
  for (std::int64_t i = 0; i < kMany; ++i)
    ASSERT_EQ(all.get(at_first + 1 + 2 * static_cast<std::size_t>(i), true), i << 20);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all.get(at_second + i, fields[i].wide), more[i]);
  all.set(at_second + 2, true, -5);
  EXPECT_EQ(all.get(at_second + 2, true), -5);
  EXPECT_GE(all.room(), at_none);
}

TEST(SchemaTable, EqualFieldsAreOneSchema) {
  SchemaTable schemas;
  const SchemaId a = schemas.extend(kNoArgs, {1, ArgType::integer});
  EXPECT_EQ(schemas.extend(kNoArgs, {1, ArgType::integer}), a);
  EXPECT_NE(schemas.extend(kNoArgs, {1, ArgType::text}), a);
  const SchemaId ab = schemas.extend(a, {2, ArgType::text});
  ASSERT_EQ(schemas.fields(ab).size(), 2u);
  EXPECT_EQ(schemas.fields(ab)[1], (ArgField{2, ArgType::text}));
  EXPECT_TRUE(schemas.fields(kNoArgs).empty());
  EXPECT_EQ(schemas.total_fields(), 4u);
  EXPECT_EQ(schemas.parent(ab), a);
  EXPECT_EQ(schemas.parent(a), kNoArgs);
  const SchemaId wide = schemas.extend(a, {2, ArgType::integer, true});
  EXPECT_EQ(schemas.find(a, {2, ArgType::integer, true}), wide);
  EXPECT_EQ(schemas.find(a, {2, ArgType::integer, false}), kNoArgs);
  EXPECT_EQ(schemas.words(wide), 3u);
}

TEST(ArgLookup, OfAKeyThatStandsTwiceTheFirst) {
  SchemaTable schemas;
  const SchemaId a = schemas.extend(kNoArgs, {1, ArgType::integer}),
                 ab = schemas.extend(a, {2, ArgType::text}), aba = schemas.extend(ab, {1, ArgType::real}),
                 b = schemas.extend(kNoArgs, {2, ArgType::raw});
  const ArgLookup one(schemas, 1), two(schemas, 2), none(schemas, kNoString);
  EXPECT_EQ(one.word(aba), 0);
  EXPECT_EQ(one.type(aba), ArgType::integer);
  EXPECT_FALSE(one.in(b) || one.in(kNoArgs));
  EXPECT_EQ(two.word(ab), 1);
  EXPECT_EQ(two.word(aba), 1);
  EXPECT_EQ(two.word(b), 0);
  EXPECT_EQ(two.type(b), ArgType::raw);
  EXPECT_FALSE(two.in(a) || none.in(ab));
}

TEST(ArgReader, ReadsEachTypeAsWhatItCanBe) {
  WithArgs w;
  const auto text = static_cast<std::int64_t>(w.trace.strings.intern("word"));
  const auto number = static_cast<std::int64_t>(w.trace.strings.intern("12345678901234567890"));
  w.add({{"other", ArgType::integer, std::int64_t{1} << 40}, {"k", ArgType::integer, 7}});
  w.add({{"k", ArgType::real, as_bits(2.75)}});
  w.add({{"k", ArgType::text, text}});
  w.add({{"k", ArgType::raw, number}});
  w.add({});
  w.add({{"k", ArgType::real, as_bits(1e300)}});
  const ArgReader k(w.trace, w.trace.ranks[0], "k"), none(w.trace, w.trace.ranks[0], "never used");
  EXPECT_EQ(k.integer(0), 7);
  EXPECT_EQ(k.real(0), 7.0);
  EXPECT_EQ(k.text(0), "");
  EXPECT_EQ(k.integer(1), 2);
  EXPECT_EQ(k.real(1), 2.75);
  EXPECT_EQ(k.text(2), "word");
  EXPECT_EQ(k.integer(2), std::nullopt);
  EXPECT_EQ(k.real(2), std::nullopt);
  EXPECT_EQ(k.real(3), 12345678901234567890.0);
  EXPECT_EQ(k.text(3), "12345678901234567890");
  EXPECT_FALSE(k.has(4));
  EXPECT_EQ(k.integer_or(4, -1), -1);
  EXPECT_EQ(k.integer(5), std::nullopt) << "no integer holds it";
  EXPECT_FALSE(none.has(0));
  EXPECT_EQ(none.text(0), "");
}

TEST(Kind, EveryOneHasAName) {
  for (int kind = 0; kind < kKinds; ++kind) EXPECT_FALSE(name_of(static_cast<Kind>(kind)).empty());
  EXPECT_EQ(name_of(Kind::other), "other");
  EXPECT_EQ(name_of(Kind::op), "op");
  EXPECT_EQ(name_of(Kind::io), "io");
  EXPECT_EQ(name_of(Kind::io_library), "io_library");
}

}  // namespace
}  // namespace stepscope::trace
