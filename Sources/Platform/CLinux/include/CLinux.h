#ifndef CLINUX_H
#define CLINUX_H

/// PR_SET_DUMPABLE 0: no core dump, no ptrace by the same uid. Returns 0, or -1 with errno set.
int clinux_forbid_dumps(void);

/// PR_GET_DUMPABLE: 0 after the above, 1 or 2 where the kernel may dump. -1 with errno set where it does not say.
int clinux_dumpable(void);

/// Whether the kernel's clock is synchronised to anything (STA_UNSYNC of adjtimex(2)): 1 or 0. -1 with errno set.
int clinux_is_clock_synchronised(void);

/// mallopt(3), M_ARENA_MAX: the most pools of memory that malloc(3) has for the threads of this process.
void clinux_limit_memory_pools(int most);

/// malloc_trim(3): gives the system what is free of all pools, not only at their ends.
void clinux_return_memory(void);

/// Whether the machine has any swap (sysinfo(2)): 1 or 0. -1 with errno set.
int clinux_has_swap(void);

/// environ(7): strings NAME=VALUE up to a null pointer, where the kernel put them, which is what /proc/PID/environ shows.
char **clinux_environment(void);

/// memfd_create(2): a file in memory without a name, closed in a program that is started. -1 with errno set.
int clinux_unnamed_file(void);

/// Writes as much as a file takes without waiting for whoever reads it: the bytes written, or -1 with errno set. A pipe
/// takes nothing this way before Linux 6.5, and a terminal never does (RWF_NOWAIT, pwritev2(2)).
long clinux_write_at_once(int file, const void *bytes, long count);

/// The user at the other end of a connection: of a Unix socket by SO_PEERCRED (unix(7)), of TCP between two sockets of this
/// machine by sock_diag(7), which finds the peer's socket by both addresses and both ports. Returns 0; or -1 with errno
/// set, ENOTCONN if the peer has closed its side already: the kernel calls a socket that no process holds root's.
int clinux_peer_owner(int socket, unsigned *owner);

/// Takes a port of a loopback address and does not listen there, so that no other process can. Returns the socket, or -1
/// with errno set.
int clinux_reserve_loopback(int is_ipv6, unsigned short port);

/// Opens a directory as a place alone, and follows links to it (O_PATH, open(2)). -1 with errno set.
int clinux_open_directory(const char *path);

/// Opens what stands at a name in a directory as a place alone, without following a link (O_PATH, O_NOFOLLOW). -1 with
/// errno set.
int clinux_open_place(int directory, const char *name);

/// Gives an open place a group, whatever its path leads to by now (AT_EMPTY_PATH, fchownat(2)). -1 with errno set.
int clinux_set_group(int place, unsigned group);

#endif
