// Data that every call of the program looks at.
#pragma once

/// It lies together: after a system call, each page that the processor has to look for again costs time.
#define HOT_DATA [[gnu::visibility("hidden"), gnu::section("stepscope_hot")]]
