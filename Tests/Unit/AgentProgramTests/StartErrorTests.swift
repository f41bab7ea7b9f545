import AgentHost
import Glibc
import Records
import Testing

@testable import DurableFiles
@testable import oob_agent

@Suite struct StartErrorTests {
    @Test(
        arguments: [
            (ENOSPC, 74), (EDQUOT, 74), (EIO, 74), (EROFS, 74), (EMFILE, 71), (ENFILE, 71), (EACCES, 77), (nil, 77),
        ] as [(CInt?, Int32)])
    func `what may pass by itself is told apart from what a person must fix`(number: CInt?, status: Int32) {
        #expect(StartError.Status(number).rawValue == status)
        #expect(StartError(StateClaimError.unusable("the directory", systemError: number)).status.rawValue == status)
    }

    @Test func `only a call that failed has an errno`() {
        let full = FileError(path: "/f", reason: .system(operation: "write", errno: ENOSPC))
        #expect(full.systemError == ENOSPC)
        #expect(FileError(path: "/f", reason: .missing).systemError == nil)
    }

    @Test func `an error that nobody foresaw is a fault of the program's own`() {
        struct Unforeseen: Error {}
        #expect(StartError(Unforeseen()).status == .software)
        #expect(StartError(StartError(.usage, "so") as any Error).status == .usage)
        #expect(StartError(StoreError(.full, at: "/b") as any Error).status == .ioError)
    }
}
