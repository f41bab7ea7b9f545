import Foundation
import Glibc
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import LinuxProcess

/// The place of a Unix socket: who may have it, and what is done to its file.
@Suite struct SocketPlaceTests {
    let scratch: ScratchDirectory
    let path: String

    init() throws {
        scratch = try ScratchDirectory()
        path = scratch("control.sock")
    }

    /// A socket that is bound there, as a server binds one; closed with the value.
    private final class Bound {
        let number: CInt

        init(_ path: String, listens: Bool = true) throws {
            number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let status = unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, size) }
            }
            guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            if listens { try #require(listen(number, 8) == 0) }
        }

        deinit { close(number) }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func file(_ place: SocketPlace, group: UInt32? = nil) throws -> SocketFile? {
        try place.file(group: group) { part, errno in Issue.record("\(part) could not be set: \(errno)") }
    }

    @Test func `an abandoned socket is removed, and the file of the next one is its owner's alone`() throws {
        _ = try Bound(path, listens: false)
        let place = try SocketPlace.claim(path)
        #expect(try scratch.names == ["control.sock.lock"])
        let bound = try Bound(path)
        let file = try #require(try file(place))
        #expect(mode(path) == 0o600)
        #expect(try place.state(for: file) == .ours)
        withExtendedLifetime(bound) {}
    }

    @Test func `a group gets its socket only once the file is of that group`() throws {
        let place = try SocketPlace.claim(path)
        let bound = try Bound(path)
        #expect(try file(place, group: getegid()) != nil)
        #expect(mode(path) == 0o660)
        withExtendedLifetime(bound) {}
    }

    @Test func `a second claim is refused although nobody listens yet, and free once it was given up`() throws {
        let place = try SocketPlace.claim(path)
        #expect(throws: SocketPlaceError.taken) { try SocketPlace.claim(path) }
        place.release()
        try SocketPlace.claim(path).release()
    }

    @Test func `a socket that somebody else listens on is not taken`() throws {
        let child = try ChildProcess(
            python: """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(0)
                print("bound", flush=True); sys.stdin.read()
                """, path)
        try child.waitUntilReady()
        #expect(throws: SocketPlaceError.taken) { try SocketPlace.claim(path) }
        #expect(try scratch.names == ["control.sock", "control.sock.lock"])
        try child.end()
        try SocketPlace.claim(path).release()
    }

    @Test func `a file, a directory and a symbolic link are no socket, and stay`() throws {
        let other = scratch("other.sock")
        _ = try Bound(other, listens: false)
        let plants: [() throws -> Void] = [
            { try Data("precious".utf8).write(to: URL(filePath: path)) },
            { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) },
            { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other) },
            { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere") },
        ]
        for plant in plants {
            try plant()
            #expect(throws: SocketPlaceError.noSocket) { try SocketPlace.claim(path) }
            #expect(mode(path) != 0)
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(mode(other) != 0, "what a link led to was removed")
    }

    @Test func `a link in the place of the new socket is not followed`() throws {
        let (place, precious) = (try SocketPlace.claim(path), scratch("precious"))
        let bound = try Bound(path)
        try FileManager.default.removeItem(atPath: path)
        try Data("precious".utf8).write(to: URL(filePath: precious))
        #expect(unsafe chmod(precious, 0o400) == 0)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: precious)
        #expect(try file(place, group: getegid()) == nil)
        #expect(mode(precious) == 0o400)
        try FileManager.default.removeItem(atPath: path)
        // Nor is another name of a file that is no socket.
        try FileManager.default.linkItem(atPath: precious, toPath: path)
        #expect(try file(place, group: getegid()) == nil)
        #expect(mode(precious) == 0o400)
        withExtendedLifetime(bound) {}
    }

    @Test func `while somebody renames without end, only sockets get a mode and none is removed that is used`() throws {
        let place = try SocketPlace.claim(path)
        let precious = scratch("precious")
        try Data("precious".utf8).write(to: URL(filePath: precious))
        #expect(unsafe chmod(precious, 0o400) == 0)
        let child = try ChildProcess(
            python: """
                import contextlib, os, sys, threading
                path, precious = sys.argv[1:]
                done = threading.Event()
                def play():
                    while not done.is_set():
                        for make in (lambda: os.symlink(precious, path + ".new"), lambda: os.link(precious, path + ".new")):
                            with contextlib.suppress(OSError): make()
                            with contextlib.suppress(OSError): os.rename(path + ".new", path)
                        with contextlib.suppress(OSError): os.unlink(path)
                thread = threading.Thread(target=play); thread.start()
                print("playing", flush=True); sys.stdin.read(); done.set(); thread.join()
                """, path, precious)
        try child.waitUntilReady()
        for _ in 0..<2_000 {
            do throws(SocketPlaceError) {
                try place.clear()
                // While a test of a link is under way no socket can be bound; that is another error.
                if let bound = try? Bound(path) {
                    _ = try place.file(group: getegid()) { _, _ in }
                    withExtendedLifetime(bound) {}
                }
            } catch {
                guard case .taken = error else { continue }
            }
        }
        try child.end()
        #expect(mode(precious) == 0o400)
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
    }

    @Test func `a socket that was removed, replaced or abandoned is told from this one`() throws {
        let place = try SocketPlace.claim(path)
        var bound: Bound? = try Bound(path)
        let file = try #require(try file(place))
        try FileManager.default.removeItem(atPath: path)
        #expect(try place.state(for: file) == .empty)
        let child = try ChildProcess(
            python: """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(8)
                print("bound", flush=True); sys.stdin.read()
                """, path)
        try child.waitUntilReady()
        #expect(try place.state(for: file) == .anothers)
        #expect(throws: SocketPlaceError.taken) { try place.clear() }
        try child.end()
        #expect(try place.state(for: file) == .abandoned)
        try place.clear()
        #expect(try place.state(for: file) == .empty)
        // By the kernel's word it is this process's, though nobody has looked at its file.
        bound = try Bound(path)
        #expect(try place.state(for: nil) == .ours)
        withExtendedLifetime(bound) {}
    }

    @Test func `a lock that was removed with the socket is taken again, unless another process was faster`() throws {
        let place = try SocketPlace.claim(path)
        try FileManager.default.removeItem(atPath: path + ".lock")
        try place.clear()
        #expect(throws: SocketPlaceError.taken) { try SocketPlace.claim(path) }
        try FileManager.default.removeItem(atPath: path + ".lock")
        let other = try SocketPlace.claim(path)
        #expect(throws: SocketPlaceError.taken) { try place.clear() }
        other.release()
        try place.clear()
    }

    @Test func `a lock that has another name too is refused, and what it is stays as it was`() throws {
        let precious = scratch("precious")
        try Data("precious".utf8).write(to: URL(filePath: precious))
        try FileManager.default.linkItem(atPath: precious, toPath: path + ".lock")
        let error = #expect(throws: StateLockError.self) { try StateLock.acquire(file: path + ".lock") }
        #expect(error?.description.contains("another name") == true)
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
    }

    @Test(.enabled(if: geteuid() == 0, "only root's sockets are at stake"))
    func `root takes no directory that others control`() throws {
        for (owner, mode, isRefused) in [
            (uid_t(0), mode_t(0o755), false), (0, 0o1777, false), (0, 0o777, true), (0, 0o775, true),
            (40_001, 0o700, true), (40_001, 0o1777, true),
        ] {
            let folder = scratch("\(owner)-\(String(mode, radix: 8))")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            #expect(unsafe chown(folder, owner, owner) == 0 && chmod(folder, mode) == 0)
            do throws(SocketPlaceError) {
                try SocketPlace.claim(folder + "/a.sock").release()
                #expect(!isRefused, "\(folder)")
            } catch {
                guard case .insecure(folder + "/", _) = error, isRefused else {
                    Issue.record("\(folder): \(error)")
                    continue
                }
                #expect(try scratch.files(in: "\(owner)-\(String(mode, radix: 8))").isEmpty)
            }
        }
    }

    @Test func `a directory that is not there, and a path that is too long, are errors of the system`() throws {
        #expect(throws: SocketPlaceError.system(SystemError(operation: "open \(scratch.path)/no/", errno: ENOENT))) {
            try SocketPlace.claim(scratch("no/a.sock"))
        }
        let long = scratch(String(repeating: "n", count: 120))
        #expect(throws: SocketPlaceError.system(SystemError(operation: "bind \(long)", errno: ENAMETOOLONG))) {
            try SocketPlace.claim(long)
        }
    }
}
