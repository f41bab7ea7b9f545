#if PostgreSQL
import CPostgres
import Glibc

/// What libpq is told about one server: each keyword that it would else take from the environment or from a file.
struct ConnectionKeywords {
    let values: [String: String]
    /// `host:port`, or a socket's directory.
    let place: String

    /// There is no such file: libpq takes that as "none", and takes its own default for an empty text.
    private static let noFile = "/dev/null/none"

    init(_ server: PostgresURL.Server, of url: PostgresURL, _ password: PostgresPassword?, _ limits: PostgresLimits) {
        let patience = limits.answer.milliseconds(atLeast: 1)
        var values = [
            "dbname": url.database, "application_name": url.applicationName,
            "client_encoding": "UTF8", "options": limits.serverOptions, "target_session_attrs": "read-write",
            "passfile": Self.noFile, "gssencmode": "disable", "krbsrvname": "postgres", "channel_binding": "prefer",
            // Waiting is ours (`Deadline`); this is only so that the environment does not say it.
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

    /// For a pooler, whose connections have no settings of their own.
    var withoutOptions: ConnectionKeywords {
        // An empty text is sent to nobody.
        ConnectionKeywords(values.merging(["options": ""]) { $1 }, place)
    }

    /// Refuses an environment variable that libpq would take something from: one that stands for a keyword which cannot be
    /// set to none, such as PGHOSTADDR.
    func checkEnvironment() throws(PostgresError) {
        // A service's file may have any keyword, and is looked for before all else.
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
