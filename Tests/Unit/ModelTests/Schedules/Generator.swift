import IssuerProtocol

import struct Sandbox.SplitMix64

/// Makes schedules at random, the same for the same seed.
///
/// What is asked, taken back and decided is mostly about the same few things, so that it meets.
struct Generator {
    static let cards = 2
    /// jtis of cancellations of their own begin here.
    private static let firstCancellation = 50

    var random: SplitMix64
    /// By card: how many jtis requests have had, the last acsTransId, and what was listed.
    private var jtis = Array(repeating: 0, count: cards)
    private var acs = Array(repeating: 0, count: cards)
    private var listed: [[Message]] = Array(repeating: [], count: cards)
    /// Seconds from the start.
    var now: Int64 = 0

    static func schedule(seed: UInt64, steps: Int = 40) -> [Step] {
        var generator = Generator(random: SplitMix64(seed: seed))
        return (0..<steps).map { _ in generator.step() }
    }

    private init(random: SplitMix64) { self.random = random }

    mutating func card() -> Int { random.number(below: Self.cards) }

    /// One of the last that came, mostly; now and then one that will come yet.
    mutating func jti(of card: Int) -> Int {
        random.hits(percent: 75)
            ? max(jtis[card] - 1 - random.number(below: 4), 0) : random.number(below: jtis[card] + 2)
    }

    // MARK: Lists

    mutating func list(for card: Int, crash: Crash? = nil) -> Step {
        var messages = (0..<random.number(below: 3)).map { _ in message(for: card) }
        // Polls duplicate and reorder.
        for _ in 0..<random.number(below: 3) {
            let again = random.pick(listed[card] + messages + [message(for: card)])
            messages.insert(again, at: random.number(below: messages.count + 1))
        }
        listed[card] += messages
        return .list(card, messages, crash: crash)
    }

    private mutating func message(for card: Int) -> Message {
        random.hits(percent: 20) ? .cancellation(cancellation(for: card)) : .request(request(for: card))
    }

    private mutating func cancellation(for card: Int) -> PlannedCancellation {
        // Now and then under a jti that a request has as well.
        let own = random.hits(percent: 90) ? Self.firstCancellation + random.number(below: 20) : jti(of: card)
        return PlannedCancellation(jti: own, cancels: jti(of: card), exp: now + random.pick([-5, 5, 100, 600]))
    }

    private mutating func request(for card: Int) -> PlannedRequest {
        var request = PlannedRequest(jti: jtis[card])
        // A jti that comes again with another payload.
        if random.hits(percent: 10) { request.jti = jti(of: card) } else { jtis[card] += 1 }
        acs[card] = random.hits(percent: 40) ? acs[card] : random.number(below: 4)
        request.acs = acs[card]
        request.iat =
            now + (random.hits(percent: 10) ? random.pick([61, 300, 600, 601]) : random.pick([-2, -1, 0, 1]))
        request.exp = request.iat + random.pick([-1, 5, 60, 300, 300, 600, 600])
        // An acsTransId mostly stands for one transaction.
        request.transaction = random.hits(percent: 10) ? random.number(below: 4) : request.acs
        request.isUpperCase = random.hits(percent: 20)
        request.flaw = random.hits(percent: 12) ? random.pick(PlannedRequest.Flaw.allCases) : .none
        return request
    }
}

extension SplitMix64 {
    /// From 0 up to and without `bound`.
    mutating func number(below bound: Int) -> Int { Int(number(below: UInt64(bound))) }

    mutating func hits(percent: Int) -> Bool { number(below: 100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }
}
