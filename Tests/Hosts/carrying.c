// The kernel keeps what a killed process wrote, and the disk may still not have it: the next process begins with that.
#define _GNU_SOURCE
#include "forgetting.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void carry_changes(FILE *to, const char *path, off_t size, const struct change *change) {
    if (change == NULL) return;
    carry_changes(to, path, size, change->older);
    fprintf(to, "bytes %jd %zu %d %jd %s\n", (intmax_t)change->offset, change->length, change->is_cut, (intmax_t)size,
            path);
    fwrite(change->bytes, 1, change->length, to);
}

static void carry_names(FILE *to, const struct name *name) {
    if (name == NULL) return;
    char path[4096];
    carry_names(to, name->older);
    path_of(name->entry.directory, path);
    fprintf(to, "name %u %u %s/%s\n", name->aside, name->group, path, name->entry.name);
}

void carry_over(void) {
    FILE *to = fdopen((int)call(openat, asides, "carried", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "w");
    if (to == NULL) give_up("what is not on the disk cannot be carried over");
    for (struct file *file = files; file != NULL; file = file->next) {
        char path[4096];
        path_of(file->descriptor, path);
        carry_changes(to, path, file->size_on_disk, file->newest);
    }
    carry_names(to, names);
    if (fclose(to) != 0) give_up("what is not on the disk cannot be carried over");
}

static void take_bytes(FILE *from, const char *path, off_t offset, size_t length, bool is_cut, off_t size) {
    int descriptor = (int)call(openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    // What was removed meanwhile is read, and goes nowhere.
    struct file *file = descriptor < 0 ? room(sizeof *file) : file_of(descriptor);
    if (descriptor >= 0) close(descriptor);
    file->size_on_disk = size;
    struct change *change = new_change(file, offset, length);
    change->is_cut = is_cut;
    if (fread(change->bytes, 1, length, from) != length) give_up("too little is carried over");
}

static void take_name(char *path, unsigned aside, unsigned group) {
    struct entry entry;
    char *slash = strrchr(path, '/');
    *slash = 0;
    snprintf(entry.name, sizeof entry.name, "%s", slash + 1);
    entry.directory = (int)call(openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (entry.directory < 0) give_up("a directory is gone");
    if (aside > last_aside) last_aside = aside;
    if (group > last_group) last_group = group;
    forget_name(&entry, aside, group);
    close(entry.directory);
}

void keep_aside_in(const char *directory) {
    asides = (int)call(openat, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (asides < 0) give_up("POWERCUT_ASIDE is no directory");
    int descriptor = (int)call(openat, asides, "carried", O_RDONLY | O_CLOEXEC, 0);
    if (descriptor < 0) return;
    FILE *from = fdopen(descriptor, "r");
    char path[8192];
    intmax_t offset, size;
    size_t length;
    unsigned aside, group;
    int is_cut;
    for (int kind; from != NULL && (kind = getc(from)) != EOF;) {
        if (kind == 'b' && fscanf(from, "ytes %jd %zu %d %jd %8191[^\n]", &offset, &length, &is_cut, &size, path) == 5) {
            getc(from);
            take_bytes(from, path, offset, length, is_cut, size);
        } else if (kind == 'n' && fscanf(from, "ame %u %u %8191[^\n]", &aside, &group, path) == 3) {
            getc(from);
            take_name(path, aside, group);
        } else {
            give_up("what is carried over is out of order");
        }
    }
    fclose(from);
    call(unlinkat, asides, "carried", 0);
}
