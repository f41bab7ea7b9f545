import SpawnedProcesses

/// The machine's own `openssl`, run without holding a thread that other tests need.
enum OpenSSL {
    struct Failure: Error {
        let arguments: [String]
        let status: Int32
    }

    static func run(_ arguments: [String]) async throws {
        let status = try await SpawnedProcess(["openssl"] + arguments).exitStatus()
        guard status == 0 else { throw Failure(arguments: arguments, status: status) }
    }
}
