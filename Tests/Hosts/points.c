// The points, numbered by their labels, and the orders to die at one of them.
#define _GNU_SOURCE
#include "powercut.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AFTER = 1, POWER = 2 };

struct orders {
    _Atomic uint32_t countdown;  // The process dies at the point that makes it 0. 0 is no order.
    uint32_t how;                // AFTER: after the call, else before it. POWER: what is not synced is lost as well.
    uint64_t seed;               // See lose_power.
    char label[112];             // Which points count; empty: all.
};

static struct orders *orders;
static const char *under;
static int trace = -1;

void give_up(const char *why) {
    dprintf(2, "powercut: %s (errno %d)\n", why, errno);
    abort();
}

__attribute__((constructor)) static void begin(void) {
    const char *aside = getenv("POWERCUT_ASIDE"), *file = getenv("POWERCUT_ORDERS"), *log = getenv("POWERCUT_TRACE");
    under = getenv("POWERCUT_UNDER");
    if (under == NULL || aside == NULL || file == NULL || log == NULL) give_up("a POWERCUT_ variable is missing");
    keep_aside_in(aside);
    int descriptor = (int)call(openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    orders = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor < 0 || orders == MAP_FAILED) give_up("POWERCUT_ORDERS cannot be mapped");
    close(descriptor);
    trace = (int)call(openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0) give_up("POWERCUT_TRACE cannot be opened");
}

void path_of(int descriptor, char path[4096]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0) give_up("a descriptor has no path");
    path[length] = 0;
}

bool counts(const char *path) {
    size_t length = strlen(under), whole = strlen(path);
    // SQLite's shared memory is made anew by whoever opens the database first.
    if (whole >= 4 && strcmp(path + whole - 4, "-shm") == 0) return false;
    // The room that is kept for a full disk has nothing in it.
    if (whole >= 8 && strcmp(path + whole - 8, "-reserve") == 0) return false;
    return strncmp(path, under, length) == 0 && (path[length] == '/' || path[length] == 0);
}

// The last name of a path, without what is random in it.
static void plain_name(const char *path, char *plain, size_t room) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1, *ending = strrchr(name, '.');
    if (strncmp(name, ".tmp-", 5) == 0) name = ".tmp";
    if (ending != NULL && strcmp(ending, ".key") == 0) name = "*.key";
    snprintf(plain, room, "%.63s", name);
}

static void die(void) {
    orders->how & POWER ? lose_power(orders->seed) : carry_over();
    for (;;) call(kill, getpid(), SIGKILL);
}

bool reach(const char *what, const char *path) {
    char name[64], label[112];
    plain_name(path, name, sizeof name);
    snprintf(label, sizeof label, "%s %s", what, name);
    bool is_ordered = orders->countdown != 0 && (orders->label[0] == 0 || strcmp(orders->label, label) == 0);
    bool is_last = is_ordered && atomic_fetch_sub(&orders->countdown, 1) == 1;
    char line[160];
    int length = snprintf(line, sizeof line, "%s%s\n", label, is_last ? " (the last)" : "");
    if (call(write, trace, line, length) != length) give_up("POWERCUT_TRACE cannot be written");
    if (is_last && !(orders->how & AFTER)) die();
    return is_last;
}

void leave(bool is_last) {
    if (is_last) die();
}
