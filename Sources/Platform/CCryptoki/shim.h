#ifndef CCRYPTOKI_SHIM_H
#define CCRYPTOKI_SHIM_H

/// The types of PKCS #11 (OASIS), from p11-kit's header. The library p11-kit is not linked.
#include <p11-kit-1/p11-kit/pkcs11.h>

#endif
