#include "collect/cupti/graph_nodes.h"

#include "collect/recorder.h"

namespace stepscope::collect::cupti {

void record_graph_node(const Library& library, std::uint32_t callback, const void* data) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  const GraphData* about = data == nullptr ? nullptr : static_cast<const ResourceData*>(data)->about;
  if (recorder == nullptr || about == nullptr) return;
  std::uint64_t node = 0, original = 0;
  if (library.graph_node_id(about->node, &node) != kSuccess) return;
  if (callback == kNodeCloned && library.graph_node_id(about->original_node, &original) != kSuccess) return;
  Thread* thread = thread_of(*recorder);
  if (thread == nullptr || !has_room(*thread)) return;
  auto& made = next<record::GraphNode>(*thread, record::Type::graph_node);
  made.value = 0;
  made.tick = ticks(recorder->clock);
  made.node = node;
  made.original = original;
  commit(*thread, made);
}

}  // namespace stepscope::collect::cupti
