#include "trace/args.h"

namespace stepscope::trace {

static std::uint64_t slot_of(SchemaId parent, StringId key) { return std::uint64_t{parent} << 32 | key; }

SchemaTable::SchemaTable() {
  schemas_.emplace_back();
  parents_.push_back(kNoArgs);
  words_.push_back(0);
}

SchemaId SchemaTable::find(SchemaId parent, ArgField field) const {
  const auto children = children_.find(slot_of(parent, field.key));
  if (children == children_.end()) return kNoArgs;
  for (const SchemaId child : children->second)
    if (schemas_[child].back() == field) return child;
  return kNoArgs;
}

SchemaId SchemaTable::extend(SchemaId parent, ArgField field) {
  std::vector<SchemaId>& children = children_[slot_of(parent, field.key)];
  for (SchemaId child : children)
    if (schemas_[child].back() == field) return child;
  const auto id = static_cast<SchemaId>(schemas_.size());
  std::vector<ArgField> fields = schemas_[parent];
  fields.push_back(field);
  total_fields_ += fields.size();
  schemas_.push_back(std::move(fields));
  parents_.push_back(parent);
  words_.push_back(words_[parent] + field.words());
  children.push_back(id);
  return id;
}

ArgLookup::ArgLookup(const SchemaTable& schemas, StringId key) : place_(schemas.size()) {
  if (key == kNoString) return;
  for (SchemaId id = 1; id < schemas.size(); ++id) {
    const SchemaId parent = schemas.parent(id);
    const ArgField last = schemas.fields(id).back();
    if (in(parent))
      place_[id] = place_[parent];
    else if (last.key == key)
      place_[id] = {static_cast<std::int32_t>(schemas.words(parent)), last.type, last.wide};
  }
}

}  // namespace stepscope::trace
