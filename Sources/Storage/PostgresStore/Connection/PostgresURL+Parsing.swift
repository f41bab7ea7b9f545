#if PostgreSQL
import CPostgres

extension PostgresURL {
    private static let defaultPort: UInt16 = 5_432
    private static let mostHosts = 8
    /// PostgreSQL cuts longer names off after this many bytes.
    private static let longestName = 63
    private static let allowed = ["host", "port", "user", "dbname", "application_name"]
    private static let allowedOverTCP = ["sslrootcert", "sslcert", "sslkey"]

    /// Parses a URL with libpq's parser, and allows only a few of its keywords.
    package init(_ text: String) throws(Problem) {
        guard text.utf8.count <= 4_096, !text.utf8.contains(0) else { throw Problem("must have at most 4096 bytes") }
        guard ["postgres://", "postgresql://"].contains(where: text.hasPrefix) else {
            throw Problem("must begin with postgres://")
        }
        let values = try Self.values(in: text)
        servers = try Self.servers(values["host"], ports: values["port"])
        let isSocket = if case .socket = servers.first { true } else { false }
        try Self.checkKeywords(of: values, isSocket: isSocket)
        guard let database = values["dbname"] else {
            throw Problem("must name a database: postgres://user@host/database")
        }
        guard isSocket || values["user"] != nil else {
            throw Problem("must name a user: postgres://user@host/database")
        }
        self.database = database
        user = values["user"]
        applicationName = values["application_name"] ?? "oob-agent"
        tls = isSocket ? nil : try TLS(values)
    }

    /// The keywords that the URL sets, without any from the environment or a file.
    ///
    /// libpq's error message may contain the password of an invalid URL, so it is discarded.
    private static func values(in text: String) throws(Problem) -> [String: String] {
        var reason: UnsafeMutablePointer<CChar>? = nil
        let parsed = unsafe PQconninfoParse(text, &reason)
        unsafe PQfreemem(reason)
        guard var option = unsafe parsed else {
            throw Problem(
                "must be as PostgreSQL has it, percent-encoded: postgres://user@host/database?keyword=value; the keywords "
                    + "are " + (allowed + allowedOverTCP).joined(separator: ", "))
        }
        defer { unsafe PQconninfoFree(parsed) }
        var values: [String: String] = [:]
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                let name = unsafe String(cString: keyword)
                guard let value = unsafe String(validatingCString: value), !value.isEmpty,
                    value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
                else { throw Problem("\(name) must have a value, in UTF-8 and without control characters") }
                values[name] = value
            }
            unsafe option += 1
        }
        return values
    }

    private static func checkKeywords(of values: [String: String], isSocket: Bool) throws(Problem) {
        guard values["password"] == nil, values["sslpassword"] == nil else {
            throw Problem(
                "must have no password: others on this host could read it from the list of processes; put it in a file")
        }
        guard values["sslmode"] == nil else {
            throw Problem("sslmode is not allowed: over TCP it is always verify-full")
        }
        let known = allowed + (isSocket ? [] : allowedOverTCP)
        if let other = values.keys.filter({ !known.contains($0) }).min() {
            throw Problem(
                "\(other) is not allowed for a \(isSocket ? "Unix socket" : "server over TCP"); allowed: "
                    + known.joined(separator: ", "))
        }
        for name in ["user", "dbname", "application_name"] {
            guard values[name].map({ $0.utf8.count <= longestName }) ?? true else {
                throw Problem("\(name) must have at most \(longestName) bytes")
            }
        }
    }

    /// - Parameters:
    ///   - hosts: a directory, or host names and addresses separated by commas.
    ///   - ports: one port for each host, or one for all. An empty one means the default.
    private static func servers(_ hosts: String?, ports: String?) throws(Problem) -> [Server] {
        guard let hosts else {
            throw Problem("must name a host, or the directory of a Unix socket: ?host=/run/postgresql")
        }
        let names = hosts.split(separator: ",", omittingEmptySubsequences: false)
        guard names.count <= mostHosts else { throw Problem("must have at most \(mostHosts) hosts") }
        let digits = (ports ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard digits.count == 1 || digits.count == names.count else {
            throw Problem("must have one port for all hosts, or one for each")
        }
        var servers: [Server] = []
        for (index, name) in names.enumerated() {
            servers.append(try server(name, port: try port(digits[digits.count == 1 ? 0 : index]), of: names.count))
        }
        return servers
    }

    private static func server(_ name: Substring, port: UInt16, of count: Int) throws(Problem) -> Server {
        if name.hasPrefix("/") {
            guard count == 1 else { throw Problem("must have one host, if it is the directory of a Unix socket") }
            return .socket(String(name), port: port)
        }
        // libpq treats a leading @ as an abstract socket.
        guard (1...253).contains(name.utf8.count), !name.hasPrefix("@") else {
            throw Problem("must have hosts such as db.example, db.example:5432 or [2001:db8::1]:5432")
        }
        return .tcp(String(name), port: port)
    }

    private static func port(_ digits: Substring) throws(Problem) -> UInt16 {
        guard !digits.isEmpty else { return defaultPort }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port > 0 else {
            throw Problem("must have ports of 1 to 65535")
        }
        return port
    }
}

extension PostgresURL.TLS {
    fileprivate init(_ values: [String: String]) throws(PostgresURL.Problem) {
        guard let roots = values["sslrootcert"] else {
            throw PostgresURL.Problem(
                "must say which CA the server's certificate is from: ?sslrootcert=/path/to/ca.pem")
        }
        if roots == "system", PQlibVersion() < 160_000 {
            throw PostgresURL.Problem(
                "sslrootcert=system needs libpq 16; name a file, such as /etc/ssl/certs/ca-certificates.crt")
        }
        (self.roots, certificate, key) = (roots, values["sslcert"], values["sslkey"])
        guard (certificate == nil) == (key == nil) else {
            throw PostgresURL.Problem("sslcert and sslkey must be there together")
        }
        for (name, path) in [
            ("sslrootcert", roots == "system" ? nil : roots), ("sslcert", certificate), ("sslkey", key),
        ] {
            guard path?.hasPrefix("/") ?? true else { throw PostgresURL.Problem("\(name) must be an absolute path") }
        }
    }
}
#endif
