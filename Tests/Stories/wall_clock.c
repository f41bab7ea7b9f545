// A shim for LD_PRELOAD: the wall clock of one process, set off by what a file says, at once and as often as it is changed.
//
//   WALL_CLOCK   a file of 8 bytes: by how many seconds it is off, as an int64_t of this machine
//   BOOT_CLOCK   the same for CLOCK_BOOTTIME, by which Swift's ContinuousClock counts; instead of the wall clock
//
// Without BOOT_CLOCK the clocks that nobody sets (CLOCK_MONOTONIC, CLOCK_BOOTTIME) are left alone. libfaketime would do, but hangs in a program
// with Swift's runtime.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *off;
static int is_boot;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BOOT_CLOCK");
    is_boot = path != NULL;
    if (!is_boot) path = getenv("WALL_CLOCK");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *memory = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *off, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) abort();
    close(file);
    off = memory;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    int is_off = is_boot ? clock == CLOCK_BOOTTIME : clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (result == 0 && off != NULL && is_off) time->tv_sec += *off;
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place != NULL) *place = now.tv_sec;
    return now.tv_sec;
}
