// swift-tools-version: 6.2
// A package of its own, so that everything in it can be built with libFuzzer's instrumentation and AddressSanitizer's,
// and with what reads and takes in messages alone: the sources are the project's, by symbolic links. `make fuzz` builds
// and runs it, and `Scripts/parser-coverage` measures its tests.
import PackageDescription

let parsers: [Target.Dependency] = [
    "AgentConfig", "Control", "IssuerProtocol", "Keys", "StrictJSON", "TextAndTime", "ThreeDS",
    "WebAuthn",
]
/// What takes in messages, with its database.
let core: [Target.Dependency] = [
    "Authenticator", "Custody", "Journal", "Records", "Signing", "SQLiteStore", "StoreTables",
    .product(name: "Logging", package: "swift-log"),
]

let package = Package(
    name: "oob-authenticator-fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    swiftLanguageModes: [.v6]
)

/// The targets of a folder, in which each lies in a folder of its name.
func targets(in folder: String, _ targets: [Target]) -> [Target] {
    for target in targets { target.path = "\(folder)/\(target.name)" }
    return targets
}

package.targets += targets(
    in: "Sources/Agent",
    [
        .target(name: "AgentConfig", dependencies: ["TextAndTime", "Yams"]),
        .target(name: "Control", dependencies: ["LinuxProcess", "StrictJSON", "TextAndTime", "Threads", "ThreeDS"]),
        .target(name: "Custody", dependencies: ["IssuerProtocol", "Keys", "Records", "Signing"]),
    ])
package.targets += targets(
    in: "Sources/Core",
    [
        .target(
            name: "Authenticator",
            dependencies: [
                "FairSharing", "IssuerProtocol", "Journal", "Keys", "Records", "Signing", "StoreTables", "StrictJSON",
                "TextAndTime", "ThreeDS", "WebAuthn",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "Journal",
            dependencies: [
                "IssuerProtocol", "Keys", "Records", "StoreTables", "StrictJSON", "TextAndTime", "ThreeDS",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "Signing", dependencies: ["IssuerProtocol", "Keys", "Records", "ThreeDS", "WebAuthn"]),
    ])
package.targets += targets(
    in: "Sources/Storage",
    [
        .target(
            name: "Records",
            dependencies: ["IssuerProtocol", "Keys", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn"]),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "CSQLite", "LinuxProcess", "Records", "StoreTables", "TableRows", "Threads",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "StoreTables",
            dependencies: ["IssuerProtocol", "Keys", "Records", "StrictJSON", "TableRows", "TextAndTime", "ThreeDS"]),
        .target(name: "TableRows"),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    ])
package.targets += targets(
    in: "Sources/Wire",
    [
        .target(name: "IssuerProtocol", dependencies: ["Keys", "StrictJSON", "TextAndTime", "ThreeDS", "WebAuthn"]),
        .target(name: "WebAuthn", dependencies: ["Keys", "StrictJSON", "TextAndTime"]),
        .target(name: "ThreeDS", dependencies: ["TextAndTime"]),
    ])
package.targets += targets(
    in: "Sources/Platform",
    [
        .target(name: "LinuxProcess", dependencies: ["CLinux"]),
        .target(
            name: "Threads",
            dependencies: ["LinuxProcess", .product(name: "DequeModule", package: "swift-collections")]),
        .target(name: "TextAndTime"),
        .target(name: "CLinux"),
        .target(name: "FairSharing"),
        .target(name: "StrictJSON", dependencies: ["TextAndTime"]),
        .target(name: "Keys", dependencies: ["CCryptoki", "COpenSSL", "DurableFiles", "TextAndTime"]),
        .target(name: "DurableFiles"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCryptoki", providers: [.apt(["libp11-kit-dev"])]),
    ])

package.targets += targets(
    in: "Tests/Unit",
    [
        .testTarget(name: "FuzzCorpusTests", dependencies: parsers + core),
        .testTarget(name: "AgentConfigTests", dependencies: ["AgentConfig"]),
        .testTarget(name: "ControlTests", dependencies: ["Control", "LinuxProcess", "ScratchDirectories"]),
        .testTarget(name: "IssuerProtocolTests", dependencies: parsers),
        .testTarget(
            name: "KeysTests",
            dependencies: ["DurableFiles", "Keys", "ScratchDirectories", "SoftKeys", "SpawnedProcesses"]),
        .testTarget(name: "TextAndTimeTests", dependencies: ["TextAndTime"]),
        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON"]),
        .testTarget(name: "ThreeDSTests", dependencies: ["TextAndTime", "ThreeDS"]),
        .testTarget(name: "WebAuthnTests", dependencies: ["Keys", "StrictJSON", "TextAndTime", "WebAuthn"]),
    ])
package.targets += targets(
    in: "Tests/Support",
    [
        .target(name: "ScratchDirectories"),
        .target(name: "SpawnedProcesses"),
        .target(name: "SoftKeys", dependencies: ["SpawnedProcesses"]),
    ])
package.targets += targets(
    in: ".",
    [
        .executableTarget(name: "Fuzzer", dependencies: parsers + core)
    ])

for target in package.targets where target.type != .system && target.name != "CLinux" {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
