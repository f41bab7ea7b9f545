// swift-tools-version: 6.2
// The list of targets is the table of contents: six rooms, each with its targets. A target imports only targets that are
// listed below it, so a room imports only the rooms below it; Scripts/check-walls checks both.
import PackageDescription

let package = Package(
    name: "oob-authenticator",
    products: [
        .executable(name: "oob-agent", targets: ["oob-agent"]),
        .executable(name: "oobctl", targets: ["oobctl"]),
        .executable(name: "oob-inbox", targets: ["oob-inbox"]),
        .executable(name: "oob-issuer", targets: ["oob-issuer"]),
        .executable(name: "oob-conform", targets: ["oob-conform"]),
        .library(name: "D1", targets: ["D1"]),
        .library(name: "OOBTesting", targets: ["OOBTesting"]),
        .library(name: "UIKitStub", targets: ["UIKitStub"]),
    ],
    traits: [
        .trait(
            name: "Personas",
            description: "Scripted cardholders of test enrollments, honest and not. For tests: a plain build has none."),
        .trait(
            name: "PostgreSQL",
            description: "The store in PostgreSQL, which several hosts share; needs Debian's libpq-dev."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    swiftLanguageModes: [.v6]
)

/// The targets of a folder, in which each lies in a folder of its name.
func targets(in folder: String, _ targets: [Target]) -> [Target] {
    for target in targets { target.path = "\(folder)/\(target.name)" }
    return targets
}

// Tests an agent or an app: the sandbox, the conformance kit, the page of requests, the libraries of test suites.
package.targets += targets(
    in: "Sources/TestKit",
    [
        // The sandbox as a program.
        .executableTarget(
            name: "oob-issuer",
            dependencies: [
                "CICUData", "HTTPServing", "LineLog", "LinuxProcess", "Sandbox", "SequenceDiagrams", "TextAndTime",
                "ThreeDS", "Versioning",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The page of an agent's requests as a program.
        .executableTarget(
            name: "oob-inbox",
            dependencies: [
                "CICUData", "Control", "DurableFiles", "HTTPServing", "Inbox", "LineLog", "LinuxProcess", "PageServing",
                "Versioning",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The conformance kit as a program.
        .executableTarget(
            name: "oob-conform",
            dependencies: [
                "CICUData", "Conformance", "LinuxProcess", "TextAndTime", "Versioning",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // For test suites: the programs, cardholders and their clock, with Swift Testing.
        .target(name: "OOBTesting"),
        // Four names of UIKit, so that an app's delegate with an alert compiles on Linux.
        .target(name: "UIKitStub"),
        // The page of an agent's requests: lists them, shows the text that is signed, takes decisions.
        .target(
            name: "Inbox",
            dependencies: [
                "Control", "HTTPServing", "PageServing", "SequenceDiagrams", "StrictJSON", "TextAndTime",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            // The templates and the script, served as they are.
            resources: [
                .embedInCode("Pages/card.html"), .embedInCode("Pages/copy.html"), .embedInCode("Pages/events.html"),
                .embedInCode("Pages/evidence.html"), .embedInCode("Pages/export.html"), .embedInCode("Pages/head.html"),
                .embedInCode("Pages/icon.svg"), .embedInCode("Pages/inbox.html"), .embedInCode("Pages/notice.html"),
                .embedInCode("Pages/refusal.html"), .embedInCode("Pages/test.html"), .embedInCode("Pages/wire.html"),
                .embedInCode("inbox.js"),
            ]),
        // The conformance kit: judges messages, and plays either side of the protocol by case files.
        .target(
            name: "Conformance",
            dependencies: [
                "IssuerProtocol", "Keys", "LinuxProcess", "PageServing", "Sandbox", "ServerCertificates",
                "StrictJSON", "TextAndTime", "Threads", "ThreeDS", "WebAuthn", "WrongAssertions", "Yams",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // The sandbox: an issuer backend with a small ACS and a merchant.
        .target(
            name: "Sandbox",
            dependencies: [
                "DurableFiles", "FairSharing", "HTTPServing", "IssuerProtocol", "Keys", "LinuxProcess", "PageServing",
                "SequenceDiagrams", "ServerCertificates", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            // The page's templates, style and script, served as they are.
            resources: [
                .embedInCode("Page/head.html"), .embedInCode("Page/home.html"), .embedInCode("Page/notice.html"),
                .embedInCode("Page/purchase.html"), .embedInCode("Page/sandbox.css"), .embedInCode("Page/sandbox.js"),
            ]),
        // Pages for a browser: the calls that they take, their forms and their style.
        .target(
            name: "PageServing",
            dependencies: [
                "StrictJSON", "TextAndTime",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            // Served as it is.
            resources: [.embedInCode("style.css")]),
        // Sequence diagrams as SVG and for Mermaid.
        .target(name: "SequenceDiagrams", dependencies: ["TextAndTime"]),
    ])

// The agent's programs, its host and its edges. No edge imports another.
package.targets += targets(
    in: "Sources/Agent",
    [
        // The agent as a program: arguments, settings, wiring.
        .executableTarget(
            name: "oob-agent",
            dependencies: [
                "AgentConfig", "AgentHost", "Authenticator", "CICUData", "Control", "ControlServer", "Custody",
                "DurableFiles", "ExternalKeyCustody", "HTTPServing", "IssuerLink", "IssuerProtocol", "Journal", "Keys",
                "LineLog",
                "LinuxProcess", "PushReceiver", "Records", "SQLiteBackup", "SQLiteStore", "StoreTables", "StrictJSON",
                "TextAndTime",
                "Threads", "ThreeDS", "Versioning",
                .target(name: "Personas", condition: .when(traits: ["Personas"])),
                .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),
        // The agent's commands: calls on the control socket, and the prompt.
        .executableTarget(
            name: "oobctl",
            dependencies: [
                "Control", "LinuxProcess", "Prompting", "Versioning",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // The library for apps: the core with its edges in their process, under D1's names.
        .target(
            name: "D1",
            dependencies: [
                "AgentHost", "Authenticator", "Custody", "DurableFiles", "IssuerLink", "IssuerProtocol", "Journal",
                "Keys", "LinuxProcess", "Records", "SQLiteBackup", "SQLiteStore", "TextAndTime", "ThreeDS",
                "Versioning",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The agent's host: clock, claim to a state directory, security checks, supervision by systemd.
        .target(
            name: "AgentHost",
            dependencies: [
                "Authenticator", "CLinux", "Control", "DurableFiles", "IssuerProtocol", "Journal", "Keys",
                "LinuxProcess", "Records", "TextAndTime", "Threads",
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The control API on the Unix socket, and metrics on a loopback port.
        .target(
            name: "ControlServer",
            dependencies: [
                "Authenticator", "Control", "FairSharing", "HTTPServing", "IssuerProtocol", "Journal", "Keys",
                "LinuxProcess", "Records", "TextAndTime", "Threads", "ThreeDS",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // The same file as openapi/agent.yaml, served as it is.
            resources: [.embedInCode("agent.yaml")]),
        // HTTP to the issuers: enrolling, fetching, delivering.
        .target(
            name: "IssuerLink",
            dependencies: [
                "FairSharing", "IssuerProtocol", "LinuxProcess", "Records", "ServerCertificates", "StrictJSON",
                "TextAndTime",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // Web Push from the issuers: the HTTP server that takes it.
        .target(
            name: "PushReceiver",
            dependencies: [
                "Authenticator", "HTTPServing", "IssuerProtocol", "LinuxProcess",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // Keys in files, on tokens and in the TPM, beside the agent's own.
        .target(
            name: "ExternalKeyCustody", dependencies: ["Custody", "Keys", "Records", "Signing"]),
        // Private keys under the agent's secret.
        .target(
            name: "Custody", dependencies: ["IssuerProtocol", "Keys", "Records", "Signing"]),
        // The cardholders of `test` enrollments; empty without the trait of this name.
        .target(
            name: "Personas",
            dependencies: [
                "AgentConfig", "Authenticator", "IssuerProtocol", "Journal", "Keys", "Records", "Signing",
                "StoreTables", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn", "WrongAssertions",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The agent's config file: YAML, with the line of each member.
        .target(
            name: "AgentConfig", dependencies: ["TextAndTime", "Yams"]),
        // An approver's prompt as values: events in, screens out, no terminal.
        .target(
            name: "Prompting", dependencies: ["Control"]),
        // The control API's messages, and its client.
        .target(
            name: "Control", dependencies: ["LinuxProcess", "StrictJSON", "TextAndTime", "Threads", "ThreeDS"]),
    ])

// Decides. No HTTP, no SQL, no OpenSSL call, no clock of its own.
package.targets += targets(
    in: "Sources/Core",
    [
        // Requests, decisions, enrollment, fetching, delivery, push and upkeep behind the façade `Agent`.
        .target(
            name: "Authenticator",
            dependencies: [
                "FairSharing", "IssuerProtocol", "Journal", "Keys", "Records", "Signing", "StoreTables", "StrictJSON",
                "TextAndTime", "ThreeDS", "WebAuthn",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The journal, a chain of signed entries: facts, audit, events.
        .target(
            name: "Journal",
            dependencies: [
                "IssuerProtocol", "Keys", "Records", "StoreTables", "StrictJSON", "TextAndTime", "ThreeDS",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The permit to sign, the transactions that it confirms, and the port of the keys.
        .target(
            name: "Signing", dependencies: ["IssuerProtocol", "Keys", "Records", "ThreeDS", "WebAuthn"]),
    ])

// Stores: records, tables, databases, backups.
package.targets += targets(
    in: "Sources/Storage",
    [
        // Backups of the store in SQLite, and a state directory's other files.
        .target(
            name: "SQLiteBackup",
            dependencies: [
                "DurableFiles", "Keys", "Records", "SQLiteStore", "StoreTables", "TableRows", "TextAndTime",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // The store in SQLite.
        .target(
            name: "SQLiteStore",
            dependencies: [
                "CSQLite", "LinuxProcess", "Records", "StoreTables", "TableRows", "Threads",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        // The store in PostgreSQL, which several hosts share; empty without the trait.
        .target(
            name: "PostgresStore",
            dependencies: [
                "Records", "Keys", "StoreTables", "TableRows",
                .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])),
            ]),
        // The tables of a store in either database: rows, statements, database transactions.
        .target(
            name: "StoreTables",
            dependencies: ["IssuerProtocol", "Keys", "Records", "StrictJSON", "TableRows", "TextAndTime", "ThreeDS"]),
        // Rows of tables, read and written by one list of columns for each table.
        .target(name: "TableRows"),
        // The records that are stored, and the ports.
        .target(
            name: "Records",
            dependencies: ["IssuerProtocol", "Keys", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn"]),
        // A setting that GRDB's module lacks.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        // libpq, with the trait alone; named without pkg-config, which would be asked for it without the trait too.
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
    ])

// Reads and writes what is on the wire. No I/O; cryptography is a call of Keys.
package.targets += targets(
    in: "Sources/Wire",
    [
        // Assertions of tests that have something wrong; signs nothing.
        .target(
            name: "WrongAssertions", dependencies: ["IssuerProtocol", "Keys", "ThreeDS", "WebAuthn"]),
        // The issuer protocol's messages, JWS, challenge commitment.
        .target(
            name: "IssuerProtocol", dependencies: ["Keys", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn"]),
        // Client data, authenticator data, CBOR, attestation, verification.
        .target(
            name: "WebAuthn", dependencies: ["Keys", "StrictJSON", "TextAndTime"]),
        // Values of EMV 3-D Secure and ISO 4217.
        .target(name: "ThreeDS", dependencies: ["TextAndTime"]),
    ])

// The process, its servers, keys and files, and values of no protocol.
package.targets += targets(
    in: "Sources/Platform",
    [
        // Lines on standard output and error, also if nobody reads, and the log in them.
        .target(
            name: "LineLog",
            dependencies: [
                "CLinux", "LinuxProcess", "StrictJSON", "TextAndTime",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // HTTP servers: addresses to listen on, limits on a client's time.
        .target(
            name: "HTTPServing",
            dependencies: [
                "CLinux", "FairSharing", "LinuxProcess",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // The name in a server's certificate, for all HTTP clients: in subjectAltName alone.
        .target(
            name: "ServerCertificates",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // Threads for work that waits in system calls or keeps a processor busy.
        .target(
            name: "Threads",
            dependencies: ["LinuxProcess", .product(name: "DequeModule", package: "swift-collections")]),
        // The process: hardening, locks, descriptors, errors of the system.
        .target(
            name: "LinuxProcess", dependencies: ["CLinux"]),
        // The only door to OpenSSL and to tokens.
        .target(
            name: "Keys", dependencies: ["CCryptoki", "COpenSSL", "DurableFiles", "TextAndTime"]),
        // Files that are whole or not there, also after a crash, and their readers.
        .target(name: "DurableFiles"),
        // JSON, read strictly; RFC 8785.
        .target(name: "StrictJSON", dependencies: ["TextAndTime"]),
        // Places, turns and rates that many share, so that nobody gets all.
        .target(name: "FairSharing"),
        // Text, bytes and time: fit to be shown, escaped, compared.
        .target(name: "TextAndTime"),
        // The version of the software, for all its programs.
        .target(name: "Versioning"),
        // OpenSSL's libcrypto.
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        // The types of PKCS #11.
        .systemLibrary(name: "CCryptoki", providers: [.apt(["libp11-kit-dev"])]),
        // prctl, which is variadic and so not in Glibc's module.
        .target(name: "CLinux"),
        // The part of ICU's data that a package has.
        .target(name: "CICUData"),
    ])

// Tests of each of the above, in one process.
package.targets += targets(
    in: "Tests/Unit",
    [
        .testTarget(name: "ThreeDSTests", dependencies: ["TextAndTime", "ThreeDS"]),
        .testTarget(name: "SequenceDiagramsTests", dependencies: ["SequenceDiagrams"]),
        .testTarget(name: "TextAndTimeTests", dependencies: ["TextAndTime"]),
        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON"]),
        .testTarget(name: "FairSharingTests", dependencies: ["FairSharing"]),
        .testTarget(name: "DurableFilesTests", dependencies: ["DurableFiles", "ScratchDirectories"]),
        .testTarget(
            name: "KeysTests",
            dependencies: ["DurableFiles", "Keys", "ScratchDirectories", "SoftKeys", "SpawnedProcesses"]),
        .testTarget(
            name: "LineLogTests",
            dependencies: [
                "CLinux", "LineLog", "ScratchDirectories", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: [
                "CLinux", "HTTPServing", "RawHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "LinuxProcessTests", dependencies: ["LinuxProcess", "ScratchDirectories", "SpawnedProcesses"]),
        .testTarget(name: "ThreadsTests", dependencies: ["LinuxProcess", "Threads"]),
        .testTarget(
            name: "AgentHostTests",
            dependencies: ["AgentHost", "LinuxProcess", "ScratchDirectories", "SpawnedProcesses"]),
        .testTarget(name: "WebAuthnTests", dependencies: ["Keys", "StrictJSON", "TextAndTime", "WebAuthn"]),
        .testTarget(
            name: "IssuerProtocolTests",
            dependencies: ["IssuerProtocol", "Keys", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn"]),
        .testTarget(
            name: "PersonasTests",
            dependencies: [
                "AgentConfig", "Authenticator", "Custody", "IssuerProtocol", "Keys", "Personas", "Records",
                "ScratchDirectories", "Signing", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn",
                "WrongAssertions",
            ]),
        .testTarget(name: "AgentConfigTests", dependencies: ["AgentConfig"]),
        .testTarget(name: "ControlTests", dependencies: ["Control", "LinuxProcess", "ScratchDirectories"]),
        .testTarget(
            name: "InboxTests",
            dependencies: [
                "Control", "Inbox", "PageServing", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(name: "PromptingTests", dependencies: ["Control", "Prompting"]),
        .testTarget(
            name: "ControlServerTests",
            dependencies: [
                "Authenticator", "Control", "ControlServer", "HTTPServing", "Journal", "Keys", "Records",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ]),
        .testTarget(
            name: "AuthenticatorTests",
            dependencies: [
                "AgentHost", "Authenticator", "Custody", "DurableFiles", "ExternalKeyCustody", "IssuerProtocol",
                "Journal", "Keys",
                "Records", "ScratchDirectories", "Signing", "SoftKeys", "StoreTables", "StrictJSON", "TableRows",
                "TestStores", "TextAndTime", "Threads", "ThreeDS", "WebAuthn",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The core against a model of what the issuer protocol promises, by random schedules.
        .testTarget(
            name: "ModelTests",
            dependencies: [
                "AgentHost", "Authenticator", "Custody", "IssuerProtocol", "Journal", "Keys", "Records", "Sandbox",
                "ScratchDirectories", "Signing", "StoreTables", "StrictJSON", "TestStores", "TextAndTime", "WebAuthn",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Empty without the trait.
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "Records", "StandingClocks", "StoreTables", "TableRows",
                "TestStores",
                .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "Authenticator", "DurableFiles", "IssuerProtocol", "Keys", "Records", "Sandbox", "ScratchDirectories",
                "SQLiteBackup", "SQLiteStore", "StandingClocks", "StoreTables", "StrictJSON", "TableRows",
                "TestStores", "TextAndTime", "ThreeDS",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "ExternalKeyCustodyTests",
            dependencies: [
                "Custody", "ExternalKeyCustody", "Keys", "Records", "Signing", "SoftKeys", "StandingClocks",
            ]),
        .testTarget(
            name: "CustodyTests", dependencies: ["Custody", "IssuerProtocol", "Keys", "Records", "Signing"]),
        .testTarget(
            name: "IssuerLinkTests",
            dependencies: [
                "IssuerLink", "IssuerProtocol", "Keys", "Records", "SpawnedProcesses", "StandingClocks", "StrictJSON",
                "WebAuthn",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "IssuerProtocol", "Keys", "Sandbox", "ScratchDirectories", "StrictJSON", "TextAndTime", "ThreeDS",
                "WebAuthn",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ]),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "Conformance", "IssuerProtocol", "Keys", "Sandbox", "StrictJSON", "TextAndTime", "ThreeDS",
                "WebAuthn", "WrongAssertions",
            ]),
        // The seeds of the fuzzers in `Fuzz`, and the properties that they look at.
        .testTarget(
            name: "FuzzCorpusTests",
            dependencies: [
                "AgentConfig", "Authenticator", "Control", "Custody", "IssuerProtocol", "Journal", "Keys", "Records",
                "SQLiteStore", "StoreTables", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The agent's core and edges against the sandbox, over HTTP, in one process.
        .testTarget(
            name: "AgentAndSandboxTests",
            dependencies: [
                "AgentHost", "Authenticator", "Conformance", "Control", "ControlServer", "Custody",
                "ExternalKeyCustody", "HTTPServing",
                "Inbox", "IssuerLink", "IssuerProtocol", "Journal", "Keys", "PushReceiver", "RawHTTP", "Records",
                "Sandbox", "ScratchDirectories", "ServedSandbox", "Signing", "StandingClocks", "StoreTables",
                "StrictJSON", "TestStores", "TextAndTime",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        // The library as an app uses it, against the sandbox over HTTP, in one process.
        .testTarget(
            name: "D1Tests",
            dependencies: [
                "Control", "D1", "IssuerProtocol", "Sandbox", "ServedSandbox", "StrictJSON", "UIKitStub",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(name: "AgentProgramTests", dependencies: ["AgentHost", "DurableFiles", "oob-agent", "Records"]),
        .testTarget(name: "OOBTestingTests", dependencies: ["OOBTesting"]),
    ])

// Tests of the programs as a whole; they run the scripts of Tests/Stories, Tests/Counterparts and Tests/Hosts as well.
package.targets += targets(
    in: "Tests/Stories",
    [
        .testTarget(
            name: "EndToEndTests", dependencies: ["oob-agent", "oobctl", "oob-conform", "oob-issuer", "SoftKeys"])
    ])

// What tests share.
package.targets += targets(
    in: "Tests/Support",
    [
        // Bytes to and from a server, as a test sends them.
        .target(
            name: "RawHTTP",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // Tokens and TPMs of software that tests make keys in.
        .target(
            name: "SoftKeys", dependencies: ["SpawnedProcesses"]),
        // Directories of one test.
        .target(name: "ScratchDirectories"),
        // Processes that tests start.
        .target(name: "SpawnedProcesses"),
        // Stores of tests, in the database that a run is for.
        .target(
            name: "TestStores",
            dependencies: [
                "Records", "Keys", "SQLiteStore", "SpawnedProcesses",
                "StoreTables", "TableRows",
                .product(name: "GRDB", package: "GRDB.swift"),
                .target(name: "PostgresStore", condition: .when(traits: ["PostgreSQL"])),
            ]),
        // A clock on which no limit is reached.
        .target(
            name: "StandingClocks", dependencies: ["Records"]),
        // The sandbox on a port of the loopback, in the test's process.
        .target(
            name: "ServedSandbox",
            dependencies: [
                "HTTPServing", "IssuerProtocol", "Keys", "Sandbox",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ])

let targetsInC = ["CICUData", "CLinux"]
for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
