#include "trace/args.h"

namespace stepscope::trace {

SchemaTable::SchemaTable() {
  schemas_.emplace_back();
  parents_.push_back(kNoArgs);
}

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
  parents_.push_back(parent);
  children.push_back(id);
  return id;
}

ArgLookup::ArgLookup(const SchemaTable& schemas, StringId key)
    : position_(schemas.size(), -1), type_(schemas.size(), ArgType::integer) {
  if (key == kNoString) return;
  for (SchemaId id = 1; id < schemas.size(); ++id) {
    const SchemaId parent = schemas.parent(id);
    const auto fields = schemas.fields(id);
    if (position_[parent] >= 0) {
      position_[id] = position_[parent];
      type_[id] = type_[parent];
    } else if (fields.back().key == key) {
      position_[id] = static_cast<std::int32_t>(fields.size() - 1);
      type_[id] = fields.back().type;
    }
  }
}

}  // namespace stepscope::trace
