import Dispatch
import Glibc

/// SIGINT and SIGTERM, for a run that ends in order.
struct Interruptions: Sendable {
    private static let numbers = [SIGINT, SIGTERM]

    private let signals: AsyncStream<Void>
    // Resumed once. The property only keeps the sources alive.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    init() {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        unsafe sources = Self.numbers.map { number in
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        self.signals = signals
    }

    /// Runs `body`, and cancels it at a signal.
    ///
    /// - Returns: `nil` if a signal came before the result.
    func untilInterrupted<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            group.addTask { await body() }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
