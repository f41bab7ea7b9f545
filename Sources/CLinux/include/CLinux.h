#ifndef CLINUX_H
#define CLINUX_H

#include <sys/types.h>

/// The peer of a connected Unix socket (SO_PEERCRED). Returns 0, or -1 with errno set.
int clinux_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid);

/// PR_SET_DUMPABLE 0: no core dump, no ptrace by the same uid. Returns 0, or -1 with errno set.
int clinux_forbid_dumps(void);

#endif
