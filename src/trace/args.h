// The args of every event, without loss. Events with the same keys in the same order share a schema; an event
// stores its schema's id and the start of its run of values (trace/values.h). A key's place is looked up once
// per schema (ArgLookup).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/string_pool.h"

namespace stepscope::trace {

enum class ArgType : std::uint8_t {
  integer,  ///< the value
  real,     ///< bits of a double
  text,     ///< id of a JSON string's text, unescaped
  raw,      ///< id of the JSON text in the file: lists, objects, true, false, null, numbers that fit neither
            ///< int64 nor double
};

struct ArgField {
  StringId key;
  ArgType type;
  bool wide = false;  ///< the value takes two words: reals, and integers beyond 32 bits
  constexpr std::uint32_t words() const { return wide ? 2 : 1; }
  friend bool operator==(const ArgField&, const ArgField&) = default;
};

using SchemaId = std::uint32_t;
inline constexpr SchemaId kNoArgs = 0;

/// All schemas, as a trie: a schema is its parent plus one field. Schema 0 has no fields.
class SchemaTable {
 public:
  SchemaTable();
  /// The schema of `parent`'s fields followed by `field`.
  SchemaId extend(SchemaId parent, ArgField field);
  /// The same if that schema exists, else kNoArgs.
  SchemaId find(SchemaId parent, ArgField field) const;
  std::span<const ArgField> fields(SchemaId id) const { return schemas_[id]; }
  /// Words that the values of a row with this schema take.
  std::uint32_t words(SchemaId id) const { return words_[id]; }
  /// The schema without the last field; it has a smaller id.
  SchemaId parent(SchemaId id) const { return parents_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(schemas_.size()); }
  /// Number of fields in all schemas: the table's memory cost.
  std::size_t total_fields() const { return total_fields_; }

 private:
  std::vector<std::vector<ArgField>> schemas_;
  std::vector<SchemaId> parents_;
  std::vector<std::uint32_t> words_;
  std::size_t total_fields_ = 0;
  std::unordered_map<std::uint64_t, std::vector<SchemaId>> children_;
};

/// The place of one key in each schema; the first if the key repeats. Build it once, O(schemas), then use
/// it for each row.
class ArgLookup {
 public:
  ArgLookup(const SchemaTable& schemas, StringId key);
  bool in(SchemaId schema) const { return place_[schema].word >= 0; }
  /// Words before its value.
  int word(SchemaId schema) const { return place_[schema].word; }
  ArgType type(SchemaId schema) const { return place_[schema].type; }
  bool wide(SchemaId schema) const { return place_[schema].wide; }

 private:
  struct Place {
    std::int32_t word = -1;
    ArgType type = ArgType::integer;
    bool wide = false;
  };
  std::vector<Place> place_;
};

inline double as_real(std::int64_t bits) { return std::bit_cast<double>(bits); }
inline std::int64_t as_bits(double value) { return std::bit_cast<std::int64_t>(value); }

}  // namespace stepscope::trace
