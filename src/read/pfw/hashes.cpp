#include "read/pfw/hashes.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace stepscope::read {
namespace {

using trace::SchemaId;
using trace::StringId;
using Of = Definition::Of;

constexpr std::size_t kSpaces = 3;  // files, hosts, texts

Of space_of(std::string_view key) {
  if (key == "hhash") return Of::host;
  return key == "exec_hash" || key == "cmd_hash" ? Of::text : Of::file;
}

std::string_view renamed(std::string_view key) {
  if (key == "fhash") return "fname";
  if (key == "hhash") return "hostname";
  if (key.ends_with("_hash")) key.remove_suffix(5);
  return key;
}

/// What each hash means at a place in the file. Names and hashes have numbers of their own, since every
/// thread that read a part of the file numbered them otherwise.
class Meanings {
 public:
  explicit Meanings(std::vector<Vocabulary>& words)
      : words_(words), hash_of_(words.size()), name_in_(words.size()) {}

  /// What is said first holds before it, too.
  void foresee(std::size_t v, const Definition& of) {
    StringId& meaning = at(of.of, hash(v, of.hash));
    const StringId name = names_.intern(words_[v].strings[of.name]);
    if (meaning == trace::kNoString) meaning = name;
    if (meaning == name) return;
    bool& known = several_[std::pair(of.of, hash(v, of.hash))];
    ambiguous_ += !std::exchange(known, true);
  }
  void define(std::size_t v, const Definition& of) {
    at(of.of, hash(v, of.hash)) = names_.intern(words_[v].strings[of.name]);
  }
  /// The name's id in the vocabulary `v`, kNoString if there is none.
  StringId name_of(std::size_t v, Of space, StringId text) {
    const std::vector<StringId>& meanings = meanings_[static_cast<std::size_t>(space)];
    const StringId hash = known_hash(v, text);
    if (hash >= meanings.size() || meanings[hash] == trace::kNoString) return trace::kNoString;
    const StringId name = meanings[hash];
    if (name >= name_in_[v].size()) name_in_[v].resize(names_.size(), trace::kNoString);
    StringId& id = name_in_[v][name];
    if (id == trace::kNoString) id = words_[v].strings.intern(names_[name]);
    return id;
  }
  std::int64_t ambiguous() const { return ambiguous_; }

 private:
  struct PairHash {
    std::size_t operator()(const std::pair<Of, StringId>& key) const {
      return hash_of_all(process_hash_seed(), static_cast<int>(key.first), key.second);
    }
  };
  StringId hash(std::size_t v, StringId text) { return hashes_.intern(words_[v].strings[text]); }
  /// The number of a hash in an event's args. All hashes that mean something are known by then.
  StringId known_hash(std::size_t v, StringId text) {
    constexpr StringId kNotAsked = trace::kNoString - 1;
    std::vector<StringId>& of = hash_of_[v];
    if (text >= of.size()) of.resize(words_[v].strings.size(), kNotAsked);
    if (of[text] == kNotAsked) of[text] = hashes_.find(words_[v].strings[text]);
    return of[text];
  }
  StringId& at(Of space, StringId hash) {
    std::vector<StringId>& meanings = meanings_[static_cast<std::size_t>(space)];
    if (hash >= meanings.size()) meanings.resize(hash + 1 + hash / 2, trace::kNoString);
    return meanings[hash];
  }

  std::vector<Vocabulary>& words_;
  trace::StringPool hashes_, names_;
  std::array<std::vector<StringId>, kSpaces> meanings_;  // by hash
  std::vector<std::vector<StringId>> hash_of_;           // by vocabulary and its text
  std::vector<std::vector<StringId>> name_in_;           // by vocabulary and name
  std::unordered_map<std::pair<Of, StringId>, bool, PairHash> several_;
  std::int64_t ambiguous_ = 0;
};

/// The hashes in the args of one schema.
struct Places {
  struct Place {
    std::uint32_t word, field;
    Of space;
  };
  bool asked = false;
  std::vector<Place> list;        ///< at most kMaxPlaces
  SchemaId all = trace::kNoArgs;  ///< the schema with names for all of them
};
constexpr std::size_t kMaxPlaces = 16;

/// The schemas of one vocabulary, and those with names in place of hashes.
class NamedSchemas {
 public:
  explicit NamedSchemas(Vocabulary& words) : words_(words) {}

  Places& places(SchemaId schema) {
    if (schema >= places_.size()) places_.resize(std::max<std::size_t>(schema + 1, words_.schemas.size()));
    Places& of = places_[schema];
    if (!of.asked) find(schema, of);
    return of;
  }
  /// The schema with names at the places in `mask`; kNoArgs if there is no room for it.
  SchemaId named(SchemaId schema, std::uint32_t mask) {
    Places& of = places_[schema];
    const bool is_all = mask == (1U << of.list.size()) - 1;
    SchemaId& known = is_all ? of.all : some_[std::uint64_t{schema} << 32 | mask];
    if (known == trace::kNoArgs && has_room()) known = make(schema, of, mask);
    return known;
  }

 private:
  // A file decides how many schemas there are; those with names are at most as many again.
  bool has_room() const {
    return words_.schemas.size() < (1U << 19) && words_.schemas.total_fields() < (std::size_t{1} << 23);
  }
  void find(SchemaId schema, Places& of) {
    of.asked = true;
    std::uint32_t word = 0, at = 0;
    for (const trace::ArgField& field : words_.schemas.fields(schema)) {
      const std::string_view key = words_.strings[field.key];
      if (field.type == trace::ArgType::text && is_hash_key(key) && of.list.size() < kMaxPlaces)
        of.list.push_back({word, at, space_of(key)});
      word += field.words();
      ++at;
    }
  }
  SchemaId make(SchemaId schema, const Places& of, std::uint32_t mask) {
    const auto fields = words_.schemas.fields(schema);
    std::vector<trace::ArgField> list(fields.begin(), fields.end());
    for (std::size_t i = 0; i < of.list.size(); ++i) {
      StringId& key = list[of.list[i].field].key;
      if ((mask >> i & 1) != 0) key = words_.strings.intern(renamed(words_.strings[key]));
    }
    SchemaId next = trace::kNoArgs;
    for (const trace::ArgField& field : list) next = words_.schemas.extend(next, field);
    return next;
  }

  Vocabulary& words_;
  std::vector<Places> places_;  // by schema
  std::unordered_map<std::uint64_t, SchemaId> some_;
};

class Resolver {
 public:
  explicit Resolver(std::vector<Vocabulary>& words)
      : words_(words), meanings_(words), used_in_(words.size()) {
    for (Vocabulary& of : words) schemas_.emplace_back(of);
  }

  void foresee(const Batch& batch) {
    for (const Definition& of : batch.definitions)
      if (of.of != Of::rank) meanings_.foresee(batch.vocabulary, of);
  }
  void resolve(Batch& batch) {
    const std::size_t v = batch.vocabulary;
    ++batch_;
    std::size_t at = batch.first_value;
    auto next = batch.definitions.begin();
    for (ParsedRow& row : batch.rows) {
      for (; next != batch.definitions.end() && next->source < row.source; ++next)
        if (next->of != Of::rank) meanings_.define(v, *next);
      const std::uint32_t words = words_[v].schemas.words(row.schema);
      if (const Places& places = schemas_[v].places(row.schema); !places.list.empty())
        resolve(batch, row, at, places);
      at += words;
    }
    for (; next != batch.definitions.end(); ++next)
      if (next->of != Of::rank) meanings_.define(v, *next);
  }
  HashCounts counts() const { return {meanings_.ambiguous(), unknown_}; }

 private:
  void resolve(Batch& batch, ParsedRow& row, std::size_t at, const Places& places) {
    const std::size_t v = batch.vocabulary;
    trace::Values& values = words_[v].values;
    std::array<StringId, kMaxPlaces> names;
    std::uint32_t mask = 0;
    bool file_unknown = false;
    for (std::size_t i = 0; i < places.list.size(); ++i) {
      const Places::Place& place = places.list[i];
      names[i] = meanings_.name_of(v, place.space, static_cast<StringId>(values.get(at + place.word, false)));
      if (names[i] != trace::kNoString)
        mask |= 1U << i;
      else
        file_unknown |= place.space == Of::file;
    }
    unknown_ += file_unknown;
    const SchemaId schema = mask == 0 ? trace::kNoArgs : schemas_[v].named(row.schema, mask);
    if (schema == trace::kNoArgs) return;
    for (std::size_t i = 0; i < places.list.size(); ++i)
      if ((mask >> i & 1) != 0) {
        values.set(at + places.list[i].word, false, names[i]);
        use(batch, names[i]);
      }
    row.schema = schema;
  }
  /// seal() numbers the strings that a batch lists.
  void use(Batch& batch, StringId name) {
    std::vector<std::uint32_t>& used_in = used_in_[batch.vocabulary];
    if (name >= used_in.size()) used_in.resize(name + 1 + name / 2);
    if (std::exchange(used_in[name], batch_) != batch_) batch.first_uses.push_back(name);
  }

  std::vector<Vocabulary>& words_;
  Meanings meanings_;
  std::vector<NamedSchemas> schemas_;
  std::vector<std::vector<std::uint32_t>> used_in_;  // by vocabulary and string: the last batch that used it
  std::uint32_t batch_ = 0;
  std::int64_t unknown_ = 0;
};

}  // namespace

bool is_hash_key(std::string_view key) {
  return key == "fhash" || key == "hhash" || key == "cwd" || (key.ends_with("_hash") && key.size() > 5);
}

HashCounts resolve_hashes(std::vector<Batch>& batches, std::vector<Vocabulary>& words) {
  Resolver resolver(words);
  for (const Batch& batch : batches) resolver.foresee(batch);
  for (Batch& batch : batches) resolver.resolve(batch);
  return resolver.counts();
}

}  // namespace stepscope::read
