// libpq, as Debian's libpq-dev installs it.
#include <postgresql/libpq-fe.h>
