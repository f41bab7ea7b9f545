/// What the issuer protocol promises, as a plain value: what may be presented, decided and sent, and with what answer.
///
/// Written from the protocol's text alone, and kept small enough to be checked against it by reading.
struct Model: Sendable {
    /// Seconds from the start.
    private(set) var now: Int64 = 0
    var cards: [CardModel]

    init(cards: Int) { self.cards = Array(repeating: CardModel(), count: cards) }

    mutating func pass(_ seconds: Int64) { now += seconds }

    /// What a process forgets when it ends: only messages that were held; the issuer lists them again.
    mutating func restart() {
        for card in cards.indices { cards[card].held = [] }
    }

    /// What is past its time is closed, and what was held until now is read again.
    mutating func tick() {
        for card in cards.indices {
            cards[card].expire(at: now)
            let due = cards[card].held.filter { $0.iat - now <= CardModel.tolerance }
            cards[card].held.removeAll(where: due.contains)
            for request in due { cards[card].take(request, at: now) }
        }
    }

    /// Nothing is sent at or after `exp`.
    mutating func giveUpExpired() {
        for card in cards.indices { cards[card].giveUpExpired(at: now) }
    }

    /// What an outbox delivery may have under way: the first of each queue.
    var heads: Set<Call> {
        var heads: Set<Call> = []
        for (card, model) in cards.enumerated() {
            for queue in Queue.allCases {
                if let entry = model.head(queue) { heads.insert(Call(card: card, jti: entry.jti)) }
            }
        }
        return heads
    }

    /// One decision on its way.
    struct Call: Hashable, Sendable {
        let card: Int
        let jti: Int
    }
}

/// What an agent did that the model does not allow, and at which step.
struct Finding: Error, Sendable, CustomStringConvertible {
    /// The first is 1; one past the last is the end, when the issuer has recovered.
    let step: Int
    let sentence: String
    /// Whether it was only waited for too long; on a machine that stood still that says nothing.
    let isTimeOver: Bool

    init(_ sentence: String, step: Int = 0, isTimeOver: Bool = false) {
        self.sentence = sentence
        self.step = step
        self.isTimeOver = isTimeOver
    }

    var description: String { "step \(step): \(sentence)" }
}

/// Throws a finding unless both are the same.
func expect<Value: Equatable>(_ what: String, _ actual: Value, is expected: Value) throws {
    guard actual != expected else { return }
    throw Finding("\(what) is \(actual), and must be \(expected)")
}
