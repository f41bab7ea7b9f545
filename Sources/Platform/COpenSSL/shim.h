#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>

/// EVP_PKEY_Q_keygen is variadic, and EVP_EC_gen is a macro over it. Swift cannot import either.
static inline EVP_PKEY *shim_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *shim_generate_p384(void) { return EVP_EC_gen("P-384"); }
static inline EVP_PKEY *shim_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

/// Makes a pair on a curve from its parts, or returns NULL if they are not a pair's parts. OpenSSL's decoders take many
/// times as long.
///
/// `number` is big-endian and `point` uncompressed. The point is checked to be on the curve, but not to belong to the
/// number.
static inline EVP_PKEY *shim_ec_pair(
    const char *curve, const unsigned char *number, int number_count, const unsigned char *point, size_t point_count) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    BIGNUM *value = BN_secure_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (builder != NULL && value != NULL && context != NULL && BN_bin2bn(number, number_count, value) != NULL &&
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, value) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, point_count) == 1 &&
        (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1)
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_clear_free(value);
    EVP_PKEY_CTX_free(context);
    return key;
}

/// Sets the key of an EVP_MAC for HMAC-SHA256. The functions that build its parameters need a pointer to mutable
/// memory.
static inline int shim_hmac_sha256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_init(context, key, count, parameters);
}

/// Computes the uncompressed point, 65 bytes, of a private value of P-256, 32 bytes big-endian. Returns 0 if it has no
/// point.
static inline int shim_p256_point(const unsigned char *number, unsigned char *point) {
    size_t written = 0;
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *made = group != NULL ? EC_POINT_new(group) : NULL;
    BIGNUM *value = BN_secure_new();
    if (made != NULL && value != NULL && BN_bin2bn(number, 32, value) != NULL) {
        BN_set_flags(value, BN_FLG_CONSTTIME);
        if (EC_POINT_mul(group, made, value, NULL, NULL, NULL) == 1)
            written = EC_POINT_point2oct(group, made, POINT_CONVERSION_UNCOMPRESSED, point, 65, NULL);
    }
    BN_clear_free(value);
    EC_POINT_free(made);
    EC_GROUP_free(group);
    return written == 65;
}

/// Makes a public key from its curve and uncompressed point, or returns NULL if the point is not on the curve.
static inline EVP_PKEY *shim_ec_public_key(const char *curve, const unsigned char *point, size_t count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1)
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
    EVP_PKEY_CTX_free(context);
    return key;
}

/// An allocator that wipes all memory that it frees.
static inline void *shim_allocate(size_t count, const char *file, int line) { return malloc(count); }

static inline void shim_free(void *memory, const char *file, int line) {
    if (memory == NULL) return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

static inline void *shim_reallocate(void *memory, size_t count, const char *file, int line) {
    void *moved = count > 0 ? malloc(count) : NULL;
    if (memory == NULL || (count > 0 && moved == NULL)) return moved;
    size_t had = malloc_usable_size(memory);
    if (count > 0) memcpy(moved, memory, had < count ? had : count);
    shim_free(memory, file, line);
    return moved;
}

/// Gives OpenSSL that allocator. Returns 0 if OpenSSL already has memory from another one.
static inline int shim_wipe_what_is_freed(void) {
    return CRYPTO_set_mem_functions(shim_allocate, shim_reallocate, shim_free);
}

#endif
