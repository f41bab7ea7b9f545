#if PostgreSQL
import Foundation
import Testing

@testable import PostgresStore

/// Where a database is: what a URL may say, and what is refused.
struct PostgresURLTests {
    @Test func `a server by name is reached over TLS whose certificate is checked`() throws {
        let url = try PostgresURL("postgres://oob@db.example:5433/bank?sslrootcert=/etc/ca.pem")
        let keywords = ConnectionKeywords(url.servers[0], of: url, nil, PostgresLimits()).values
        #expect(keywords["host"] == "db.example" && keywords["port"] == "5433" && keywords["dbname"] == "bank")
        #expect(keywords["sslmode"] == "verify-full" && keywords["sslrootcert"] == "/etc/ca.pem")
        #expect(keywords["gssencmode"] == "disable" && keywords["target_session_attrs"] == "read-write")
        #expect("\(url)" == "postgres://oob@db.example:5433/bank")
    }

    @Test func `several hosts are tried in their order`() throws {
        let url = try PostgresURL("postgres://oob@a.example,b.example:6000,[2001:db8::1]/bank?sslrootcert=/ca.pem")
        #expect(
            url.servers == [
                .tcp("a.example", port: 5_432), .tcp("b.example", port: 6_000), .tcp("2001:db8::1", port: 5_432),
            ])
    }

    @Test func `a socket is a directory, and has no TLS`() throws {
        let url = try PostgresURL("postgres://oob@/bank?host=/run/postgresql")
        #expect(url.servers == [.socket("/run/postgresql", port: 5_432)] && url.tls == nil)
    }

    @Test func `a user over a socket is the process's, if none is named`() throws {
        let url = try PostgresURL("postgres:///bank?host=/run/postgresql&port=6000")
        #expect(ConnectionKeywords(url.servers[0], of: url, nil, PostgresLimits()).values["user"] == nil)
        #expect("\(url)" == "postgres://@/bank?host=/run/postgresql&port=6000")
    }

    @Test func `the man page names databases that can be taken`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../docs/man/oob-agent.mdoc")
        let named = try String(contentsOf: page, encoding: .utf8).replacing("\\-", with: "-")
            .split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("postgres") && $0.contains("://") }
        #expect(named.count == 2)
        for url in named { _ = try PostgresURL(String(url)) }
    }

    @Test func `what is percent-encoded is read, and a certificate goes with its key`() throws {
        let url = try PostgresURL(
            "postgresql://o%40b@db/b%20k?sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem&application_name=a%26b")
        #expect(url.user == "o@b" && url.database == "b k" && url.applicationName == "a&b")
        #expect(url.tls == PostgresURL.TLS(roots: "/ca.pem", certificate: "/c.pem", key: "/k.pem"))
    }

    @Test(arguments: [
        ("postgres://oob:secret@db.example/bank?sslrootcert=/ca.pem", "must have no password"),
        ("mysql://oob@db.example/bank", "must begin with postgres://"),
        ("postgres://oob@db.example/", "must name a database"),
        ("postgres://oob@db.example", "must name a database"),
        ("postgres://db.example/bank?sslrootcert=/ca.pem", "must name a user"),
        ("postgres://oob@db.example/bank", "must say which CA"),
        ("postgres://oob@db.example/bank?sslrootcert=/ca.pem&sslmode=disable", "sslmode"),
        ("postgres://oob@db.example:0/bank?sslrootcert=/ca.pem", "ports of 1 to 65535"),
        ("postgres://oob@db.example:70000/bank?sslrootcert=/ca.pem", "ports of 1 to 65535"),
        ("postgres://oob@a,b,c:6000x/bank?sslrootcert=/ca.pem", "ports of 1 to 65535"),
        ("postgres://oob@/bank?host=a,b,c&port=1,2&sslrootcert=/ca.pem", "one port for all hosts"),
        ("postgres://oob@/bank?host=a,b,c,d,e,f,g,h,i&sslrootcert=/ca.pem", "at most 8 hosts"),
        ("postgres://oob@/bank", "must name a host"),
        ("postgres://oob@/bank?host=relative", "must say which CA"),
        ("postgres://oob@/bank?host=/a,/b", "must have one host"),
        ("postgres://oob@/bank?host=@abstract", "must have hosts such as"),
        ("postgres://oob@a,,b/bank?sslrootcert=/ca.pem", "must have hosts such as"),
        ("postgres://oob@/bank%00?host=/a", "percent-encoded"),
        ("postgres://oob@/bank%0A?host=/a", "dbname must have a value"),
        ("postgres://oob@/bank?host=/a&application_name=", "application_name must have a value"),
        ("postgres://oob@/bank?host=/a&sslrootcert=/ca.pem", "sslrootcert is not allowed for a Unix socket"),
        ("postgres://oob@db.example/bank?service=x&sslrootcert=/ca.pem", "service is not allowed"),
        ("postgres://oob@db.example/bank?hostaddr=::1&sslrootcert=/ca.pem", "hostaddr is not allowed"),
        ("postgres://oob@db.example/bank?ssl=true&sslrootcert=/ca.pem", "always verify-full"),
        ("postgres://oob@db.example/bank?sslrootcert=ca.pem", "absolute path"),
        ("postgres://oob@db.example/bank?sslrootcert=/ca.pem&sslkey=/k.pem", "must be there together"),
        ("postgres://oob@db.example/bank?password=secret&sslrootcert=/ca.pem", "must have no password"),
        ("postgres://oob@db.example/bank?sslpassword=secret&sslrootcert=/ca.pem", "must have no password"),
        ("postgres://oob:secret?secret=1@db.example/bank", "must have no password"),
        ("postgres://oob:sec/secret@db.example/bank", "ports of 1 to 65535"),
        ("postgres://oob:%zzsecret@db.example/bank", "percent-encoded"),
        ("postgres://oob:secret@[::1/bank", "percent-encoded"),
    ])
    func `what is wrong is said, and no password with it`(url: String, words: String) {
        let problem = #expect(throws: PostgresURL.Problem.self) { try PostgresURL(url) }
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
        #expect(problem?.description.contains("secret") == false)
    }

    @Test func `a password is one line, and is printed nowhere`() throws {
        let password = try #require(PostgresPassword(Array("hunter2\n".utf8)))
        #expect(password.text == "hunter2" && "\(password)" == "<redacted>")
        var dumped = ""
        dump(password, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        for content in ["", "\n", "two\nlines", "\u{0}", String(repeating: "x", count: 1_025)] {
            #expect(PostgresPassword(Array(content.utf8)) == nil)
        }
    }
}
#endif
