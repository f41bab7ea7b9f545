#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static char problem[512];

#ifdef LIBPQ_FE_H
/// Every function that is called: its result, name, parameters, and these again as arguments. The compiler holds each
/// against its declaration in libpq's header.
#define EVERY_FUNCTION(A) \
    A(int, PQbackendPID, (const PGconn *c), (c)) \
    A(void, PQclear, (PGresult *r), (r)) \
    A(char *, PQcmdTuples, (PGresult *r), (r)) \
    A(PQconninfoOption *, PQconndefaults, (void), ()) \
    A(PostgresPollingStatusType, PQconnectPoll, (PGconn *c), (c)) \
    A(PGconn *, PQconnectStartParams, (const char *const *k, const char *const *v, int e), (k, v, e)) \
    A(void, PQconninfoFree, (PQconninfoOption *o), (o)) \
    A(int, PQconsumeInput, (PGconn *c), (c)) \
    A(int, PQenterPipelineMode, (PGconn *c), (c)) \
    A(char *, PQerrorMessage, (const PGconn *c), (c)) \
    A(void, PQfinish, (PGconn *c), (c)) \
    A(int, PQflush, (PGconn *c), (c)) \
    A(char *, PQfname, (const PGresult *r, int f), (r, f)) \
    A(Oid, PQftype, (const PGresult *r, int f), (r, f)) \
    A(PGresult *, PQgetResult, (PGconn *c), (c)) \
    A(int, PQgetisnull, (const PGresult *r, int t, int f), (r, t, f)) \
    A(int, PQgetlength, (const PGresult *r, int t, int f), (r, t, f)) \
    A(char *, PQgetvalue, (const PGresult *r, int t, int f), (r, t, f)) \
    A(int, PQisBusy, (PGconn *c), (c)) \
    A(int, PQlibVersion, (void), ()) \
    A(int, PQnfields, (const PGresult *r), (r)) \
    A(int, PQntuples, (const PGresult *r), (r)) \
    A(int, PQpipelineSync, (PGconn *c), (c)) \
    A(char *, PQresultErrorField, (const PGresult *r, int f), (r, f)) \
    A(char *, PQresultErrorMessage, (const PGresult *r), (r)) \
    A(ExecStatusType, PQresultStatus, (const PGresult *r), (r)) \
    A(int, PQsendFlushRequest, (PGconn *c), (c)) \
    A(int, PQsendPrepare, (PGconn *c, const char *s, const char *q, int n, const Oid *t), (c, s, q, n, t)) \
    A(int, PQsendQueryParams, \
        (PGconn *c, const char *q, int n, const Oid *t, const char *const *v, const int *l, const int *f, int r), \
        (c, q, n, t, v, l, f, r)) \
    A(int, PQsendQueryPrepared, \
        (PGconn *c, const char *s, int n, const char *const *v, const int *l, const int *f, int r), \
        (c, s, n, v, l, f, r)) \
    A(PGVerbosity, PQsetErrorVerbosity, (PGconn *c, PGVerbosity v), (c, v)) \
    A(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn *c, PQnoticeReceiver r, void *a), (c, r, a)) \
    A(int, PQsetnonblocking, (PGconn *c, int on), (c, on)) \
    A(int, PQsocket, (const PGconn *c), (c)) \
    A(int, PQsslInUse, (PGconn *c), (c)) \
    A(ConnStatusType, PQstatus, (const PGconn *c), (c))

// Hidden, so that libpq never takes these for its own.
#define DEFINE(result, name, parameters, arguments) \
    static result(*found_##name) parameters; \
    __attribute__((visibility("hidden"))) result name parameters { return found_##name arguments; }
EVERY_FUNCTION(DEFINE)

static void load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(problem, sizeof problem, "%s", dlerror());
        return;
    }
#define FIND(result, name, parameters, arguments) \
    if (!(found_##name = (result(*) parameters)dlsym(library, #name))) { \
        snprintf(problem, sizeof problem, "%s is not in it: version 14 or later is needed", #name); \
        return; \
    }
    EVERY_FUNCTION(FIND)
}
#else
static void load(void) { snprintf(problem, sizeof problem, "this build is without it"); }
#endif

const char *cpostgres_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}
