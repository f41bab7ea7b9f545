import Foundation

/// The machine's own `openssl`, run without holding a thread that other tests need.
enum OpenSSL {
    struct Failure: Error {
        let arguments: [String]
        let status: Int32
    }

    static func run(_ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let (ended, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { end.yield($0.terminationStatus) }
        try process.run()
        for await status in ended {
            guard status == 0 else { throw Failure(arguments: arguments, status: status) }
            return
        }
        throw CancellationError()
    }
}
