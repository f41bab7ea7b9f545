package import Foundation

/// A directory of one test, which goes when the last one lets go of it; only its user may look into it.
package final class ScratchDirectory: Sendable {
    package let path: String

    /// - Parameter parent: where it is; the system's place for temporary files.
    package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        let url = parent.appending(path: "oob-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// What is in it, sorted.
    package var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// What is in a folder of it, sorted.
    package func files(in name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self(name)).sorted()
    }
}
