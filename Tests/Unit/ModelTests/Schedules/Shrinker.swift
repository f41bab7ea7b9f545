/// Makes a schedule that fails as small as it gets: leaves out steps, then makes what is left simpler, while it fails.
struct Shrinker {
    /// The most schedules that are tried.
    var patience = 2_000
    let fails: ([Step]) async throws -> Bool

    func smallest(_ schedule: [Step]) async throws -> [Step] {
        var smallest = schedule
        var tries = 0
        while let smaller = try await firstFailing(Self.candidates(smallest), &tries) { smallest = smaller }
        return smallest
    }

    private func firstFailing(_ candidates: some Sequence<[Step]>, _ tries: inout Int) async throws -> [Step]? {
        for candidate in candidates {
            guard tries < patience else { return nil }
            tries += 1
            if try await fails(candidate) { return candidate }
        }
        return nil
    }

    /// Everything that is one move simpler, the boldest first.
    private static func candidates(_ schedule: [Step]) -> [[Step]] {
        var candidates: [[Step]] = []
        var length = schedule.count / 2
        while length > 0 {
            for start in stride(from: 0, to: schedule.count, by: length) {
                var rest = schedule
                rest.removeSubrange(start..<min(start + length, schedule.count))
                candidates.append(rest)
            }
            length /= 2
        }
        for (index, step) in schedule.enumerated() {
            candidates += step.simpler.map { simpler in
                var rest = schedule
                rest.replaceSubrange(index...index, with: simpler)
                return rest
            }
        }
        return candidates
    }
}

extension Step {
    /// What this step may become.
    var simpler: [[Step]] {
        switch self {
        case .list(let card, let messages, let crash):
            simplerLists(messages).map { [.list(card, $0, crash: crash)] }
                + (crash == nil ? [] : [[.list(card, messages)]])
                + (messages.count == 2 ? [messages.map { .list(card, [$0], crash: crash) }] : [])
                + (card == 0 ? [] : [[.list(0, messages, crash: crash)]])
        case .approve(let card, let jti, let meanwhile, let crash):
            Self.simpler(meanwhile).map { [.approve(card, jti: jti, meanwhile: $0, crash: crash)] }
                + (crash == nil ? [] : [[.approve(card, jti: jti, meanwhile: meanwhile)]])
                + (meanwhile.isEmpty ? [] : [meanwhile, meanwhile + [.approve(card, jti: jti, crash: crash)]])
        case .deny(let card, let jti, let crash):
            crash == nil ? [] : [[.deny(card, jti: jti)]]
        case .deliver(let card, let queue, let fate, let meanwhile):
            Self.simpler(meanwhile).map { [.deliver(card, queue, fate, meanwhile: $0)] }
                + (fate == .taken ? [] : [[.deliver(card, queue, .taken, meanwhile: meanwhile)]])
                + (meanwhile.isEmpty ? [] : [meanwhile])
        case .pass(let seconds): seconds > 1 ? [[.pass(seconds / 2)]] : []
        case .tick, .restart, .unenroll: []
        }
    }

    /// Without one of them, or with one of them simpler.
    private static func simpler(_ steps: [Step]) -> [[Step]] {
        steps.indices.flatMap { index -> [[Step]] in
            ([[]] + steps[index].simpler).map { simpler in
                var rest = steps
                rest.replaceSubrange(index...index, with: simpler)
                return rest
            }
        }
    }

    private func simplerLists(_ messages: [Message]) -> [[Message]] {
        messages.indices.flatMap { index -> [[Message]] in
            var without = messages
            without.remove(at: index)
            return [without]
                + messages[index].simpler.map { simpler in
                    var rest = messages
                    rest[index] = simpler
                    return rest
                }
        }
    }
}

extension Message {
    /// With one thing as plain as it can be.
    var simpler: [Message] {
        switch self {
        case .request(let request):
            let plain = PlannedRequest(jti: request.jti)
            return [
                request.with(\.acs, plain.acs), request.with(\.transaction, plain.transaction),
                request.with(\.iat, plain.iat), request.with(\.exp, plain.exp),
                request.with(\.isUpperCase, plain.isUpperCase), request.with(\.flaw, plain.flaw),
            ].filter { $0 != request }.map { .request($0) }
        case .cancellation(let cancellation):
            let plain = PlannedCancellation(jti: cancellation.jti, cancels: cancellation.cancels)
            return cancellation == plain ? [] : [.cancellation(plain)]
        }
    }
}

extension PlannedRequest {
    fileprivate func with<Value>(_ path: WritableKeyPath<PlannedRequest, Value>, _ value: Value) -> PlannedRequest {
        var changed = self
        changed[keyPath: path] = value
        return changed
    }
}
