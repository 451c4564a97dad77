// The floor of any observer: RecordFunction callbacks that do nothing.
#include <ATen/record_function.h>

#include <memory>

#pragma GCC visibility push(default)
extern "C" {

/// With inputs, PyTorch boxes the arguments of each op for the callback.
void floor_on(int with_inputs) {
  at::addGlobalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
          [](const at::RecordFunction&, at::ObserverContext*) {})
          .needsInputs(with_inputs != 0)
          .scopes(
              {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
}

void floor_off() { at::clearCallbacks(); }
}
#pragma GCC visibility pop
