#if PostgreSQL
import CPostgres

/// The library libpq, which is loaded when this is first asked.
enum Libpq {
    /// Why none of its functions may be called, if so: it is not installed, or is older than version 14.
    static let problem = unsafe cpostgres_load().map { reason in
        unsafe "needs libpq, which cannot be loaded (\(String(cString: reason))): install Debian's libpq5"
    }
}
#endif
