// What ThreadSanitizer has to know about Swift's Mutex (target "make sanitize" only).
//
// Where nobody else holds it, a Mutex is an atomic operation in the caller's own, instrumented code. Where two threads
// contend, it is a futex that the kernel hands on, taken in libswiftSynchronization, which is not instrumented: the
// sanitizer then takes what the lock protects for a race. These functions stand in front of the library's own and tell
// it who follows whom; nothing is suppressed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// Synchronization._MutexHandle: _lockSlow(UInt32), _tryLockSlow() -> Bool, _unlockSlow(); self is in the context register.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF) {
    SWIFT void (*lock)(uint32_t, SELF) = next(LOCK);
    lock(thread, self);
    __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT bool try_lock_slow(SELF) {
    SWIFT bool (*try_lock)(SELF) = next(TRY_LOCK);
    bool taken = try_lock(self);
    if (taken) __tsan_acquire(self);
    return taken;
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
    SWIFT void (*unlock)(SELF) = next(UNLOCK);
    __tsan_release(self);
    unlock(self);
}
