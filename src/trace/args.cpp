#include "trace/args.h"

namespace stepscope::trace {

SchemaTable::SchemaTable() { schemas_.emplace_back(); }

SchemaId SchemaTable::extend(SchemaId parent, ArgField field) {
  const std::uint64_t slot = (std::uint64_t{parent} << 32) | field.key;
  std::vector<SchemaId>& children = children_[slot];
  for (SchemaId child : children)
    if (schemas_[child].back().type == field.type) return child;
  const auto id = static_cast<SchemaId>(schemas_.size());
  std::vector<ArgField> fields = schemas_[parent];
  fields.push_back(field);
  total_fields_ += fields.size();
  schemas_.push_back(std::move(fields));
  children.push_back(id);
  return id;
}

ArgLookup::ArgLookup(const SchemaTable& schemas, StringId key)
    : position_(schemas.size(), -1), type_(schemas.size(), ArgType::integer) {
  if (key == kNoString) return;
  for (SchemaId id = 0; id < schemas.size(); ++id) {
    const auto fields = schemas.fields(id);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].key != key) continue;
      position_[id] = static_cast<std::int32_t>(i);
      type_[id] = fields[i].type;
      break;
    }
  }
}

}  // namespace stepscope::trace
