// What an approval cannot go below: verifying and signing with ES256, and commits of SQLite as the agent makes them.
//
//     reference keys COUNT            prints the processor seconds of COUNT times verify and sign
//     reference commits SECONDS FILE  prints how many commits of one row a second gets: WAL, synchronous FULL
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "reference: %s failed\n", what);
    exit(1);
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

// As many bytes as a request and what its assertion signs have together.
static const unsigned char message[1024] = {1};

static size_t sign(EVP_PKEY *key, unsigned char *signature, size_t room) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    expect(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1, "EVP_DigestSignInit");
    expect(EVP_DigestSign(context, signature, &room, message, sizeof message) == 1, "EVP_DigestSign");
    EVP_MD_CTX_free(context);
    return room;
}

static void verify(EVP_PKEY *key, const unsigned char *signature, size_t size) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    expect(EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1, "EVP_DigestVerifyInit");
    expect(EVP_DigestVerify(context, signature, size, message, sizeof message) == 1, "EVP_DigestVerify");
    EVP_MD_CTX_free(context);
}

static double keys(int count) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    unsigned char signature[128];
    size_t size = sign(key, signature, sizeof signature);
    double began = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int each = 0; each < count; each++) {
        verify(key, signature, size);
        size = sign(key, signature, sizeof signature);
    }
    double seconds = now(CLOCK_PROCESS_CPUTIME_ID) - began;
    EVP_PKEY_free(key);
    return seconds;
}

static void run(sqlite3 *database, const char *sql) {
    expect(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

static double commits(double seconds, const char *file) {
    sqlite3 *database;
    sqlite3_stmt *insert;
    expect(sqlite3_open(file, &database) == SQLITE_OK, "sqlite3_open");
    run(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS fact (text TEXT)");
    expect(sqlite3_prepare_v2(database, "INSERT INTO fact VALUES (hex(randomblob(100)))", -1, &insert, NULL) == 0,
           "sqlite3_prepare_v2");
    double began = now(CLOCK_MONOTONIC), passed = 0;
    int count = 0;
    for (; passed < seconds; passed = now(CLOCK_MONOTONIC) - began) {
        expect(sqlite3_step(insert) == SQLITE_DONE, "INSERT");
        sqlite3_reset(insert);
        count++;
    }
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return count / passed;
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "keys") == 0) printf("%.9f\n", keys(atoi(words[2])));
    else if (count == 4 && strcmp(words[1], "commits") == 0) printf("%.9f\n", commits(atof(words[2]), words[3]));
    else expect(0, "usage: reference keys COUNT, or reference commits SECONDS FILE:");
}
