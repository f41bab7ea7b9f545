import Foundation
import Glibc
import LinuxProcess
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import AgentHost

@Suite struct ServiceManagerTests {
    private func manager(
        _ socket: String?, watchdog: String? = nil, watched: String? = nil
    ) -> ServiceManager? {
        ServiceManager(socket: socket, watchdog: watchdog, watched: watched, ownID: 4711)
    }

    @Test(arguments: [nil, "", "/", "run/notify", "vsock:2:1234", "/" + String(repeating: "n", count: 107)])
    func `what is no place of a socket means that nobody wants to know`(socket: String?) {
        #expect(manager(socket) == nil)
    }

    @Test func `signs of life are for the process that is named, and for whoever reads it if none is`() {
        #expect(manager("@n", watchdog: "2000000")?.patience == .seconds(2))
        #expect(manager("@n", watchdog: "2000000", watched: "4711")?.patience == .seconds(2))
        let noSigns: [(String?, String?)] = [
            ("2000000", "4712"), ("0", nil), ("-1", nil), ("soon", nil), (nil, "4711"),
        ]
        for (watchdog, watched) in noSigns {
            let manager = manager("@n", watchdog: watchdog, watched: watched)
            #expect(manager != nil && manager?.patience == nil)
        }
    }

    @Test func `a status is one line of at most 512 bytes`() {
        #expect(ServiceManager.News.status("a\nMAINPID=1\r\u{7F}b").text == "STATUS=a MAINPID=1  b")
        #expect(ServiceManager.News.status(String(repeating: "s", count: 600)).text.utf8.count == 7 + 512)
        let cut = ServiceManager.News.status("s" + String(repeating: "é", count: 300)).text
        #expect(cut == "STATUS=s" + String(repeating: "é", count: 255))
    }

    @Test func `how long a start still takes is told in microseconds`() {
        #expect(ServiceManager.News.working(.seconds(120)).text == "EXTEND_TIMEOUT_USEC=120000000")
    }

    @Test func `a reload is told with the time of the clock that never goes back`() throws {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let lines = ServiceManager.News.reloading.text.split(separator: "\n")
        #expect(lines.first == "RELOADING=1")
        let told = try #require(lines.last.flatMap { Int($0.dropFirst("MONOTONIC_USEC=".count)) })
        #expect(told >= time.tv_sec * 1_000_000 && told < (time.tv_sec + 3_600) * 1_000_000)
    }

    /// Takes one datagram at a path, or at a name in no directory, and prints it.
    private static let listener = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(sys.argv[1].replace("@", "\\0")); s.settimeout(600)
        print("ready", flush=True)
        sys.exit(s.recv(4096) != b"READY=1\\nSTATUS=it is well")
        """

    @Test(arguments: [true, false])
    func `it is told at a path and at a name in no directory, all in one datagram`(isAbstract: Bool) throws {
        let scratch = try ScratchDirectory()
        let place = (isAbstract ? "@" : "") + scratch.path + "/n"
        let child = try ChildProcess(python: Self.listener, place)
        try child.waitUntilReady()
        try manager(place)?.send([.ready, .status("it is well")])
        try child.end()
        #expect(child.status == 0)
    }

    @Test func `if nobody listens any more, an error says so`() throws {
        let scratch = try ScratchDirectory()
        let error = #expect(throws: SystemError.self) { try manager(scratch.path + "/none")?.send([.alive]) }
        #expect(error?.description == "sendto NOTIFY_SOCKET: No such file or directory")
    }

    private static func isSet(_ name: String) -> Bool { unsafe getenv(name) != nil }

    // In a process of its own: the environment is everybody's.
    @Test func `no child takes itself for the process that was started`() async {
        await #expect(processExitsWith: .success) {
            for (name, value) in [
                ("NOTIFY_SOCKET", "@n"), ("WATCHDOG_USEC", "9000000"), ("WATCHDOG_PID", "\(getpid())"),
            ] {
                _ = unsafe setenv(name, value, 1)
            }
            #expect(ServiceManager.takeFromEnvironment()?.patience == .seconds(9))
            #expect(!Self.isSet("NOTIFY_SOCKET") && !Self.isSet("WATCHDOG_USEC") && !Self.isSet("WATCHDOG_PID"))
            #expect(ServiceManager.takeFromEnvironment() == nil)
        }
    }
}
