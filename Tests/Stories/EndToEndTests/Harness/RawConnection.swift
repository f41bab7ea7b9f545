import Foundation
import Glibc

/// A connection to a Unix socket, byte for byte, for what no well-behaved client does.
final class RawConnection: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32

    /// Waits while the backlog is full.
    init(to path: String) async throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        self.descriptor = descriptor
        try await Patience.until("a connection to \(path)") {
            if Self.connect(descriptor, path) == 0 { return () }
            guard errno == EAGAIN else { throw Failed(description: "connect(2) to \(path): errno \(errno)") }
            return nil
        }
    }

    deinit { Glibc.close(descriptor) }

    private static func connect(_ descriptor: Int32, _ path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Sends all of it, waiting where the other side does not read; false where it has closed the connection.
    @discardableResult
    func send(_ text: String) async throws -> Bool {
        var rest = Array(text.utf8)[...]
        return try await Patience.until("room to send") {
            while !rest.isEmpty {
                let sent = unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if sent < 0 { return errno == EAGAIN ? nil : false }
                rest = rest.dropFirst(sent)
            }
            return true
        }
    }

    /// Says that nothing more will be sent.
    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether the other side has closed the connection; nothing is read for that.
    var isCut: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        guard unsafe poll(&state, 1, 0) > 0 else { return false }
        return Int32(state.revents) & (POLLHUP | POLLERR) != 0
    }

    func waitUntilCut() async throws {
        try await Patience.until("the end of the connection") { isCut ? () : nil }
    }

    /// What comes until it holds `count` heads of answers, or the connection ends.
    func answers(_ count: Int = 1) async throws -> String {
        var bytes: [UInt8] = []
        return try await Patience.until("\(count) answers") {
            let isOver = read(into: &bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            return isOver || text.components(separatedBy: "HTTP/1.1 ").count > count ? text : nil
        }
    }

    /// True at the end.
    private func read(into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return count == 0 || errno != EAGAIN }
            bytes += buffer.prefix(count)
        }
    }
}

extension AgentUnderTest {
    /// A connection to its control socket.
    func connection() async throws -> RawConnection { try await RawConnection(to: socket) }

    /// How many files, sockets among them, the agent has open.
    var openFiles: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0 }

    /// How many connections of its control socket the agent has (proc(5), net/unix: 03 is connected).
    var connections: Int {
        // In parts: the kernel gives a page at a time, which FileManager takes for all.
        let table = (try? FileHandle(forReadingAtPath: "/proc/net/unix")?.readToEnd()) ?? Data()
        return String(decoding: table, as: UTF8.self).split(separator: "\n").count { line in
            let fields = line.split(separator: " ")
            return fields.count == 8 && fields[5] == "03" && fields[7] == socket
        }
    }

    /// Whether it has less memory of its own than that; a sanitizer's is not looked at.
    func isBelow(_ bytes: Int) -> Bool { BuiltPrograms.isSanitized || privateMemory < bytes }

    /// The bytes of memory that are the agent's alone (proc(5), RssAnon).
    var privateMemory: Int {
        let status = FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data()
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }
}
