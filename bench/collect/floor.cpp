// The floor of any observer: RecordFunction callbacks that do nothing.
#include <ATen/record_function.h>

#include <memory>

#pragma GCC visibility push(default)
extern "C" {

void floor_on() {
  at::addGlobalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
          [](const at::RecordFunction&, at::ObserverContext*) {})
          .scopes(
              {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
}

void floor_off() { at::clearCallbacks(); }
}
#pragma GCC visibility pop
