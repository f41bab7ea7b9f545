import Foundation

/// Where the programs and the checkout are.
enum BuiltPrograms {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The directory of the running tests, beside which the programs are built.
    static let directory = Bundle.main.executableURL?.deletingLastPathComponent()
    /// Whether a sanitizer is built in, which keeps memory that was freed.
    static let isSanitized = directory?.path().contains("sanitize") ?? false
    static let checkout = URL(filePath: #filePath).appending(path: "../../../../..").standardized

    static func path(of name: String) throws -> String {
        guard let path = directory?.appending(path: name).path(percentEncoded: false),
            FileManager.default.isExecutableFile(atPath: path)
        else {
            throw Missing(description: "\(name) is not beside the tests: `swift build --build-tests` makes it")
        }
        return path
    }
}
