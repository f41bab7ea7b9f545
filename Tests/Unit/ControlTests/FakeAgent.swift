import Control
import Foundation
import Glibc
import LinuxProcess

/// Listens on a Unix socket, and sends what it is given to who asks: on a thread of its own, one client after the other.
final class FakeAgent: Sendable {
    let path: String
    private let listening: CInt

    init(in directory: String) throws {
        path = directory + "/a.sock"
        listening = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listening, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(listening, 8) == 0 else { throw SystemError(operation: "listen", errno: errno) }
    }

    deinit { _ = close(listening) }

    /// One client that is served.
    struct Serving {
        fileprivate let requests: AsyncStream<String>

        /// What was read of the request, once that client is served.
        var request: String {
            get async {
                for await request in requests { return request }
                return ""
            }
        }
    }

    /// Answers one client after `bytesRead` of its request, a whole head by default; then it hangs up, or waits until
    /// the client does.
    ///
    /// Its thread is there when this returns: a task might wait for one behind all other tests for longer than a client
    /// does.
    func serve(
        _ pieces: [[UInt8]], hangsUp: Bool = true, bytesRead: Int? = nil, asked: @escaping @Sendable () -> Void = {}
    ) -> Serving {
        let (requests, told) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread { [self] in
            told.yield(answer(pieces, hangsUp: hangsUp, bytesRead: bytesRead, asked: asked))
            told.finish()
        }
        return Serving(requests: requests)
    }

    private func answer(_ pieces: [[UInt8]], hangsUp: Bool, bytesRead: Int?, asked: () -> Void) -> String {
        let client = accept(listening, nil, nil)
        defer { _ = close(client) }
        var request: [UInt8] = []
        while bytesRead.map({ request.count < $0 }) ?? !request.hasEndOfHead {
            guard Self.read(from: client, to: &request) else { break }
        }
        asked()
        for piece in pieces {
            // The client may have heard enough.
            let count = unsafe send(client, piece, piece.count, CInt(MSG_NOSIGNAL))
            guard count == piece.count else { break }
        }
        var rest: [UInt8] = []
        while !hangsUp, Self.read(from: client, to: &rest) {}
        return String(decoding: request, as: UTF8.self)
    }

    private static func read(from client: CInt, to bytes: inout [UInt8]) -> Bool {
        var room = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe recv(client, &room, room.count, 0)
        bytes += room.prefix(max(count, 0))
        return count > 0
    }
}

extension [UInt8] {
    fileprivate var hasEndOfHead: Bool { String(decoding: self, as: UTF8.self).contains("\r\n\r\n") }
}
