#if PostgreSQL
/// Where a database is, and who connects to it: `postgres://user@host[:port][,host2[:port2]]/database[?parameters]`.
///
/// A database on a Unix socket is `postgres:///database?host=/run/postgresql`. A connection over TCP is always TLS, and
/// the server's certificate must be for its host (libpq's `verify-full`); nothing in a URL lowers that, not for a loopback
/// address either. PgBouncer or PostgreSQL on the same host has a Unix socket for whoever wants no TLS.
package struct PostgresURL: Sendable, Equatable, CustomStringConvertible {
    /// Where a server listens.
    enum Server: Sendable, Equatable {
        /// In a directory.
        case socket(String, port: UInt16)
        /// A name, or an address without brackets.
        case tcp(String, port: UInt16)
    }

    /// Over TCP only.
    struct TLS: Sendable, Equatable {
        /// The certificates of the CAs that the server's is checked against: a path, or `system`.
        let roots: String
        /// The paths of the client's own certificate and its key: both, or neither.
        let certificate: String?
        let key: String?
    }

    /// In the order in which they are tried; at least one.
    let servers: [Server]
    /// `nil`: over a socket, the user of the process.
    let user: String?
    let database: String
    let tls: TLS?
    let applicationName: String

    /// A URL for logs: without parameters.
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

    /// What is wrong with a URL.
    ///
    /// It has no part of a URL that may be a password.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }
}
#endif
