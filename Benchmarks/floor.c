// The floor of an approval: the smallest program with the same promises, on the same libraries.
//
//     floor run COUNT FOLDER        receives, approves and delivers COUNT requests one at a time, with a database in
//                                   FOLDER; prints the processor seconds of one request
//     floor peer COUNT FOLDER PORT  the issuer and the payer of such a run, which starts it
//     floor commits SECONDS FOLDER  prints how many durable commits of one row a second gets, with the same settings
//
// A request takes three exchanges over HTTP/1.1 (a fetch and a delivery over TCP, the approval over a Unix socket), one
// ES256 signature to verify, four to make (the assertion's, and one of the journal's head for each commit) and three
// durable commits of SQLite with the agent's settings.
#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Bytes of the issuer's message, of a decision, and of an entry of the journal.
enum { MESSAGE = 1536, DECISION = 1107, ENTRY = 420 };

static unsigned char fill[4096];

static void expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "floor: %s failed\n", what);
    exit(1);
}

// MARK: Signatures

static size_t sign(EVP_PKEY *key, unsigned char *signature, const void *bytes, size_t size) {
    size_t room = 128;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    expect(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1, "EVP_DigestSignInit");
    expect(EVP_DigestSign(context, signature, &room, bytes, size) == 1, "EVP_DigestSign");
    EVP_MD_CTX_free(context);
    return room;
}

static void verify(EVP_PKEY *key, const unsigned char *signature, size_t length, const void *bytes, size_t size) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    expect(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1, "EVP_DigestVerifyInit");
    expect(EVP_DigestVerify(context, signature, length, bytes, size) == 1, "EVP_DigestVerify");
    EVP_MD_CTX_free(context);
}

// MARK: Commits

static sqlite3 *database;

static void run(const char *sql) { expect(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, sql); }

// Runs a statement, prepared once for each place it is written at. `types`: i a number, b bytes with their count.
static void step(sqlite3_stmt **kept, const char *sql, const char *types, ...) {
    if (*kept == NULL) expect(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL) == 0, sql);
    va_list values;
    va_start(values, types);
    for (int place = 1; *types; types++, place++) {
        if (*types == 'i') {
            sqlite3_bind_int64(*kept, place, va_arg(values, int));
        } else {
            const void *bytes = va_arg(values, const void *);
            sqlite3_bind_blob(*kept, place, bytes, va_arg(values, int), SQLITE_STATIC);
        }
    }
    va_end(values);
    expect(sqlite3_step(*kept) == SQLITE_DONE, sql);
    sqlite3_reset(*kept);
}

#define STEP(sql, ...) do { static sqlite3_stmt *kept; step(&kept, sql, __VA_ARGS__); } while (0)

static void open_database(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/floor.db", folder);
    expect(sqlite3_open(path, &database) == SQLITE_OK, "sqlite3_open");
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -512");
}

static void make_tables(void) {
    run("CREATE TABLE request (id INTEGER PRIMARY KEY, message BLOB, state INTEGER DEFAULT 0, decision BLOB);"
        "CREATE INDEX request_by_state ON request (state, id);"
        "CREATE TABLE journal (entry INTEGER PRIMARY KEY, text BLOB);"
        "CREATE TABLE outbox (request INTEGER PRIMARY KEY, decision BLOB);"
        "CREATE TABLE enrollment (id INTEGER PRIMARY KEY, sign_count INTEGER);"
        "CREATE TABLE head (one INTEGER PRIMARY KEY, signature BLOB);"
        "INSERT INTO enrollment VALUES (1, 0); INSERT INTO head VALUES (1, x'00')");
}

static void commit(EVP_PKEY *audit_key) {
    unsigned char signature[128];
    int size = sign(audit_key, signature, fill, 64);
    STEP("INSERT INTO journal (text) VALUES (?)", "b", fill, ENTRY);
    STEP("UPDATE head SET signature = ? WHERE one = 1", "b", signature, size);
    STEP("COMMIT", "");
}

static void begin(void) { STEP("BEGIN IMMEDIATE", ""); }

// MARK: Exchanges

static int tcp(int *port) {
    int made = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    expect(bind(made, (void *)&address, size) == 0 && listen(made, 1) == 0, "listen");
    expect(getsockname(made, (void *)&address, &size) == 0, "getsockname");
    *port = ntohs(address.sin_port);
    return made;
}

static struct sockaddr_un unix_address(const char *folder) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/floor.sock", folder);
    return address;
}

// A head of HTTP/1.1 and a body of so many bytes, written at once.
static void send_message(int to, const char *first, const void *body, size_t size) {
    char bytes[8192];
    int head = snprintf(bytes, sizeof bytes, "%s\r\nHost: issuer.example\r\nAuthorization: Bearer 0123456789abcdef\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", first, size);
    memcpy(bytes + head, body, size);
    expect(write(to, bytes, head + size) == (ssize_t)(head + size), "write");
}

// Reads one; gives the body's size, and copies it.
static size_t receive_message(int from, unsigned char *body) {
    char bytes[8192];
    size_t have = 0;
    for (;;) {
        ssize_t more = read(from, bytes + have, sizeof bytes - 1 - have);
        expect(more > 0, "read");
        have += more;
        bytes[have] = 0;
        char *end = strstr(bytes, "\r\n\r\n"), *length = end ? strstr(bytes, "Content-Length: ") : NULL;
        if (!length) continue;
        size_t size = strtoul(length + 16, NULL, 10), head = end + 4 - bytes;
        if (have < head + size) continue;
        memcpy(body, bytes + head, size);
        return size;
    }
}

static void peer(int count, const char *folder, int port) {
    unsigned char body[8192];
    EVP_PKEY *key = EVP_EC_gen("P-256");
    int issuer = socket(AF_INET, SOCK_STREAM, 0), payer = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    struct sockaddr_un control = unix_address(folder);
    expect(connect(issuer, (void *)&address, sizeof address) == 0, "connect");
    expect(connect(payer, (void *)&control, sizeof control) == 0, "connect");
    // The public key once, then with each message its signature.
    unsigned char *encoded = NULL;
    size_t size = EVP_PKEY_get1_encoded_public_key(key, &encoded);
    send_message(issuer, "HTTP/1.1 200 OK", encoded, size);
    for (int each = 0; each < count; each++) {
        unsigned char message[MESSAGE + 128];
        receive_message(issuer, body);
        memcpy(message, fill, MESSAGE);
        memcpy(message, &each, sizeof each);
        send_message(issuer, "HTTP/1.1 200 OK", message, MESSAGE + sign(key, message + MESSAGE, message, MESSAGE));
        send_message(payer, "POST /v1/requests/1/approve HTTP/1.1", "{}", 2);
        receive_message(payer, body);
        receive_message(issuer, body);
        send_message(issuer, "HTTP/1.1 200 OK", "{\"transStatus\":\"Y\"}", 19);
    }
}

// MARK: The run

static void requests(int count, int issuer, int payer) {
    unsigned char body[8192], decision[DECISION] = {0};
    EVP_PKEY *issuer_key = EVP_EC_gen("P-256"), *credential_key = EVP_EC_gen("P-256"), *audit_key = EVP_EC_gen("P-256");
    size_t size = receive_message(issuer, body);
    expect(EVP_PKEY_set1_encoded_public_key(issuer_key, body, size) == 1, "the issuer's key");
    for (int each = 1; each <= count; each++) {
        send_message(issuer, "GET /authn-requests HTTP/1.1", "", 0);
        size = receive_message(issuer, body);
        verify(issuer_key, body + MESSAGE, size - MESSAGE, body, MESSAGE);
        begin();
        STEP("INSERT INTO request (id, message) VALUES (?, ?)", "ib", each, body, MESSAGE);
        commit(audit_key);

        receive_message(payer, body);
        sign(credential_key, decision, fill, 69);
        begin();
        STEP("UPDATE request SET state = 1 WHERE id = ?", "i", each);
        STEP("UPDATE enrollment SET sign_count = sign_count + 1 WHERE id = 1", "");
        STEP("INSERT INTO outbox VALUES (?, ?)", "ib", each, decision, DECISION);
        commit(audit_key);
        send_message(payer, "HTTP/1.1 200 OK", "{}", 2);

        send_message(issuer, "POST /decisions HTTP/1.1", decision, DECISION);
        receive_message(issuer, body);
        begin();
        STEP("DELETE FROM outbox WHERE request = ?", "i", each);
        STEP("UPDATE request SET state = 2 WHERE id = ?", "i", each);
        commit(audit_key);
    }
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double commits(double seconds, const char *folder) {
    open_database(folder);
    run("CREATE TABLE fact (text TEXT)");
    double began = now(CLOCK_MONOTONIC), passed = 0;
    int count = 0;
    for (; passed < seconds; passed = now(CLOCK_MONOTONIC) - began, count++)
        STEP("INSERT INTO fact VALUES (hex(randomblob(100)))", "");
    return count / passed;
}

// `program` is this one: under valgrind /proc/self/exe would be valgrind.
static double floor_of(char *program, char *count_text, char *folder) {
    int port, status;
    pid_t child;
    char text[16];
    int tcp_socket = tcp(&port), unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un control = unix_address(folder);
    unlink(control.sun_path);
    expect(bind(unix_socket, (void *)&control, sizeof control) == 0 && listen(unix_socket, 1) == 0, "listen");
    open_database(folder);
    make_tables();
    snprintf(text, sizeof text, "%d", port);
    char *words[] = {program, "peer", count_text, folder, text, NULL};
    extern char **environ;
    expect(posix_spawn(&child, program, NULL, NULL, words, environ) == 0, "posix_spawn");
    int issuer = accept(tcp_socket, NULL, NULL), payer = accept(unix_socket, NULL, NULL);
    double began = now(CLOCK_PROCESS_CPUTIME_ID);
    requests(atoi(count_text), issuer, payer);
    double spent = now(CLOCK_PROCESS_CPUTIME_ID) - began;
    expect(waitpid(child, &status, 0) == child && status == 0, "the peer");
    return spent / atoi(count_text);
}

int main(int count, char **words) {
    memset(fill, 'a', sizeof fill);
    if (count == 4 && strcmp(words[1], "run") == 0) printf("%.9f\n", floor_of(words[0], words[2], words[3]));
    else if (count == 5 && strcmp(words[1], "peer") == 0) peer(atoi(words[2]), words[3], atoi(words[4]));
    else if (count == 4 && strcmp(words[1], "commits") == 0) printf("%.9f\n", commits(atof(words[2]), words[3]));
    else expect(0, "usage: floor run COUNT FOLDER, or floor commits SECONDS FOLDER:");
}
