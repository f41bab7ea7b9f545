#ifndef CLINUX_H
#define CLINUX_H

/// PR_SET_DUMPABLE 0: no core dump, no ptrace by the same uid. Returns 0, or -1 with errno set.
int clinux_forbid_dumps(void);

#endif
