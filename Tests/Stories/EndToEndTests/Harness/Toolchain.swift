import Foundation

/// Swift's programs, as the tests are run with.
enum Toolchain {
    /// The first folder of PATH that has `swift`; nil if none has.
    static let folder = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init)
        .first { FileManager.default.isExecutableFile(atPath: "\($0)/swift") }
}
