import NIOCore
import Synchronization

/// Cuts a connection whose client takes too long, however little it sends how often.
///
/// Only what the server calls good earns a client more time, so whoever sends anything else is soon gone.
final class ClientPatience: Sendable {
    private let channel: any Channel
    private let amount: TimeAmount
    private let deadline = Mutex<Scheduled<Void>?>(nil)
    private let onCut: @Sendable () -> Void

    init(_ channel: any Channel, seconds: Int, onCut: @escaping @Sendable () -> Void) {
        self.channel = channel
        self.onCut = onCut
        amount = .seconds(Int64(seconds))
        renew()
    }

    func renew() {
        let (channel, onCut) = (channel, onCut)
        let next = channel.eventLoop.scheduleTask(in: amount) {
            onCut()
            channel.cut()
        }
        let old = deadline.withLock { deadline in
            defer { deadline = next }
            return deadline
        }
        old?.cancel()
    }

    func end() { deadline.withLock { $0 }?.cancel() }
}
