import IssuerProtocol
import Records
import Testing

/// Every event in every state.
struct RequestLifeTests {
    private static let queued: [RequestLife] = [
        RequestLife(state: .approved, delivery: .queued),
        RequestLife(state: .denied(.userDenied), delivery: .queued),
        .refused(token: "nonce", reason: .invalidRequest),
    ]
    private static let delivered: [RequestLife] = [
        RequestLife(state: .approved, delivery: .delivered(.authenticated)),
        RequestLife(state: .denied(.userDenied), delivery: .failed(token: "expired")),
    ]
    private static let closed = queued + delivered + [.expired, .cancelled]

    /// What an event answers, and the life after it.
    private func result<Answer>(
        of event: (inout RequestLife) -> Answer, in life: RequestLife
    ) -> (answer: Answer, life: RequestLife) {
        var life = life
        return (event(&life), life)
    }

    @Test func `approving a pending request asks for a signature and changes nothing yet`() {
        let (answer, life) = result(of: { $0.decide(.approve) }, in: .pending)
        #expect(answer == .sign && life == .pending)
    }

    @Test func `a pending request is approved and queued by its signature`() {
        let (isOpen, life) = result(of: { $0.signed() }, in: .pending)
        #expect(isOpen && life == RequestLife(state: .approved, delivery: .queued))
    }

    @Test(arguments: DenyReason.allCases)
    func `denying a pending request queues the denial at once`(reason: DenyReason) {
        let (answer, life) = result(of: { $0.decide(.deny(reason)) }, in: .pending)
        #expect(answer == .queueDenial(reason))
        #expect(life == RequestLife(state: .denied(reason), delivery: .queued))
    }

    @Test func `a pending request expires and is cancelled without an answer`() {
        let (expires, expired) = result(of: { $0.expire() }, in: .pending)
        #expect(expires && expired == RequestLife(state: .expired, delivery: .none))
        let (cancels, cancelled) = result(of: { $0.cancel() }, in: .pending)
        #expect(cancels && cancelled == RequestLife(state: .cancelled, delivery: .none))
    }

    @Test(arguments: closed)
    func `nothing decides, signs, expires or cancels what is closed`(life: RequestLife) {
        #expect(result(of: { $0.decide(.approve) }, in: life) == (.tooLate, life))
        #expect(result(of: { $0.decide(.deny(.userDenied)) }, in: life) == (.tooLate, life))
        #expect(result(of: { $0.signed() }, in: life) == (false, life))
        #expect(result(of: { $0.expire() }, in: life) == (false, life))
        #expect(result(of: { $0.cancel() }, in: life) == (false, life))
    }

    @Test func `a refused request is queued as a denial of the agent's own`() {
        let life = RequestLife.refused(token: "nonce", reason: .invalidRequest)
        #expect(life.state == .refused(token: "nonce", reason: .invalidRequest) && life.delivery == .queued)
    }
}
