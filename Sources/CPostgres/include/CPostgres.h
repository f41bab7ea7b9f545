#ifndef CPOSTGRES_H
#define CPOSTGRES_H

// libpq's functions. Nothing is linked to libpq: it brings some twenty libraries (LDAP, Kerberos, GnuTLS), which a program
// whose store is in SQLite does not load.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#elif __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#endif

/// Loads libpq.so.5, once; from any thread. NULL, or why that cannot be done, which stays so; the text is kept for good.
/// Until it has returned NULL none of libpq's functions may be called.
const char *cpostgres_load(void);

#endif
