// A shim for LD_PRELOAD: counts what a program allocates, and what it reads, writes and syncs of its database.
//
// The counts are in the file that $OOB_COUNTS names, so that whoever started the program reads them while it runs:
// allocations, reads, writes, syncs and pages, each 64 bits. Pages are those that commits add to the write-ahead log:
// each has a frame header of 24 bytes, which SQLite writes by itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALLOCATIONS, READS, WRITES, SYNCS, PAGES, KINDS };
enum { FRAME_HEADER = 24 };

static _Atomic unsigned long nowhere[KINDS];
static _Atomic unsigned long *counts = nowhere;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(int kind) { atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("OOB_COUNTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) counts = memory;
}

void *malloc(size_t size) { return count(ALLOCATIONS), __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return count(ALLOCATIONS), __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { return count(ALLOCATIONS), __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return count(ALLOCATIONS), __libc_memalign(alignment, size); }

int posix_memalign(void **made, size_t alignment, size_t size) {
    count(ALLOCATIONS);
    void *memory = __libc_memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *made = memory;
    return 0;
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
    static typeof(&pread64) next;
    if (!next) next = NEXT(pread64);
    return count(READS), next(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    static typeof(&pwrite64) next;
    if (!next) next = NEXT(pwrite64);
    if (size == FRAME_HEADER) count(PAGES);
    return count(WRITES), next(file, bytes, size, offset);
}

int fdatasync(int file) {
    static typeof(&fdatasync) next;
    if (!next) next = NEXT(fdatasync);
    return count(SYNCS), next(file);
}

int fsync(int file) {
    static typeof(&fsync) next;
    if (!next) next = NEXT(fsync);
    return count(SYNCS), next(file);
}
