#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/// SQLITE_DBCONFIG_DEFENSIVE, set by a function that is variadic and so not in GRDB's module. SQLITE_OK if it is set.
static inline int shim_set_defensive(sqlite3 *connection) {
    int is_set = 0;
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, &is_set);
    return code == SQLITE_OK && !is_set ? SQLITE_ERROR : code;
}

/// SQLITE_LIMIT_LENGTH, whose number is not in GRDB's module: the most bytes of a value and of a statement.
static inline void shim_limit_length(sqlite3 *connection, int bytes) {
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, bytes);
}

#endif
