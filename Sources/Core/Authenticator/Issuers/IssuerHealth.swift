import IssuerProtocol
import Records
import Synchronization
import TextAndTime

/// Identifier of a group of enrollments that are fetched for together; see ``FetchGroups``.
typealias FetchGroupID = Int

/// The current troubles in reaching issuers and in verifying their messages, for `status` and `doctor`.
final class IssuerHealth: Sendable {
    private struct Pause {
        let issuer: IssuerURL
        /// Seconds since 1970.
        let until: Int64
    }

    private struct Entry {
        /// The trouble of the last call.
        ///
        /// `nil` if the call succeeded.
        var call: Trouble?
        var unverified: Unverified?
        /// The last time at which a request was refused for lack of storage room, in seconds since 1970.
        var fullAt: Int64?

        var trouble: Trouble? {
            call ?? fullAt.map { _ in Trouble(.issuer, IssuerHealth.fullText) } ?? unverified?.trouble
        }
    }

    /// A request that no key of the issuer verifies, or that was dropped for another fault.
    private struct Unverified {
        let trouble: Trouble
        /// Whether this text is the enrollment's own.
        ///
        /// An issuer writes a part of such a text.
        let hasOwnText: Bool
        /// Seconds since 1970.
        let at: Int64
    }

    private struct Troubles {
        private(set) var all: [EnrollmentID: Entry] = [:]
        private(set) var counts: [Trouble.Cause: Int] = [:]
        /// The number of enrollments with a text of their own.
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

    /// The seconds for which an unverified request, or one refused for lack of room, counts as a trouble.
    ///
    /// A later event may end the trouble before that.
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

    /// Marks an enrollment whose end is being reported to its issuer.
    ///
    /// An answer that the enrollment is unknown is then expected.
    func setLeaving(_ enrollment: EnrollmentID, _ isLeaving: Bool) {
        leaving.withLock { leaving in
            if isLeaving { leaving.insert(enrollment) } else { leaving.remove(enrollment) }
        }
    }

    func isLeaving(_ enrollment: EnrollmentID) -> Bool { leaving.withLock { $0.contains(enrollment) } }

    /// Records the result of the last call.
    ///
    /// - Returns: whether calls have a trouble now and had none before.
    @discardableResult
    func record(_ enrollment: EnrollmentID, trouble: String?, cause: Trouble.Cause = .issuer, at now: Int64) -> Bool {
        troubles.withLock { troubles in
            // Most calls succeed without an earlier trouble: no entry changes.
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

    /// Records that a request waits for a key or was dropped.
    ///
    /// A `nil` reason means that one was verified.
    func record(_ enrollment: EnrollmentID, unverified reason: String?, at now: Int64) {
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

    /// Records that a request was refused for lack of storage room, or that one was presented.
    func record(_ enrollment: EnrollmentID, isFull: Bool, at now: Int64) {
        troubles.withLock { troubles in
            if !isFull, troubles.all[enrollment]?.fullAt == nil { return }
            troubles.change(enrollment) { $0.fullAt = isFull ? now : nil }
        }
    }

    func found(of enrollment: EnrollmentID) -> Trouble? { troubles.withLock { $0.all[enrollment]?.trouble } }

    /// The enrollments with a request that could not be verified or answered, and the text about it.
    var unverified: [EnrollmentID: String] {
        troubles.withLock { $0.all.compactMapValues { $0.unverified?.trouble.text } }
    }

    /// The number of enrollments in trouble, by the cause.
    var counts: [Trouble.Cause: Int] { troubles.withLock(\.counts) }

    /// Returns at most `most` enrollments whose issuer cannot be reached or gives wrong answers.
    func troubled(_ most: Int) -> Set<EnrollmentID> { troubles.withLock { Set($0.all.keys.prefix(most)) } }

    func trouble(of enrollment: EnrollmentID) -> String? { found(of: enrollment)?.text }
}

// MARK: Pauses

extension IssuerHealth {
    /// Records when a group is fetched for again after a failure.
    ///
    /// `until` is `nil` if the last fetch succeeded or the group has ended.
    func notePause(of group: FetchGroupID, at issuer: IssuerURL, until: Int64?) {
        pauses.withLock { $0[group] = until.map { Pause(issuer: issuer, until: $0) } }
    }

    /// Returns the seconds until each issuer that failed is called again, by its URL.
    ///
    /// If several groups of an issuer wait, the longest wait counts.
    func pauses(now: Int64) -> [String: Int64] {
        let all = pauses.withLock { Array($0.values) }
        return Dictionary(all.map { ($0.issuer.text, max($0.until - now, 0)) }, uniquingKeysWith: max)
    }
}
