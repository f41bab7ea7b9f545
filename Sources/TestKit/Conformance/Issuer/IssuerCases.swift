import IssuerProtocol
import TextAndTime

/// The conformance cases for an issuer.
package struct IssuerCases: Sendable {
    private struct Case: Sendable {
        let header: CaseHeader
        let steps: [IssuerStep]

        /// Returns whether the case moves the tested side's clock, so that requests of other cases may expire.
        func movesClock(of issuer: TestedIssuer) -> Bool {
            issuer.has("clock")
                && steps.contains {
                    switch $0.action {
                    case .clock, .expire: true
                    default: false
                    }
                }
        }
    }

    private let cases: [Case]

    /// Reads all cases of a directory, and throws the first error.
    package init(in directory: CaseDirectory) throws(CaseFileError) {
        var cases: [Case] = []
        for (name, node) in try directory.files(of: "issuer") {
            let header = try CaseHeader(node, name: name, others: ["steps"], commands: TestedIssuer.commands)
            var steps: [IssuerStep] = []
            for step in try node.members()["steps"]?.elements() ?? [] { steps.append(try IssuerStep(step)) }
            guard !steps.isEmpty else { throw node.error("steps is missing") }
            cases.append(Case(header: header, steps: steps))
        }
        self.cases = cases
    }

    package var headers: [CaseHeader] { cases.map(\.header) }

    /// Returns the cases that `choice` selects, ready to be played against `issuer`.
    package func playable(
        against issuer: TestedIssuer, clock: TestedClock, wire: Wire, where choice: (CaseHeader) -> Bool
    ) -> [PlayableCase] {
        return cases.filter { choice($0.header) }.map { one in
            PlayableCase(header: one.header, runsAlone: one.movesClock(of: issuer)) { trace in
                for need in one.header.needs where !issuer.has(need) {
                    throw CaseEnd.notShown("there is no command for `\(need)`")
                }
                try await Self.play(
                    one.steps, header: one.header, issuer: issuer, wire: wire, clock: clock, trace: trace)
            }
        }
    }

    private static func play(
        _ steps: [IssuerStep], header: CaseHeader, issuer: TestedIssuer, wire: Wire, clock: TestedClock, trace: Trace
    ) async throws {
        // Purchase commands that run until the payer has decided end with the case.
        let (work, continuation) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await one in work { group.addTask { await one() } }
                }
            }
            defer { group.cancelAll() }
            var scene = IssuerScene(
                issuer: issuer, wire: wire, clock: clock, trace: trace, header: header,
                background: { continuation.yield($0) })
            for step in steps {
                for _ in 0..<step.times { try await scene.play(step) }
            }
        }
    }

    /// Gets the discovery document, so that an issuer that cannot be reached is one error, not one for each case.
    ///
    /// - Returns: the issuer's clock, which is the machine's if no command can move it.
    /// - Throws: `CaseFileError` that names what came instead.
    package static func reach(_ issuer: TestedIssuer, wire: Wire) async throws(CaseFileError) -> TestedClock {
        let url = issuer.url.text + Discovery.path
        let answer: WireAnswer
        do { answer = try await wire.answer("GET", url, seconds: 10, trace: Trace()) } catch {
            throw CaseFileError("the issuer \(issuer.url.text) \(error)")
        }
        guard answer.status == 200 else {
            throw CaseFileError("\(url) answers \(answer.shown), and not 200 with the discovery document (section 3)")
        }
        guard answer.object != nil else {
            throw CaseFileError(
                "\(url) answers 200 with \(answer.contentType.map { EscapedText.of($0) } ?? "no content type") that is no JSON object (section 3)"
            )
        }
        let clock = TestedClock()
        guard issuer.has("clock") else { return clock }
        do { try await clock.move(issuer, by: 1, wire: wire, trace: Trace()) } catch {
            guard case .broken(let why)? = error as? CaseEnd else { throw CaseFileError("\(error)") }
            throw CaseFileError(why)
        }
        return clock
    }
}
