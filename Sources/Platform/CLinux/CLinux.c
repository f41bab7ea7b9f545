#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <unistd.h>

int clinux_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int clinux_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

int clinux_is_clock_synchronised(void) {
    struct timex question = {0};
    return adjtimex(&question) == -1 ? -1 : !(question.status & STA_UNSYNC);
}

int clinux_has_swap(void) {
    struct sysinfo answer;
    return sysinfo(&answer) == -1 ? -1 : answer.totalswap > 0;
}

char **clinux_environment(void) {
    return environ;
}

void clinux_limit_memory_pools(int most) {
    mallopt(M_ARENA_MAX, most);
}

void clinux_return_memory(void) {
    malloc_trim(0);
}

int clinux_unnamed_file(void) { return memfd_create("input", MFD_CLOEXEC); }

long clinux_write_at_once(int file, const void *bytes, long count) {
    struct stat status;
    if (fstat(file, &status) == -1) return -1;
    // A regular file has no reader to wait for.
    if (S_ISREG(status.st_mode)) return write(file, bytes, (size_t)count);
    if (S_ISSOCK(status.st_mode)) return send(file, bytes, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = (size_t)count};
    return pwritev2(file, &part, 1, -1, RWF_NOWAIT);
}

int clinux_open_directory(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int clinux_open_place(int directory, const char *name) {
    return openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

int clinux_set_group(int place, unsigned group) {
    return fchownat(place, "", (uid_t)-1, (gid_t)group, AT_EMPTY_PATH);
}
