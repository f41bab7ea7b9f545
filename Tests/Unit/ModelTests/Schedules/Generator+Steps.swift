import struct Sandbox.SplitMix64

// The steps, and how often each comes.

extension Generator {
    mutating func step() -> Step {
        switch random.number(below: 100) {
        case ..<34: list(for: card(), crash: crash([.beforeCommit, .afterCommit]))
        case ..<50: approve(crash: crash(Crash.allCases))
        case ..<57: deny(crash: crash([.beforeCommit, .afterCommit]))
        case ..<82: deliver()
        case ..<91: pass()
        case ..<96: .tick
        case ..<99: .restart
        // Seldom, since nothing comes of that card any more.
        default: random.hits(percent: 50) ? .unenroll(card()) : .restart
        }
    }

    private mutating func crash(_ moments: [Crash]) -> Crash? { random.hits(percent: 8) ? random.pick(moments) : nil }

    private mutating func deny(crash: Crash? = nil) -> Step {
        let card = card()
        return .deny(card, jti: jti(of: card), crash: crash)
    }

    private mutating func approve(crash: Crash? = nil) -> Step {
        let card = card()
        let count = random.hits(percent: 30) ? 1 + random.number(below: 3) : 0
        let meanwhile = (0..<count).map { _ in whileSigning(for: card) }
        return .approve(card, jti: jti(of: card), meanwhile: meanwhile, crash: crash)
    }

    /// Anything but another approval of the same card, which waits for its turn.
    private mutating func whileSigning(for card: Int) -> Step {
        let other = Self.cards - 1 - card
        if random.hits(percent: 3) { return .unenroll(card) }
        return switch random.number(below: 6) {
        case 0: deny()
        case 1: pass()
        case 2: .tick
        case 3: .approve(other, jti: jti(of: other))
        default: list(for: card)
        }
    }

    private mutating func deliver() -> Step {
        let meanwhile = random.hits(percent: 20) ? [whileDelivering()] : []
        return .deliver(card(), random.pick(Queue.allCases), fate(), meanwhile: meanwhile)
    }

    private mutating func fate() -> Fate {
        switch random.number(below: 10) {
        case ..<5: .taken
        case 5: .code(random.pick(Fate.codes))
        case ..<8: .again(hadEffect: random.hits(percent: 50))
        default: .cut(hadEffect: random.hits(percent: 50))
        }
    }

    /// Anything but the passing of time, which the model knows only before and after a call.
    private mutating func whileDelivering() -> Step {
        let card = card()
        return switch random.number(below: 3) {
        case 0: deny()
        case 1: .approve(card, jti: jti(of: card))
        default: list(for: card)
        }
    }

    private mutating func pass() -> Step {
        let seconds: Int64 = random.pick([1, 1, 5, 30, 60, 300])
        now += seconds
        return .pass(seconds)
    }
}
