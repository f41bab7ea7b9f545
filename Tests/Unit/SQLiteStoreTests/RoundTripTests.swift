import GRDB
import IssuerProtocol
import Keys
import Records
import SQLiteStore
import StoreTables
import TestStores
import Testing
import ThreeDS

/// What is read is what was written.
struct RoundTripTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func id(_ digit: String) throws -> Membership {
        guard let membership = try SampleStore.enrollment(digit).membership else { throw SampleError("none") }
        return membership
    }

    @Test func `an enrollment in every state`() async throws {
        let membership = try id("a")
        let states: [EnrollmentState] = [
            .enrolling(body: [0x00, 0x7B]), .active(membership), .suspended(membership),
            .ended(authenticatorId: membership.authenticatorId), .ended(authenticatorId: nil),
        ]
        for (digit, state) in zip(["1", "2", "3", "4", "5"], states) {
            let enrollment = try SampleStore.enrollment(digit, state: state)
            try await sample.store.write { try $0.insert(enrollment) }
            let read = try #require(try await sample.store.read { try $0.enrollment(enrollment.id) })
            #expect("\(ofOneChain(read))" == "\(enrollment)")
        }
        #expect(try await sample.store.read { try $0.enrollments(includingEnded: true) }.count == 5)
        #expect(try await sample.store.read { try $0.enrollments(includingEnded: false) }.count == 3)
        #expect(try await sample.store.read { try $0.enrollmentCount() } == 3)
    }

    @Test(arguments: [true, false, nil])
    func `where a key is that the agent did not make`(isExportable: Bool?) async throws {
        let publicKey = try SigningKey.generate(.es384).publicKey
        let place = KeyPlace.external(
            ExternalKey(
                uri: try KeyURI("pkcs11:token=t;object=o"),
                facts: ExternalKeyFacts(kind: .pkcs11, publicKey: publicKey, isExportable: isExportable)))
        let enrollment = try SampleStore.enrollment("1", key: place)
        try await sample.store.write { try $0.insert(enrollment) }
        let read = try await sample.store.read { try $0.enrollment(enrollment.id) }
        #expect(read?.key == place && read?.credentialKey == publicKey)
        let own = try await sample.enrollment("2")
        #expect(try await sample.store.read { try $0.enrollment(own.id) }?.key == .own)
    }

    @Test func `both halves of a key, the private one sealed`() async throws {
        let publicKey = try SigningKey.generate(.es256).publicKey
        let other = try SampleStore.enrollment("b", credentialKey: publicKey, sealedKey: [0, 1, 2])
        try await sample.store.write { try $0.insert(other) }
        let read = try await sample.store.read { try $0.enrollment(other.id) }
        #expect(read?.credentialKey == publicKey && read?.sealedKey == [0, 1, 2])
    }

    @Test func `tries of a PIN, and whether it is easily guessed`() async throws {
        let card = try SampleStore.enrollment("a", sealedKey: [0])
        let id = card.id
        try await sample.store.write { try $0.insert(card) }
        var (last, key) = (PINTries.fresh, [0] as [UInt8])
        for (tries, isGuessable) in [
            (PINTries(failures: 4, blockedUntil: nil), true),
            (PINTries(failures: 5, blockedUntil: 1_700_000_060), false),
        ] {
            let (old, change) = (last, Resealing(from: key, to: key + [1]))
            try await sample.store.write { store in
                #expect(try store.change(id, .pinChanged(isGuessable: isGuessable, key: change)) != nil)
                try store.change(id, .pinTries(from: .fresh, to: old))
                #expect(try store.change(id, .pinTries(from: old, to: tries)) != nil)
            }
            let read = try await sample.store.read { try $0.enrollment(id) }
            #expect(read?.ownPINTries == tries && read?.isPINGuessable == isGuessable && read?.sealedKey == change.to)
            (last, key) = (tries, change.to)
        }
    }

    @Test(.ofSQLite) func `tries of a key's PIN, which enrollments share`() async throws {
        let key = try #require(KeyIdentity(bytes: Array(0..<32)))
        let facts = ExternalKeyFacts(
            kind: .file, publicKey: try SigningKey.generate(.es256).publicKey, isExportable: true)
        let place = KeyPlace.external(ExternalKey(uri: try KeyURI("file:/a"), facts: facts, identity: key))
        let cards = [try SampleStore.enrollment("1", key: place), try SampleStore.enrollment("2", key: place)]
        let tries = PINTries(failures: 5, blockedUntil: 77)
        try await sample.store.write { store in
            for card in cards { try store.insert(card) }
            #expect(try !store.setPINTries(of: key, from: tries, to: .fresh))
            #expect(try store.setPINTries(of: key, from: .fresh, to: tries))
        }
        let read = try await sample.store.read { try $0.enrollments(includingEnded: false) }
        #expect(read.map(\.pinTries) == [tries, tries] && read.map(\.ownPINTries) == [.fresh, .fresh])
        #expect(read.map(\.key) == [place, place])
        try await sample.store.write { _ = try $0.setPINTries(of: key, from: tries, to: .fresh) }
        #expect(try await sample.store.read { try $0.pinTries(of: key) } == .fresh)
        #expect(try sample.raw { try Int.fetchOne($0, sql: "SELECT tries_version FROM key_tries") } == 2)
    }

    @Test func `what changes of an enrollment, at once and where it is put in so`() async throws {
        let full = Enrollment(
            id: try SampleStore.enrollment("7").id, target: try SampleStore.enrollment("7").target, name: "n",
            authnType: .pin, algorithm: -7, rpId: "issuer.example", credentialId: [7], userHandle: [1], startedAt: 1,
            credentialKey: try SigningKey.generate(.es256).publicKey, signCount: .max, state: .suspended(try id("a")),
            ownPINTries: PINTries(failures: 9, blockedUntil: 77), isPINGuessable: true,
            signCountRaise: SignCountRaise(from: 0, to: .max, at: 5, isElsewhere: true), endReason: "why", endedAt: 6)
        try await sample.store.write { try $0.insert(full) }
        let read = try #require(try await sample.store.read { try $0.enrollment(full.id) })
        #expect("\(ofOneChain(read))" == "\(full)")
    }

    @Test func `a change that the row does not fit writes nothing`() async throws {
        let enrollment = try await sample.enrollment()
        for change in [
            EnrollmentTransition.resumed, .keyResealed(Resealing(from: [1], to: [2])),
            .pinTries(from: PINTries(failures: 1, blockedUntil: nil), to: .fresh),
        ] {
            #expect(try await sample.store.write { try $0.change(enrollment.id, change) } == nil)
        }
        let read = try #require(try await sample.store.read { try $0.enrollment(enrollment.id) })
        #expect("\(ofOneChain(read))" == "\(enrollment)")
        let absent = try SampleStore.enrollment("9").id
        #expect(try await sample.store.write { try $0.change(absent, .ended(at: 1)) } == nil)
    }

    @Test func `a request in every state`() async throws {
        let enrollment = try await sample.enrollment()
        let lives: [RequestLife] = [
            .pending, .expired, .cancelled, .refused(token: "nonce", reason: .invalidRequest),
            RequestLife(state: .approved, delivery: .queued),
            RequestLife(state: .approved, delivery: .delivered(.authenticated)),
            RequestLife(state: .denied(.suspectedFraud), delivery: .delivered(.notAuthenticated)),
            RequestLife(state: .denied(.userDenied), delivery: .failed(token: "expired")),
        ]
        for (number, life) in lives.enumerated() {
            let request = try SampleStore.request(number, of: enrollment, life: life)
            try await sample.insert(request)
            let read = try #require(try await sample.store.read { try $0.request(request.id) })
            var expected = request
            // The store gives a queued decision its place.
            expected.queuePlace = read.queuePlace
            #expect("\(read)" == "\(expected)" && (read.queuePlace != nil) == (life.delivery == .queued))
            #expect(read.presented?.transaction.members == request.presented?.transaction.members)
        }
    }

    @Test func `a request that shows nothing`() async throws {
        let enrollment = try await sample.enrollment()
        var request = try SampleStore.request(1, of: enrollment, life: .expired)
        request.presented = nil
        request.iat = nil
        request.exp = nil
        let bare = request
        try await sample.insert(bare)
        let read = try #require(try await sample.store.read { try $0.request(bare.id) })
        #expect("\(read)" == "\(bare)")
    }

    @Test func `what changes of a request`() async throws {
        let enrollment = try await sample.enrollment()
        var request = try SampleStore.request(1, of: enrollment)
        try await sample.insert(request)
        let newer = try SampleStore.request(2, of: enrollment)
        request.jti = newer.jti
        request.iat = 77
        request.exp = 2_000
        request.message = SampleStore.message(acsTransId: try #require(newer.acsTransId), nonce: Array(1...64))
        request.presented = try SampleStore.presented(request.message)
        request.traceparent = nil
        request.decidedAt = 8
        request.life = RequestLife(state: .approved, delivery: .queued)
        request.queuePlace = 4
        request.hasConflict = true
        let changed = request
        try await sample.store.write { try $0.update(changed) }
        let read = try #require(try await sample.store.read { try $0.request(changed.id) })
        #expect("\(read)" == "\(changed)")
    }

    @Test func `a message, and that its jti stands once for an enrollment`() async throws {
        let one = try await sample.enrollment("a")
        let other = try await sample.enrollment("b")
        let jti = try #require(TokenID("jti"))
        for enrollment in [one, other] {
            let digest = Array(enrollment.id.text.utf8)
            try await sample.store.write {
                try $0.insert(
                    SeenMessage(enrollmentId: enrollment.id, jti: jti, payloadDigest: digest, requestId: nil, seenAt: 5)
                )
            }
            let read = try await sample.store.read { try $0.message(enrollment: enrollment.id, jti: jti) }
            #expect(read?.payloadDigest == digest && read?.requestId == nil)
        }
        await #expect(throws: (any Error).self) {
            try await sample.store.write {
                try $0.insert(
                    SeenMessage(enrollmentId: one.id, jti: jti, payloadDigest: [1], requestId: nil, seenAt: 5))
            }
        }
    }

    @Test func `a cancellation counts as long as the longest that came, and is removed at its exp`() async throws {
        let enrollment = try await sample.enrollment()
        let jti = try #require(TokenID("jti"))
        for until: Int64 in [50, 80, 60] {
            try await sample.store.write {
                try $0.insert(RememberedCancellation(enrollmentId: enrollment.id, cancels: jti, until: until))
            }
        }
        func until(_ now: Int64) async throws -> Int64? {
            try await sample.store.write { store in
                try store.removeCancellations(until: now)
                return try store.cancellation(enrollment: enrollment.id, of: jti)?.until
            }
        }
        #expect(try await until(79) == 80)
        #expect(try await until(80) == nil)
    }

    @Test func `a decision waits in the outbox, with its bytes, until its delivery ends`() async throws {
        let enrollment = try await sample.enrollment()
        var request = try SampleStore.request(1, of: enrollment, life: RequestLife(state: .approved, delivery: .queued))
        request.queuePlace = Int64(UInt32.max)
        let decided = request
        try await sample.insert(decided)
        try await sample.store.write { try $0.keep(KeptEvidence(decision: [0, 1, 255]), of: decided.id) }
        let read = try #require(try await sample.outbox(of: enrollment).first)
        #expect(read.body == [0, 1, 255] && read.signCount == .max && read.exp == 1_001 && read.traceparent == "00-1")
        #expect(read.jti == decided.jti && read.requestId == decided.id && read.lastError == nil)
        try await sample.store.write { try $0.recordError("the issuer answered 503", of: read) }
        #expect(try await sample.outbox(of: enrollment).first?.lastError == "the issuer answered 503")
        try await sample.store.write { store in
            #expect(try store.isQueued(read))
            try store.endDelivery(of: read, as: .delivered(.authenticated), error: nil)
            #expect(try !store.isQueued(read))
        }
        #expect(try await sample.outbox(of: enrollment).isEmpty)
    }

    @Test(arguments: [RequestState.approved, .denied(.userDenied), .refused(token: "nonce", reason: .invalidRequest)])
    func `what is queued ends delivered or failed once, and keeps its decision`(state: RequestState) async throws {
        let enrollment = try await sample.enrollment()
        let ends: [(DeliveryState, String?)] = [
            (.delivered(.notAuthenticated), nil), (.failed(token: "unknown_request"), "the issuer knows no such one"),
        ]
        for (number, (end, error)) in ends.enumerated() {
            var request = try SampleStore.request(
                number, of: enrollment, life: RequestLife(state: state, delivery: .queued))
            request.queuePlace = 1
            let decided = request
            try await sample.insert(decided)
            try await sample.store.write { try $0.keep(KeptEvidence(decision: [1]), of: decided.id) }
            let entry = try #require(try await sample.outbox(of: enrollment).first)
            try await sample.store.write { try $0.endDelivery(of: entry, as: end, error: error) }
            let ended = try await sample.store.read { try $0.request(decided.id) }
            #expect(ended?.life == RequestLife(state: state, delivery: end))
            #expect(ended?.deliveryError == error && ended?.queuePlace == nil)
            try await sample.store.write { try $0.endDelivery(of: entry, as: .failed(token: "later"), error: "later") }
            let later = try await sample.store.read { try $0.request(decided.id) }
            #expect(later?.life == ended?.life && later?.deliveryError == error)
        }
    }

    @Test func `a refusal without an exp is sent for a day`() async throws {
        let enrollment = try await sample.enrollment()
        for (number, exp) in [(1, nil), (2, .max), (3, 9)] as [(Int, Int64?)] {
            var request = try SampleStore.request(
                number, of: enrollment, life: .refused(token: "tooLate", reason: .policy))
            (request.presented, request.exp) = (nil, exp)
            let refused = request
            try await sample.insert(refused)
            try await sample.store.write { try $0.keep(KeptEvidence(decision: [1]), of: refused.id) }
        }
        #expect(try await sample.outbox(of: enrollment).map(\.exp) == [7 + 86_400, 7 + 86_400, 9])
    }

    @Test func `a duplicate waits for its answer in the outbox, and then is a message as others are`() async throws {
        let enrollment = try await sample.enrollment()
        let jti = try #require(TokenID("jti"))
        try await sample.store.write {
            try $0.insert(
                SeenMessage(
                    enrollmentId: enrollment.id, jti: jti, payloadDigest: [1], requestId: nil, seenAt: 5,
                    answer: DuplicateAnswer(exp: 9, traceparent: "00-1")))
        }
        let read = try #require(try await sample.outbox(of: enrollment).first)
        #expect(read.body == DecisionBody.deny(.duplicate) && read.exp == 9 && read.traceparent == "00-1")
        #expect(read.jti == jti && read.requestId == nil && read.signCount == nil)
        try await sample.store.write { store in
            try store.recordError("no answer", of: read)
            #expect(try store.isQueued(read))
            #expect(try store.outbox(enrollment: enrollment.id).first?.lastError == "no answer")
            try store.endDelivery(of: read, as: .failed(token: "expired"), error: nil)
            #expect(try !store.isQueued(read))
        }
        let seen = try await sample.store.read { try $0.message(enrollment: enrollment.id, jti: jti) }
        #expect(seen?.answer == nil && seen?.payloadDigest == [1])
        #expect(try await sample.outbox(of: enrollment).isEmpty)
    }

    /// The same without what the store alone knows: the host that wrote it, and how often it was written.
    private func ofOneChain(_ read: Enrollment) -> Enrollment {
        var enrollment = read
        enrollment.journalHost = nil
        (enrollment.version, enrollment.pinEpoch) = (0, 0)
        return enrollment
    }
}
