// A shim for LD_PRELOAD: every call by which a program changes something outside itself is a *point*, at which its
// process can be made to die or its machine to lose its power. The program under test has no switch for this.
//
//   POWERCUT_UNDER   the directory whose files count, as an absolute path without links; it need not be there yet
//   POWERCUT_ASIDE   a directory on the same file system, for what a power cut takes away and puts back
//   POWERCUT_ORDERS  a file that holds a `struct orders`, which whoever drives the test maps as well
//   POWERCUT_TRACE   a file to which each point's label is appended, one a line
//
// Calls are made one at a time, so that nothing happens between what is noted and what is done. Where a program does
// what the shim does not model, the shim ends it with a message.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// Straight to the kernel: the names of the C library are the shim's own.
#define call(number, ...) syscall(SYS_##number, __VA_ARGS__)

_Noreturn void give_up(const char *why);

// points.c: where the process dies.

// The path of an open file.
void path_of(int descriptor, char path[4096]);
// Whether the files below a path count.
bool counts(const char *path);
// A point is reached: its call is about to be made. Returns whether the process is to die after it.
bool reach(const char *what, const char *path);
// The call was made.
void leave(bool is_last);

// forgetting.c and carrying.c: what a loss of power takes. Called with the lock of calls.c held.

// A directory entry: a descriptor of its directory and a name without slashes.
struct entry {
    int directory;
    char name[256];
};

// Before bytes of a file are overwritten.
void forget_bytes(int file, off_t offset, size_t length);
// Before a file gets another size.
void forget_size(int file, off_t size);
// A number for the changes to names of one call: they are undone as one.
unsigned next_group(void);
// After an entry was made.
void forget_made(const struct entry *entry, unsigned group);
// Before an entry goes: a link to what it names is put aside. Returns 0 where it names nothing.
unsigned put_aside(const struct entry *entry);
// After it went.
void forget_gone(const struct entry *entry, unsigned aside, unsigned group);
// After fsync or fdatasync of a file or a directory: what was changed there stays.
void remember(int descriptor);
// The power is cut. With 0 nothing that was not synced survives; any other seed chooses what does.
void lose_power(unsigned long seed);
// The process dies, and the machine goes on: the next process begins with what is not on the disk yet.
void carry_over(void);
// Where what goes is put aside; takes what an earlier process carried over.
void keep_aside_in(const char *directory);
