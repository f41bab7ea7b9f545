import Foundation
import GRDB
import IssuerProtocol
import Keys
import ScratchDirectories
import TestStores
import Testing

@testable import Authenticator
@testable import Records
@testable import SQLiteStore
@testable import StoreTables

/// What is weak about enrollments, as the store counts it.
struct EnrollmentMarkTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func key(_ kind: ExternalKeyFacts.Kind, isExportable: Bool?) throws -> KeyPlace {
        let facts = ExternalKeyFacts(
            kind: kind, publicKey: try SigningKey.generate(.es256).publicKey, isExportable: isExportable)
        return .external(ExternalKey(uri: try KeyURI("pkcs11:token=bank;object=card"), facts: facts))
    }

    private func enrollment(
        _ digit: String, at issuer: String = "https://issuer.example", authnType: AuthnType = .presence,
        key: KeyPlace = .own, raise: SignCountRaise? = nil, isPINGuessable: Bool = false
    ) throws -> Enrollment {
        let like = try SampleStore.enrollment(digit)
        return Enrollment(
            id: like.id, target: IssuerTarget(issuer: try IssuerURL(issuer), rootsPEM: nil), name: digit,
            authnType: authnType, algorithm: -7, rpId: "issuer.example", credentialId: like.credentialId,
            userHandle: [], startedAt: 10, key: key,
            sealedKey: key == .own ? [1] : nil, signCount: 3, state: like.state, isPINGuessable: isPINGuessable,
            signCountRaise: raise)
    }

    /// One of each kind that a row can say.
    private func samples() throws -> [Enrollment] {
        [
            try enrollment("0"), try enrollment("1", at: "http://localhost:8080", authnType: .test),
            try enrollment("2", authnType: .pin, isPINGuessable: true),
            try enrollment("3", key: key(.pkcs11, isExportable: true)),
            try enrollment("4", key: key(.pkcs11, isExportable: nil)),
            try enrollment("5", key: key(.tpm, isExportable: false)),
            try enrollment("6", key: key(.file, isExportable: true)),
            try enrollment("7", raise: SignCountRaise(from: 1, to: 2, at: 3)),
            try enrollment("8", raise: SignCountRaise(from: 1, to: 2, at: 3, isElsewhere: true)),
            try enrollment("9"),
        ]
    }

    @Test func `each row is marked with what is found of its enrollment`() async throws {
        let all = try samples()
        try await sample.store.write { store in for each in all { try store.insert(each) } }
        let marked = try await sample.store.read { try EnrollmentHealth($0).weak(limit: 100) }
        #expect(Set(marked.map(\.mark)) == Set(EnrollmentMark.allCases))
        for mark in EnrollmentMark.allCases {
            let found = all.filter { enrollment in
                enrollment.findings.contains { $0.weakness == mark.weakness && $0.isCertain == mark.isCertain }
            }
            let counted = try #require(marked.first { $0.mark == mark })
            #expect(counted == WeakEnrollments(mark, count: found.count, first: found.map(\.id)))
        }
    }

    @Test func `the first of all that have a mark are named, and the others counted`() async throws {
        let all = try samples()
        try await sample.store.write { store in for each in all.reversed() { try store.insert(each) } }
        let marked = try await sample.store.read { try EnrollmentHealth($0).weak(limit: 2) }
        let keys = try #require(marked.first { $0.mark == .ownOrFileKey })
        #expect(keys.count == 7 && keys.first == [all[9].id, all[8].id])
    }

    @Test func `one that is over has no mark, and a change of a mark counts`() async throws {
        let card = try enrollment("a", authnType: .pin)
        let other = try enrollment("b", authnType: .test)
        try await sample.store.write { store in
            try store.insert(card)
            try store.insert(other)
            try store.change(card.id, .pinChanged(isGuessable: true, key: Resealing(from: [1], to: [2])))
            try store.change(other.id, .ended(at: 5))
        }
        let marks = try await sample.store.read { try EnrollmentHealth($0).weak(limit: 9) }.map(\.mark)
        #expect(marks == [.guessablePIN, .ownOrFileKey])
    }

    @Test func `a change writes what has changed, so that no index of the rest is touched`() async throws {
        let card = try await sample.enrollment()
        let statements = try sample.raw { database in
            var statements: [String] = []
            database.trace { statements.append("\($0)") }
            let store = StoreTransaction(
                database: database, sealing: Sealing(seals: NoRowSeals(), dataKeys: UnsealedDataKeys()),
                written: Written())
            _ = try store.change(card.id, .signCountTaken(9))
            database.trace(options: [])
            return statements.filter { $0.hasPrefix("UPDATE") }
        }
        #expect(statements.count == 1)
        let columns = try #require(statements.first).components(separatedBy: " WHERE ")[0]
        #expect(columns.contains("sign_count = ?") && columns.contains("journal_seq") && columns.contains(" seal ="))
        for untouched in [" state", "authenticator_id", "pin_guessable", "sign_count_raised", "ended_at"] {
            #expect(!columns.contains(untouched), "\(columns)")
        }
    }
}
