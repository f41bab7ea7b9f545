#if PostgreSQL
import Glibc

extension PostgresURL {
    private static let defaultPort: UInt16 = 5_432
    private static let mostHosts = 8
    /// PostgreSQL's names are cut after this many bytes.
    static let longestName = 63

    package init(_ text: String) throws(Problem) {
        guard text.utf8.count <= 4_096 else { throw Problem("must have at most 4096 bytes") }
        guard let start = ["postgres://", "postgresql://"].first(where: text.hasPrefix) else {
            throw Problem("must begin with postgres://")
        }
        let halves = text.dropFirst(start.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // No host, user or parameter has a slash of its own before the database's.
        let parts = halves[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let (user, hosts) = try Self.authority(parts[0])
        guard parts.count == 2, !parts[1].isEmpty else {
            throw Problem("must name a database: postgres://user@host/database")
        }
        database = try Self.name(parts[1], of: "the database")
        var parameters = try Parameters(halves.count == 2 ? halves[1] : "", isSocket: hosts.isEmpty)
        applicationName = try parameters.applicationName()
        if hosts.isEmpty {
            servers = [try parameters.socket(defaultPort: Self.defaultPort)]
            tls = nil
        } else {
            guard user != nil else { throw Problem("must name a user: postgres://user@host/database") }
            servers = hosts
            tls = try parameters.tls()
        }
        guard let user = user ?? Self.userOfProcess() else {
            throw Problem("must name a user: postgres://user@/database; this process's user has no name")
        }
        self.user = user
    }

    /// Reads what is before the database.
    private static func authority(_ text: Substring) throws(Problem) -> (user: String?, hosts: [Server]) {
        var hosts = text
        var user: String?
        if let at = text.lastIndex(of: "@") {
            let who = text[..<at]
            guard !who.contains(":") else {
                throw Problem(
                    "must have no password: others on this host could read it from the list of processes; put it in a file"
                )
            }
            user = try name(who, of: "the user")
            hosts = text[text.index(after: at)...]
        }
        guard !hosts.isEmpty else { return (user, []) }
        let each = hosts.split(separator: ",", omittingEmptySubsequences: false)
        guard each.count <= mostHosts else { throw Problem("must have at most \(mostHosts) hosts") }
        var servers: [Server] = []
        for host in each { servers.append(try server(host)) }
        return (user, servers)
    }

    /// Reads `host`, `host:port` or `[address]:port`.
    private static func server(_ text: Substring) throws(Problem) -> Server {
        let problem = Problem("must have hosts such as db.example, db.example:5432 or [2001:db8::1]:5432")
        var host = text
        var digits: Substring?
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw problem }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { throw problem }
            digits = rest.isEmpty ? nil : rest.dropFirst()
            var address = in6_addr()
            guard unsafe inet_pton(AF_INET6, String(host), &address) == 1 else { throw problem }
        } else {
            if let colon = text.firstIndex(of: ":") {
                host = text[..<colon]
                digits = text[text.index(after: colon)...]
            }
            let isName = host.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
            guard (1...253).contains(host.utf8.count), isName else { throw problem }
        }
        return .tcp(String(host), port: try digits.map(port) ?? defaultPort)
    }

    static func port(_ digits: Substring) throws(Problem) -> UInt16 {
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits), port > 0
        else { throw Problem("must have ports of 1 to 65535") }
        return port
    }

    private static func name(_ text: Substring, of what: String) throws(Problem) -> String {
        guard let name = decoded(text), (1...longestName).contains(name.utf8.count), !name.utf8.contains(0),
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw Problem("must have a name of 1 to \(longestName) bytes for \(what), percent-encoded") }
        return name
    }

    /// Without percent-encoding; nil if it is not UTF-8 then, or a percent sign has no two digits.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        UInt8(exactly: Character(UnicodeScalar(byte)).hexDigitValue ?? -1)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// As PostgreSQL's `peer` sees it.
    private static func userOfProcess() -> String? {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 16_384)
        var found: UnsafeMutablePointer<passwd>? = nil
        let status = unsafe getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found)
        guard status == 0, let found = unsafe found, let name = unsafe found.pointee.pw_name else { return nil }
        return unsafe String(cString: name)
    }
}
#endif
