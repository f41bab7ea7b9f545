// The calls of the C library that change a file, a directory or what a peer knows, each in front of the kernel's.
#define _GNU_SOURCE
#include "powercut.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

// Recursive: a rename begins with two names.
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// One call, from its begin() to its end().
struct visit {
    bool counts;   // It is about a file whose changes count.
    bool is_last;  // The process is to die after it.
};

// Begins a call on a descriptor. Sockets are points under the name `send`, except for connect.
static struct visit begin(const char *what, int descriptor) {
    struct visit visit = {false, false};
    struct stat status;
    pthread_mutex_lock(&lock);
    if (descriptor <= 2 || fstat(descriptor, &status) != 0) return visit;
    if (S_ISSOCK(status.st_mode)) {
        int family = 0;
        getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &(socklen_t){sizeof family});
        visit.is_last = reach(strcmp(what, "write") == 0 ? "send" : what, family == AF_UNIX ? "unix" : "tcp");
    } else if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
        char path[4096];
        path_of(descriptor, path);
        visit.counts = counts(path);
        if (visit.counts) visit.is_last = reach(what, path);
    }
    return visit;
}

static long end(struct visit visit, long result) {
    leave(visit.is_last);
    pthread_mutex_unlock(&lock);
    return result;
}

// Begins a call on a name; the entry's directory is to be closed by end_entry. Where the name does not count, or its
// directory is not there, `counts` is false.
static struct visit begin_entry(const char *what, int directory, const char *path, struct entry *entry) {
    struct visit visit = {false, false};
    pthread_mutex_lock(&lock);
    char parent[4096], whole[4096 + 256];
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    snprintf(parent, sizeof parent, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1, slash == NULL ? "." : path);
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->directory = (int)call(openat, directory, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (entry->directory < 0) return visit;
    path_of(entry->directory, parent);
    snprintf(whole, sizeof whole, "%s/%s", parent, name);
    visit.counts = counts(whole);
    if (visit.counts && what != NULL) visit.is_last = reach(what, whole);
    return visit;
}

static long end_entry(struct visit visit, struct entry *entry, long result) {
    int error = errno;
    if (entry->directory >= 0) close(entry->directory);
    errno = error;
    return end(visit, result);
}

// MARK: Bytes

static off_t place_of_next(int file) {
    struct stat status;
    if (!(fcntl(file, F_GETFL) & O_APPEND)) return lseek(file, 0, SEEK_CUR);
    return fstat(file, &status) == 0 ? status.st_size : 0;
}

static size_t total(const struct iovec *parts, int count) {
    size_t sum = 0;
    for (int i = 0; i < count; i++) sum += parts[i].iov_len;
    return sum;
}

// Also of a directory whose files do not count: it can hold the name of the one that begins them.
static long synced(int file, long result) {
    if (result == 0) remember(file);
    return result;
}

// Only what follows is to be found by the program.
#pragma GCC visibility push(default)

ssize_t write(int file, const void *bytes, size_t count) {
    struct visit visit = begin("write", file);
    if (visit.counts) forget_bytes(file, place_of_next(file), count);
    return end(visit, call(write, file, bytes, count));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    struct visit visit = begin("write", file);
    if (visit.counts) forget_bytes(file, place_of_next(file), total(parts, count));
    return end(visit, call(writev, file, parts, count));
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    struct visit visit = begin("write", file);
    if (visit.counts) forget_bytes(file, offset, count);
    return end(visit, call(pwrite64, file, bytes, count, offset));
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return pwrite64(file, bytes, count, offset);
}

int ftruncate64(int file, off64_t size) {
    struct visit visit = begin("truncate", file);
    if (visit.counts) forget_size(file, size);
    return (int)end(visit, call(ftruncate, file, size));
}
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
    struct visit visit = begin("allocate", file);
    if (visit.counts) forget_bytes(file, offset, (size_t)length);
    return (int)end(visit, call(fallocate, file, mode, offset, length));
}
int fallocate(int file, int mode, off_t offset, off_t length) { return fallocate64(file, mode, offset, length); }
int posix_fallocate64(int file, off64_t offset, off64_t length) {
    return fallocate64(file, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate(int file, off_t offset, off_t length) { return posix_fallocate64(file, offset, length); }

int fdatasync(int file) {
    struct visit visit = begin("sync", file);
    return (int)end(visit, synced(file, call(fdatasync, file)));
}

int fsync(int file) {
    struct visit visit = begin("sync", file);
    return (int)end(visit, synced(file, call(fsync, file)));
}

// MARK: Names

static int opened(int directory, const char *path, int flags, mode_t mode) {
    if (!(flags & (O_CREAT | O_TRUNC))) return (int)call(openat, directory, path, flags, mode);
    struct entry entry;
    struct stat status;
    struct visit visit = begin_entry(NULL, directory, path, &entry);
    bool is_new = visit.counts && fstatat(entry.directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) != 0;
    if (visit.counts && !is_new && (flags & O_TRUNC)) give_up("O_TRUNC is not modelled");
    if (is_new) visit.is_last = reach("create", path);
    int file = (int)call(openat, directory, path, flags, mode);
    if (is_new && file >= 0) forget_made(&entry, next_group());
    return (int)end_entry(visit, &entry, file);
}

static mode_t mode_in(va_list list, int flags) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name, directory, ...)                        \
    int name(__VA_ARGS__, int flags, ...) {               \
        va_list list;                                     \
        va_start(list, flags);                            \
        mode_t mode = mode_in(list, flags);               \
        va_end(list);                                     \
        return opened(directory, path, flags, mode);      \
    }
OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)
OPEN(openat, directory, int directory, const char *path)
OPEN(openat64, directory, int directory, const char *path)

int mkdirat(int directory, const char *path, mode_t mode) {
    struct entry entry;
    struct visit visit = begin_entry("mkdir", directory, path, &entry);
    int result = (int)call(mkdirat, directory, path, mode);
    if (visit.counts && result == 0) forget_made(&entry, next_group());
    return (int)end_entry(visit, &entry, result);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int directory, const char *path, int flags) {
    struct entry entry;
    struct visit visit = begin_entry("unlink", directory, path, &entry);
    if (visit.counts && (flags & AT_REMOVEDIR)) give_up("rmdir is not modelled");
    unsigned aside = visit.counts ? put_aside(&entry) : 0;
    int result = (int)call(unlinkat, directory, path, flags);
    if (visit.counts && result == 0) forget_gone(&entry, aside, next_group());
    return (int)end_entry(visit, &entry, result);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    struct entry entry;
    struct visit visit = begin_entry("link", to, new, &entry);
    int result = (int)call(linkat, from, old, to, new, flags);
    if (visit.counts && result == 0) forget_made(&entry, next_group());
    return (int)end_entry(visit, &entry, result);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    struct entry source, target;
    struct visit away = begin_entry(NULL, from, old, &source);
    struct visit visit = begin_entry("rename", to, new, &target);
    if (away.counts != visit.counts || flags != 0) give_up("this rename is not modelled");
    unsigned replaced = visit.counts ? put_aside(&target) : 0, moved = visit.counts ? put_aside(&source) : 0;
    int result = (int)call(renameat2, from, old, to, new, flags);
    if (visit.counts && result == 0) {
        unsigned group = next_group();
        forget_gone(&target, replaced, group);
        forget_made(&target, group);
        forget_gone(&source, moved, group);
    }
    end_entry(away, &source, result);
    return (int)end_entry(visit, &target, result);
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

// MARK: Peers

int connect(int socket, const struct sockaddr *address, socklen_t length) {
    struct visit visit = begin("connect", socket);
    return (int)end(visit, call(connect, socket, address, length));
}

ssize_t sendto(int socket, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t length) {
    struct visit visit = begin("send", socket);
    return end(visit, call(sendto, socket, bytes, count, flags, to, length));
}
ssize_t send(int socket, const void *bytes, size_t count, int flags) {
    return sendto(socket, bytes, count, flags, NULL, 0);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    struct visit visit = begin("send", socket);
    return end(visit, call(sendmsg, socket, message, flags));
}
