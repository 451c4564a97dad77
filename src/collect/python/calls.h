// The Python calls that are open on each thread. What tells of calls is a hook: up to 3.11 the profile
// function (profile_hook.cpp), from 3.12 on sys.monitoring (monitoring.cpp).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

namespace stepscope::collect {

/// What python_start is asked for.
enum Stacks : unsigned { kCalls = 1, kModuleCalls = 2, kSamples = 4, kBuiltins = 8 };

/// The present thread begins or resumes, or ends or suspends, a call. `frame`: the call's; null: the
/// innermost.
void entered(PyCodeObject* code, PyFrameObject* frame);
void left(PyCodeObject* code, PyFrameObject* frame);
/// The same for a function written in C, by `frame`.
void entered_builtin(PyObject* function, PyFrameObject* frame);
void left_builtin(PyObject* function, PyFrameObject* frame);

/// Of the Python that this is compiled for. "", or why calls cannot be seen.
std::string hook_start(unsigned asked);
void hook_stop();

/// "", or why no samples can be taken.
std::string sampler_start();
void sampler_stop();

/// python_start(asked) -> what is not recorded as asked, or "". python_stop() ends all of it.
PyObject* python_start(PyObject*, PyObject* asked);
PyObject* python_stop(PyObject*, PyObject*);

}  // namespace stepscope::collect
