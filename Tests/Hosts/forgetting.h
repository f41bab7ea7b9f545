// The undo log, as forgetting.c keeps it and carrying.c hands it on.
#pragma once

#include "powercut.h"

struct change {
    struct change *older;
    off_t offset;
    size_t length;
    bool is_cut;   // The file was cut off at the offset; else bytes were overwritten.
    char bytes[];  // As they were; zeros where the file ended.
};

struct file {
    struct file *next;
    dev_t device;
    ino_t inode;
    int descriptor;  // Never closed: that would drop the process's fcntl locks on the file.
    unsigned number;
    off_t size_on_disk;
    struct change *newest;
};

struct name {
    struct name *older;
    dev_t device;
    ino_t inode;
    struct entry entry;
    unsigned aside;  // 0: the entry was made; else it went, and this is the link's number.
    unsigned group;  // What one call did is done or undone as one.
    bool survives;
};

// Newest first.
extern struct file *files;
extern struct name *names;
extern int asides;
extern unsigned last_aside, last_group;

void *room(size_t bytes);
struct file *file_of(int descriptor);
struct change *new_change(struct file *file, off_t offset, size_t length);
void forget_name(const struct entry *entry, unsigned aside, unsigned group);
