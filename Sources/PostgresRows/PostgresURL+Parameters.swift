#if PostgreSQL
import CPostgres

extension PostgresURL {
    /// What stands behind the question mark.
    struct Parameters {
        private var values: [String: String] = [:]

        init(_ text: Substring, isSocket: Bool) throws(Problem) {
            let allowed =
                isSocket
                ? ["host", "port", "application_name"] : ["sslrootcert", "sslcert", "sslkey", "application_name"]
            for pair in text.split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard allowed.contains(String(parts[0])) else { throw Self.unknown(parts[0], allowed, isSocket) }
                guard parts.count == 2, let value = PostgresURL.decoded(parts[1]), !value.isEmpty,
                    value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
                else { throw Problem("the parameter \(parts[0]) must have a value, percent-encoded") }
                guard values.updateValue(value, forKey: String(parts[0])) == nil else {
                    throw Problem("the parameter \(parts[0]) must be there once")
                }
            }
        }

        private static func unknown(_ name: Substring, _ allowed: [String], _ isSocket: Bool) -> Problem {
            if name == "password" || name == "sslpassword" {
                return Problem(
                    "must have no password: others on this host could read it from the list of processes; put it in a file"
                )
            }
            if name == "sslmode" {
                return Problem("the parameter sslmode is not allowed: over TCP it is always verify-full")
            }
            let shown = name.utf8.allSatisfy { (0x21...0x7E).contains($0) } && name.utf8.count <= longestName
            return Problem(
                (shown ? "the parameter \(name) is not allowed" : "a parameter is not allowed")
                    + " for a \(isSocket ? "Unix socket" : "server over TCP"); allowed: "
                    + allowed.joined(separator: ", "))
        }

        mutating func applicationName() throws(Problem) -> String {
            let name = values["application_name"] ?? "oob-agent"
            guard name.utf8.count <= longestName, name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw Problem("application_name must be 1 to \(longestName) printable ASCII characters")
            }
            return name
        }

        func socket(defaultPort: UInt16) throws(Problem) -> Server {
            guard let directory = values["host"] else {
                throw Problem("must name a host, or the directory of a Unix socket: ?host=/run/postgresql")
            }
            // A comma begins the next host for libpq, an @ a socket without a file.
            guard directory.hasPrefix("/"), !directory.contains(",") else {
                throw Problem("host must be the absolute path of a Unix socket's directory, without a comma")
            }
            guard let port = values["port"] else { return .socket(directory, port: defaultPort) }
            return .socket(directory, port: try PostgresURL.port(port[...]))
        }

        func tls() throws(Problem) -> TLS {
            guard let roots = values["sslrootcert"] else {
                throw Problem(
                    "must say which CA the server's certificate is from: ?sslrootcert=/path/to/ca.pem")
            }
            if roots == "system" {
                guard PQlibVersion() >= 160_000 else {
                    throw Problem(
                        "sslrootcert=system needs libpq 16; name a file, such as /etc/ssl/certs/ca-certificates.crt")
                }
            } else {
                try Self.check(roots, "sslrootcert")
            }
            switch (values["sslcert"], values["sslkey"]) {
            case (nil, nil): return TLS(roots: roots, identity: nil)
            case (let certificate?, let key?):
                try Self.check(certificate, "sslcert")
                try Self.check(key, "sslkey")
                return TLS(roots: roots, identity: (certificate, key))
            default: throw Problem("sslcert and sslkey must be there together")
            }
        }

        private static func check(_ path: String, _ name: String) throws(Problem) {
            guard path.hasPrefix("/") else { throw Problem("\(name) must be an absolute path") }
        }
    }
}
#endif
