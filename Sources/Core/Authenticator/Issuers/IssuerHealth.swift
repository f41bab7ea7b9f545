import IssuerProtocol
import Records
import Synchronization
import TextAndTime

/// Names a group of enrollments that are fetched for together; see ``FetchGroups``.
typealias FetchGroupID = Int

/// The trouble at the moment in reaching issuers and in verifying what they send, for `status` and `doctor`.
final class IssuerHealth: Sendable {
    private struct Pause {
        let issuer: IssuerURL
        /// Seconds since 1970.
        let until: Int64
    }

    private struct Entry {
        /// The trouble of the last call; `nil` if it went well.
        var call: Trouble?
        var unverified: Unverified?
        /// When a request was refused last because no more may be stored; seconds since 1970.
        var fullAt: Int64?

        var trouble: Trouble? {
            call ?? fullAt.map { _ in Trouble(.issuer, IssuerHealth.fullText) } ?? unverified?.trouble
        }
    }

    /// A request that no key of the issuer's verifies, or that is otherwise dropped by itself.
    private struct Unverified {
        let trouble: Trouble
        /// Whether its text is its own, which an issuer writes a part of.
        let hasOwnText: Bool
        /// Seconds since 1970.
        let at: Int64
    }

    private struct Troubles {
        private(set) var all: [EnrollmentID: Entry] = [:]
        private(set) var counts: [Trouble.Cause: Int] = [:]
        /// The enrollments with a text of their own.
        private(set) var ownTexts = 0

        mutating func change(_ id: EnrollmentID, _ change: (inout Entry) -> Void) {
            var entry = all[id] ?? Entry()
            if let old = entry.trouble { counts[old.cause, default: 0] -= 1 }
            ownTexts -= entry.unverified?.hasOwnText == true ? 1 : 0
            change(&entry)
            ownTexts += entry.unverified?.hasOwnText == true ? 1 : 0
            if let new = entry.trouble { counts[new.cause, default: 0] += 1 }
            all[id] = entry.trouble == nil ? nil : entry
        }
    }

    /// The seconds for which a request that was not verified or refused for want of room is a trouble, unless another ends it.
    private static let unverifiedFor: Int64 = 86_400

    private static let fullText =
        "no more may be stored of what it sends, so new requests are refused: see max-stored-bytes and retention"

    private static let sharedText = "the log has the reason"

    /// The most enrollments with a text of their own, of 1 KiB at most; the others share one.
    private let maxOwnTexts: Int
    private let troubles = Mutex(Troubles())
    private let pauses = Mutex<[FetchGroupID: Pause]>([:])
    private let leaving = Mutex<Set<EnrollmentID>>([])

    init(maxOwnTexts: Int = 1_000) { self.maxOwnTexts = maxOwnTexts }

    /// Forgets an enrollment that has ended.
    func forget(_ enrollment: EnrollmentID) {
        troubles.withLock { troubles in troubles.change(enrollment) { $0 = Entry() } }
    }

    /// Marks an enrollment whose issuer is being told of its end: that it is unknown there is no trouble then.
    func setLeaving(_ enrollment: EnrollmentID, _ isLeaving: Bool) {
        leaving.withLock { leaving in
            if isLeaving { leaving.insert(enrollment) } else { leaving.remove(enrollment) }
        }
    }

    func isLeaving(_ enrollment: EnrollmentID) -> Bool { leaving.withLock { $0.contains(enrollment) } }

    /// Notes how the last call went.
    ///
    /// - Returns: whether there is a trouble with calls that was not there before.
    @discardableResult
    func note(_ enrollment: EnrollmentID, trouble: String?, cause: Trouble.Cause = .issuer, at now: Int64) -> Bool {
        troubles.withLock { troubles in
            // Most calls go well where nothing was wrong.
            if trouble == nil, troubles.all[enrollment] == nil { return false }
            var isNews = false
            troubles.change(enrollment) { entry in
                isNews = trouble != nil && entry.call == nil
                entry.call = trouble.map { Trouble(cause, $0) }
                if let unverified = entry.unverified, now.seconds(since: unverified.at) >= Self.unverifiedFor {
                    entry.unverified = nil
                }
                if let fullAt = entry.fullAt, now.seconds(since: fullAt) >= Self.unverifiedFor { entry.fullAt = nil }
            }
            return isNews
        }
    }

    /// Notes that a request waits for a key or is dropped, or that one was verified (`reason` nil).
    func note(_ enrollment: EnrollmentID, unverified reason: String?, at now: Int64) {
        troubles.withLock { troubles in
            let old = troubles.all[enrollment]?.unverified
            if reason == nil, old == nil { return }
            let isOwn = old?.hasOwnText == true || troubles.ownTexts < maxOwnTexts
            troubles.change(enrollment) { entry in
                entry.unverified = reason.map {
                    let text = "a request could not be verified: \(isOwn ? $0 : Self.sharedText)"
                    return Unverified(trouble: Trouble(.issuer, text), hasOwnText: isOwn, at: now)
                }
            }
        }
    }

    /// Notes that a request was refused because no more may be stored, or that one was presented.
    func note(_ enrollment: EnrollmentID, isFull: Bool, at now: Int64) {
        troubles.withLock { troubles in
            if !isFull, troubles.all[enrollment]?.fullAt == nil { return }
            troubles.change(enrollment) { $0.fullAt = isFull ? now : nil }
        }
    }

    func found(of enrollment: EnrollmentID) -> Trouble? { troubles.withLock { $0.all[enrollment]?.trouble } }

    /// The enrollments with a request that could not be verified or answered, and what is said of it.
    var unverified: [EnrollmentID: String] {
        troubles.withLock { $0.all.compactMapValues { $0.unverified?.trouble.text } }
    }

    /// The number of enrollments in trouble, by the cause.
    var counts: [Trouble.Cause: Int] { troubles.withLock(\.counts) }

    /// So many of those whose issuer cannot be reached, or does not answer as it should.
    func troubled(_ most: Int) -> Set<EnrollmentID> { troubles.withLock { Set($0.all.keys.prefix(most)) } }

    func trouble(of enrollment: EnrollmentID) -> String? { found(of: enrollment)?.text }
}

// MARK: Pauses

extension IssuerHealth {
    /// Notes when a group that could not be fetched for is fetched for again; nil if it could, or is gone.
    func notePause(of group: FetchGroupID, at issuer: IssuerURL, until: Int64?) {
        pauses.withLock { $0[group] = until.map { Pause(issuer: issuer, until: $0) } }
    }

    /// The most seconds until an issuer that did not answer is asked again, by its URL.
    func pauses(now: Int64) -> [String: Int64] {
        let all = pauses.withLock { Array($0.values) }
        return Dictionary(all.map { ($0.issuer.text, max($0.until - now, 0)) }, uniquingKeysWith: max)
    }
}
