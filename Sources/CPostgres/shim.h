// libpq: the place of the header is pkg-config's to say.
#include <libpq-fe.h>
