// The cases of robust.c that are in other files.
#ifndef STEPSCOPE_TEST_IO_ROBUST_H
#define STEPSCOPE_TEST_IO_ROBUST_H

int make(const char* name);  // a file of 10 digits

void few_descriptors(void);
void small_files(void);
void little_memory(void);
void little_memory_again(void);
void filter(void);
void filter_by_syscall(void);
void only_read_and_write(void);
void without_clock(void);
void addresses(void);
void no_descriptors(void);
void shared_position(void);
void unnamed_files(void);
void zeros_in_lines(void);
void renamed_folder(void);
void starts(char* program);

#endif
