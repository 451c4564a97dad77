#include "report/formats/arrow_parts.h"

#include <cstdint>
#include <cstring>

namespace stepscope::report {
namespace {

template <class Struct>
struct Children {
  std::vector<Struct> structs;
  std::vector<Struct*> pointers;

  explicit Children(std::size_t count) : structs(count) {
    for (Struct& child : structs) pointers.push_back(&child);
  }
  /// A receiver may have taken one away, which then has no release.
  void release() {
    for (Struct& child : structs)
      if (child.release != nullptr) child.release(&child);
  }
};

struct ArrayOwner {
  std::shared_ptr<const void> kept;
  ArrowBuffers buffers;
  Children<ArrowArray> children;
};

struct SchemaOwner {
  std::string name, metadata;
  Children<ArrowSchema> children;
};

struct StreamOwner {
  ArrowTable table;
  bool done = false;
};

template <class Owner, class Struct>
void release(Struct* released) {
  auto* owner = static_cast<Owner*>(released->private_data);
  owner->children.release();
  delete owner;
  released->release = nullptr;
}

void put_number(std::string& out, std::size_t number) {
  const auto value = static_cast<std::int32_t>(number);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

std::string encoded(const ArrowMetadata& metadata) {
  std::string out;
  put_number(out, metadata.size());
  for (const auto& [key, value] : metadata) {
    for (const std::string_view text : {key, std::string_view(value)}) {
      put_number(out, text.size());
      out += text;
    }
  }
  return out;
}

StreamOwner& owner_of(ArrowArrayStream* stream) { return *static_cast<StreamOwner*>(stream->private_data); }

int next_of(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};  // without a release: the end
  if (!std::exchange(owner_of(stream).done, true)) owner_of(stream).table.array_to(out);
  return 0;
}

int schema_of(ArrowArrayStream* stream, ArrowSchema* out) {
  owner_of(stream).table.schema_to(out);
  return 0;
}

void release_stream(ArrowArrayStream* stream) {
  delete &owner_of(stream);
  stream->release = nullptr;
}

}  // namespace

void fill_array(ArrowArray* out, std::shared_ptr<const void> kept, ArrowBuffers buffers,
                std::size_t children) {
  auto* owner = new ArrayOwner{std::move(kept), std::move(buffers), Children<ArrowArray>(children)};
  *out = {};
  out->n_buffers = static_cast<std::int64_t>(owner->buffers.size());
  out->buffers = owner->buffers.data();
  out->n_children = static_cast<std::int64_t>(children);
  out->children = owner->children.pointers.data();
  out->release = release<ArrayOwner, ArrowArray>;
  out->private_data = owner;
}

void fill_schema(ArrowSchema* out, const char* format, std::string name, const ArrowMetadata& metadata,
                 std::size_t children) {
  auto* owner = new SchemaOwner{std::move(name), encoded(metadata), Children<ArrowSchema>(children)};
  *out = {};
  out->format = format;
  out->name = owner->name.c_str();
  out->metadata = owner->metadata.data();
  out->n_children = static_cast<std::int64_t>(children);
  out->children = owner->children.pointers.data();
  out->release = release<SchemaOwner, ArrowSchema>;
  out->private_data = owner;
}

void fill_stream(ArrowArrayStream* out, const ArrowTable& table) {
  *out = {schema_of, next_of, [](ArrowArrayStream*) -> const char* { return nullptr; }, release_stream,
          new StreamOwner{table, false}};
}

}  // namespace stepscope::report
