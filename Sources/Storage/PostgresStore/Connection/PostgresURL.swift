#if PostgreSQL
/// A database and the role to connect as.
///
/// The form is `postgres://user@host[:port][,host2[:port2]]/database[?parameters]`.
///
/// A database on a Unix socket is `postgres:///database?host=/run/postgresql`. A connection over TCP always uses TLS
/// and verifies the server's certificate and host name (libpq's `verify-full`). No parameter lowers that, not even for
/// a loopback address. To connect without TLS, use a Unix socket of PgBouncer or PostgreSQL on the same host.
package struct PostgresURL: Sendable, Equatable, CustomStringConvertible {
    /// The address of a server.
    enum Server: Sendable, Equatable {
        /// The directory of a Unix socket.
        case socket(String, port: UInt16)
        /// A host name, or an address without brackets.
        case tcp(String, port: UInt16)
    }

    /// The TLS files, for TCP only.
    struct TLS: Sendable, Equatable {
        /// The CA certificates that verify the server's: a path, or `system`.
        let roots: String
        /// The path of the client's certificate.
        ///
        /// It and ``key`` are both set, or neither.
        let certificate: String?
        let key: String?
    }

    /// The servers, at least one, in the order in which they are tried.
    let servers: [Server]
    /// The role to connect as.
    ///
    /// Over a Unix socket, `nil` stands for the user of the process.
    let user: String?
    let database: String
    let tls: TLS?
    let applicationName: String

    /// The URL without parameters, for logs.
    package var description: String {
        let places = servers.map { server in
            switch server {
            case .socket: ""
            case .tcp(let host, let port): (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
            }
        }
        var text = "postgres://\(user ?? "")@\(places.joined(separator: ","))/\(database)"
        if case .socket(let directory, let port)? = servers.first { text += "?host=\(directory)&port=\(port)" }
        return text
    }

    /// The error of a URL.
    ///
    /// It contains no part of the URL that may be a password.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }
}
#endif
