// An undo log of everything that was written and not synced, as strict as POSIX lets a disk be: bytes count from the
// fsync or fdatasync of their file, a name counts from the fsync of its directory. In one thing it is as kind as every
// journaling file system: a file is cut off as a whole or not at all, as its size is one number.
#define _GNU_SOURCE
#include "forgetting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct file *files;
struct name *names;
int asides = -1;
unsigned last_aside, last_group;

unsigned next_group(void) { return ++last_group; }

void *room(size_t bytes) {
    void *made = calloc(1, bytes);
    if (made == NULL) give_up("there is no memory left");
    return made;
}

struct file *file_of(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) give_up("fstat failed");
    for (struct file *file = files; file != NULL; file = file->next)
        if (file->device == status.st_dev && file->inode == status.st_ino) return file;
    struct file *file = room(sizeof *file);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    *file = (struct file){
        .next = files, .device = status.st_dev, .inode = status.st_ino, .size_on_disk = status.st_size,
        .number = files == NULL ? 1 : files->number + 1,
        .descriptor = (int)call(openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0)};
    if (file->descriptor < 0) give_up("a file cannot be opened again");
    return files = file;
}

static off_t size_of(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) give_up("fstat failed");
    return status.st_size;
}

struct change *new_change(struct file *file, off_t offset, size_t length) {
    struct change *change = room(sizeof *change + length);
    *change = (struct change){.older = file->newest, .offset = offset, .length = length};
    return file->newest = change;
}

void forget_bytes(int descriptor, off_t offset, size_t length) {
    struct file *file = file_of(descriptor);
    if (file->newest == NULL) file->size_on_disk = size_of(file->descriptor);
    struct change *change = new_change(file, offset, length);
    if (pread(file->descriptor, change->bytes, length, offset) < 0) give_up("a file cannot be read");
}

void forget_size(int descriptor, off_t size) {
    off_t before = size_of(descriptor);
    forget_bytes(descriptor, size, size < before ? (size_t)(before - size) : 0);
    file_of(descriptor)->newest->is_cut = size < before;
}

// A number that no earlier process has used either.
static void fresh_aside(char name[16]) {
    do snprintf(name, 16, "%u", ++last_aside);
    while (faccessat(asides, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

unsigned put_aside(const struct entry *entry) {
    char name[16];
    fresh_aside(name);
    if (call(linkat, entry->directory, entry->name, asides, name, 0) == 0) return last_aside;
    if (errno != ENOENT) give_up("what goes cannot be put aside");
    return 0;
}

void forget_name(const struct entry *entry, unsigned aside, unsigned group) {
    struct name *name = room(sizeof *name);
    struct stat directory;
    if (fstat(entry->directory, &directory) != 0) give_up("fstat failed");
    *name = (struct name){
        .older = names, .device = directory.st_dev, .inode = directory.st_ino, .entry = *entry, .aside = aside,
        .group = group};
    name->entry.directory = fcntl(entry->directory, F_DUPFD_CLOEXEC, 3);
    if (name->entry.directory < 0) give_up("a directory cannot be kept open");
    names = name;
}

void forget_made(const struct entry *entry, unsigned group) { forget_name(entry, 0, group); }

void forget_gone(const struct entry *entry, unsigned aside, unsigned group) {
    if (aside != 0) forget_name(entry, aside, group);
}

void remember(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) give_up("fstat failed");
    for (struct file *file = files; file != NULL; file = file->next) {
        if (file->device != status.st_dev || file->inode != status.st_ino) continue;
        for (struct change *change = file->newest, *older; change != NULL; change = older) {
            older = change->older;
            free(change);
        }
        file->newest = NULL;
    }
    for (struct name **link = &names; *link != NULL;) {
        struct name *name = *link;
        if (name->device != status.st_dev || name->inode != status.st_ino) {
            link = &name->older;
            continue;
        }
        *link = name->older;
        close(name->entry.directory);
        free(name);
    }
}

// A number that depends on all three (the finalizer of SplitMix64).
static uint64_t drawn(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t z = seed + a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Back to what the disk has, sector by sector: a disk writes them in any order. A cut that the disk has is followed by
// all that came before it; one that it does not have takes with it what was written behind it since.
static void lose_bytes(struct file *file, uint64_t seed) {
    off_t sector = seed % 2 == 0 ? 4096 : 512, cut_at = INT64_MAX;
    off_t grown = size_of(file->descriptor), before = file->size_on_disk;
    for (struct change *change = file->newest; change != NULL; change = change->older) {
        off_t end = change->offset + (off_t)change->length;
        if (change->is_cut) {
            bool survives = cut_at < INT64_MAX || drawn(seed, file->number, UINT64_MAX - 1 - (uint64_t)end) % 2 == 0;
            if (survives && seed != 0) {
                if (cut_at == INT64_MAX) before = change->offset;
                if (change->offset < cut_at) cut_at = change->offset;
                continue;
            }
            grown = end;
        }
        if (end > cut_at) end = cut_at;
        for (off_t at = change->offset, next; at < end; at = next) {
            next = (at / sector + 1) * sector < end ? (at / sector + 1) * sector : end;
            bool survives = !change->is_cut && drawn(seed, file->number, (uint64_t)(at / sector)) % 2 == 0;
            if (survives && seed != 0) continue;
            if (call(pwrite64, file->descriptor, change->bytes + (at - change->offset), next - at, at) != next - at)
                give_up("bytes cannot be put back");
        }
    }
    bool has_grown = seed != 0 && drawn(seed, file->number, UINT64_MAX) % 2 == 0;
    if (call(ftruncate, file->descriptor, has_grown ? grown : before) != 0) give_up("a size cannot be put back");
}

// Of the changes to a directory, the oldest may have come to the disk: a file system keeps their order.
static void draw_survivors(uint64_t seed) {
    unsigned newest_that_survives = 0;
    for (struct name *name = names; name != NULL && seed != 0; name = name->older) {
        bool starts = newest_that_survives == 0 && drawn(seed, 0, name->group) % 3 == 0;
        if (starts) newest_that_survives = name->group;
        name->survives = newest_that_survives != 0 && name->group <= newest_that_survives;
    }
}

static void lose_names(void) {
    for (struct name *name = names; name != NULL; name = name->older) {
        if (name->survives) continue;
        char aside[16];
        if (name->aside == 0) fresh_aside(aside);
        else snprintf(aside, sizeof aside, "%u", name->aside);
        long result = name->aside != 0
            ? call(linkat, asides, aside, name->entry.directory, name->entry.name, 0)
            : call(renameat2, name->entry.directory, name->entry.name, asides, aside, 0);
        if (result != 0) give_up("a name cannot be put back");
    }
}

void lose_power(unsigned long seed) {
    for (struct file *file = files; file != NULL; file = file->next)
        if (file->newest != NULL) lose_bytes(file, seed);
    draw_survivors(seed);
    lose_names();
}
