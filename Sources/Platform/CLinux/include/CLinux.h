#ifndef CLINUX_H
#define CLINUX_H

/// PR_SET_DUMPABLE 0: no core dump, no ptrace by the same uid. Returns 0, or -1 with errno set.
int clinux_forbid_dumps(void);

/// PR_GET_DUMPABLE: 0 after clinux_forbid_dumps, 1 or 2 if the kernel may dump, or -1 with errno set.
int clinux_dumpable(void);

/// Returns 1 if the kernel's clock is synchronised (STA_UNSYNC of adjtimex(2)), 0 if not, or -1 with errno set.
int clinux_is_clock_synchronised(void);

/// Limits the pools of memory that malloc(3) has for the threads of this process (M_ARENA_MAX of mallopt(3)).
void clinux_limit_memory_pools(int most);

/// Returns the free memory of all pools to the system, not only at their ends (malloc_trim(3)).
void clinux_return_memory(void);

/// Returns 1 if the machine has swap (sysinfo(2)), 0 if not, or -1 with errno set.
int clinux_has_swap(void);

/// Returns environ(7): strings NAME=VALUE up to a null pointer, where the kernel put them. /proc/PID/environ shows that
/// memory.
char **clinux_environment(void);

/// Creates a file in memory without a name (memfd_create(2)), closed on exec. Returns -1 with errno set on failure.
int clinux_unnamed_file(void);

/// Writes as many bytes as a file accepts without waiting for its reader. Returns their number, or -1 with errno set. A
/// pipe accepts no bytes in this way before Linux 6.5, and a terminal never does (RWF_NOWAIT, pwritev2(2)).
long clinux_write_at_once(int file, const void *bytes, long count);

/// Finds the user at the other end of a connection. For a Unix socket it uses SO_PEERCRED (unix(7)). For TCP between
/// two sockets of this machine it uses sock_diag(7), which finds the peer's socket by both addresses and both ports.
/// Returns 0, or -1 with errno set. errno is ENOTCONN if the peer has closed its side already, because the kernel
/// reports root as the user of a socket that no process has open.
int clinux_peer_owner(int socket, unsigned *owner);

/// Binds a port of a loopback address without listening, so that no other process can listen there. Returns the socket,
/// or -1 with errno set.
int clinux_reserve_loopback(int is_ipv6, unsigned short port);

/// Opens a directory with O_PATH (open(2)), and follows links to it. Returns -1 with errno set on failure.
int clinux_open_directory(const char *path);

/// Opens a name in a directory with O_PATH, without following a link (O_NOFOLLOW). Returns -1 with errno set on
/// failure.
int clinux_open_place(int directory, const char *name);

/// Sets the group of a file that is open with O_PATH, even if its path leads elsewhere by now (AT_EMPTY_PATH,
/// fchownat(2)). Returns -1 with errno set on failure.
int clinux_set_group(int place, unsigned group);

#endif
