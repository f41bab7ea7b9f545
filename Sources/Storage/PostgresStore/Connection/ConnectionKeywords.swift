#if PostgreSQL
import CPostgres
import Glibc

/// The libpq keywords for one server.
///
/// They include each keyword that libpq would take from the environment or a file.
struct ConnectionKeywords {
    let values: [String: String]
    /// `host:port`, or the directory of a socket.
    let place: String

    /// A path that does not exist.
    ///
    /// libpq then uses no file; for an empty path it would use its default.
    private static let noFile = "/dev/null/none"

    init(_ server: PostgresURL.Server, of url: PostgresURL, _ password: PostgresPassword?, _ limits: PostgresLimits) {
        let patience = limits.answer.milliseconds(atLeast: 1)
        var values = [
            "dbname": url.database, "application_name": url.applicationName,
            "client_encoding": "UTF8", "options": limits.serverOptions, "target_session_attrs": "read-write",
            "passfile": Self.noFile, "gssencmode": "disable", "krbsrvname": "postgres", "channel_binding": "prefer",
            // `Deadline` limits the waiting. This value only overrides the environment.
            "connect_timeout": "10",
            "keepalives": "1", "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            "tcp_user_timeout": String(patience), "sslcompression": "0", "sslsni": "1",
            "ssl_min_protocol_version": "TLSv1.2", "sslcrl": Self.noFile, "sslcrldir": Self.noFile,
            "sslcert": url.tls?.certificate ?? Self.noFile, "sslkey": url.tls?.key ?? Self.noFile,
            "sslrootcert": url.tls?.roots ?? Self.noFile,
        ]
        (values["user"], values["password"]) = (url.user, password?.text)
        switch server {
        case .socket(let directory, let port):
            values.merge(["host": directory, "port": String(port), "sslmode": "disable"]) { $1 }
            place = directory
        case .tcp(let host, let port):
            values.merge(["host": host, "port": String(port), "sslmode": "verify-full"]) { $1 }
            place = "\(host):\(port)"
        }
        self.values = values
    }

    private init(_ values: [String: String], _ place: String) { (self.values, self.place) = (values, place) }

    /// The keywords without `options`.
    ///
    /// A pooler's connections have no settings of their own.
    var withoutOptions: ConnectionKeywords {
        // libpq does not send an empty value.
        ConnectionKeywords(values.merging(["options": ""]) { $1 }, place)
    }

    /// Refuses environment variables that libpq would use and that no keyword here overrides.
    ///
    /// Such a variable, for example PGHOSTADDR, stands for a keyword that cannot be set to "none".
    func checkEnvironment() throws(PostgresError) {
        // A service file may set any keyword, and libpq reads it first.
        guard !Self.isSet("PGSERVICE") else { throw Self.refusal("PGSERVICE") }
        guard let options = unsafe PQconndefaults() else {
            throw PostgresError(message: "there is no memory for a connection")
        }
        defer { unsafe PQconninfoFree(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if unsafe values[String(cString: keyword)] == nil, let variable = unsafe option.pointee.envvar {
                let name = unsafe String(cString: variable)
                guard !Self.isSet(name) else { throw Self.refusal(name) }
            }
            unsafe option += 1
        }
    }

    private static func isSet(_ name: String) -> Bool {
        guard let value = unsafe getenv(name) else { return false }
        return unsafe value.pointee != 0
    }

    private static func refusal(_ name: String) -> PostgresError {
        PostgresError(
            message: "the environment variable \(name) is set, and would change what is connected to: unset it")
    }
}
#endif
