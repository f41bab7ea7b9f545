#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>

/// EVP_PKEY_Q_keygen is variadic, and EVP_EC_gen a macro over it, which Swift cannot import.
static inline EVP_PKEY *shim_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *shim_generate_p384(void) { return EVP_EC_gen("P-384"); }
static inline EVP_PKEY *shim_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

#endif
