#include "record/events/forward_links.h"

#include <algorithm>
#include <tuple>

namespace stepscope::record {

std::vector<ForwardLink> forward_links(std::vector<SequencedEvent> events) {
  if (std::none_of(events.begin(), events.end(), [](const SequencedEvent& event) { return event.backward; }))
    return {};
  std::sort(events.begin(), events.end(), [](const SequencedEvent& a, const SequencedEvent& b) {
    return std::tie(a.torch_thread, a.sequence, a.begin_ns, a.backward, a.thread) <
           std::tie(b.torch_thread, b.sequence, b.begin_ns, b.backward, b.thread);
  });
  std::vector<ForwardLink> links;
  const SequencedEvent* forward = nullptr;
  for (const SequencedEvent& event : events) {
    if (forward != nullptr &&
        std::tie(forward->torch_thread, forward->sequence) != std::tie(event.torch_thread, event.sequence))
      forward = nullptr;
    if (!event.backward) {
      forward = &event;
    } else if (forward != nullptr) {
      links.push_back({*forward, event});
      forward = nullptr;
    }
  }
  std::sort(links.begin(), links.end(), [](const ForwardLink& a, const ForwardLink& b) {
    return std::tie(a.backward.begin_ns, a.backward.thread) <
           std::tie(b.backward.begin_ns, b.backward.thread);
  });
  return links;
}

}  // namespace stepscope::record
