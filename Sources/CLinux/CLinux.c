#define _GNU_SOURCE
#include "CLinux.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
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
