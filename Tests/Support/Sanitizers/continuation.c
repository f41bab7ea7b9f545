// What ThreadSanitizer has to know about Swift's continuations (target "make sanitize" only).
//
// A continuation that is resumed before its task waits on it hands its value on by an atomic operation of the runtime,
// which is not instrumented. Whoever resumes tells the sanitizer (with the task's address), whoever was waiting does so
// as well, but this task goes on without a word: what was made for it on the other thread is then taken for a race.
// A caller frees the callee's memory as soon as it has returned, and this function stands in front of the one that
// does; nothing is suppressed. A value that is changed after it was handed on is a race as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

void __tsan_acquire(void *address);

#define SWIFT __attribute__((swiftcall))

SWIFT void *swift_task_getCurrent(void);

SWIFT void task_dealloc(void *memory) __asm__("swift_task_dealloc");
SWIFT void task_dealloc(void *memory) {
    // Each thread that comes here first finds the same.
    static SWIFT void (*_Atomic found)(void *);
    if (found == NULL) found = dlsym(RTLD_NEXT, "swift_task_dealloc");
    if (found == NULL) abort();
    void *task = swift_task_getCurrent();
    if (task != NULL) __tsan_acquire(task);
    found(memory);
}
