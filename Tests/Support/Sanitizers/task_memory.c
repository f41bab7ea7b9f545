// Finds code that writes past the memory that it was given from its task's allocator: a compiler's mistake, as the size
// is the compiler's own. AddressSanitizer does not see it, because the allocator cuts its memory from blocks.
//
// Loaded before the tests (LD_PRELOAD) of a build that has Swift's runtime as a library. Sixteen known
// bytes are put behind each piece of memory, and compared when it is given back. REPORTS, of Scripts/sanitize, has a
// line for each difference: how many bytes were asked for, and the function that asked.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))

// In front of the memory; its size keeps the alignment of 16 bytes that Swift expects.
struct header {
    size_t size;
    void *caller;
};
static const unsigned char mark[16] = "past its memory";

static void report(const struct header *header) {
    Dl_info caller = {0};
    dladdr(header->caller, &caller);
    char line[1024];
    int length = snprintf(line, sizeof line, "task_memory: written past %zu bytes of %s (%s+0x%lx)\n", header->size,
        caller.dli_sname != NULL ? caller.dli_sname : "?", caller.dli_fname != NULL ? caller.dli_fname : "?",
        (unsigned long)((char *)header->caller - (char *)caller.dli_fbase));
    if (length >= (int)sizeof line) length = sizeof line - 1;
    char path[512];
    snprintf(path, sizeof path, "%s.%d", REPORTS, (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, (size_t)length) != length) abort();
    close(file);
}

// Of memory that the runtime takes for itself nothing is known: it calls its own functions, which nothing stands before.
SWIFT void *task_alloc(size_t size) __asm__("swift_task_alloc");
SWIFT void *task_alloc(size_t size) {
    // Each thread that comes here first finds the same.
    static SWIFT void *(*_Atomic next)(size_t);
    if (next == NULL) next = dlsym(RTLD_NEXT, "swift_task_alloc");
    if (next == NULL) abort();
    struct header *header = next(sizeof *header + size + sizeof mark);
    *header = (struct header){size, __builtin_return_address(0)};
    char *memory = (char *)(header + 1);
    memcpy(memory + size, mark, sizeof mark);
    return memory;
}

// Whoever runs the tests asks for a line at the end that says how many were compared: none would prove nothing.
static _Atomic unsigned long compared;

__attribute__((destructor)) static void tell(void) {
    if (getenv("TASK_MEMORY_TELLS") != NULL) fprintf(stderr, "task_memory: %lu pieces of memory compared\n", compared);
}

static struct header *checked(void *memory) {
    struct header *header = (struct header *)memory - 1;
    compared++;
    if (memcmp((char *)memory + header->size, mark, sizeof mark) != 0) report(header);
    return header;
}

SWIFT void task_dealloc(void *memory) __asm__("swift_task_dealloc");
SWIFT void task_dealloc(void *memory) {
    static SWIFT void (*_Atomic next)(void *);
    if (next == NULL) next = dlsym(RTLD_NEXT, "swift_task_dealloc");
    if (next == NULL) abort();
    next(checked(memory));
}

// Gives back all that was taken since `memory` as well; of that only `memory` is compared.
SWIFT void task_dealloc_through(void *memory) __asm__("swift_task_dealloc_through");
SWIFT void task_dealloc_through(void *memory) {
    static SWIFT void (*_Atomic next)(void *);
    if (next == NULL) next = dlsym(RTLD_NEXT, "swift_task_dealloc_through");
    if (next == NULL) abort();
    next(checked(memory));
}
