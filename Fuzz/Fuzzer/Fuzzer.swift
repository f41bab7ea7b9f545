import Dispatch
import Glibc
import Synchronization

/// The target that the environment names; libFuzzer's own arguments leave no room for it.
private let target: FuzzTarget = {
    let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
        stop("FUZZ_TARGET must be one of: \(names)")
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    do {
        if target == .received { try waitFor(input) } else { try target.checkParser(input) }
    } catch {
        stop("\(target.rawValue): \(error)")
    }
    return 0
}

/// How a check ended that runs in tasks.
private final class Ending: Sendable {
    let error = Mutex<(any Error)?>(nil)
    let semaphore = DispatchSemaphore(value: 0)
}

/// Waits on libFuzzer's own thread, which no task needs.
private func waitFor(_ input: [UInt8]) throws {
    let ending = Ending()
    Task.detached {
        do { try await target.check(input) } catch { ending.error.withLock { $0 = error } }
        ending.semaphore.signal()
    }
    ending.semaphore.wait()
    if let error = ending.error.withLock(\.self) { throw error }
}

/// Ends the process in the way that makes libFuzzer keep the input.
private func stop(_ message: String) -> Never {
    let line = Array((message + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
    abort()
}
