/// A sum of numbers that stand for rows, modulo 2^256.
///
/// Each row that has a seal stands in it with a keyed hash of its key, state, version and seal. The hosts' sums together are
/// held against the rows that are there: a row that was put back, taken away or put in is a difference for good.
package struct RowSum: Sendable, Equatable {
    package static let byteCount = 32
    package static let zero = RowSum(words: .zero)

    /// The least significant first.
    private var words: SIMD4<UInt64>

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// Nil if there are not ``byteCount`` bytes; the most significant first.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        var words = SIMD4<UInt64>.zero
        for (index, byte) in bytes.reversed().enumerated() { words[index / 8] |= UInt64(byte) << (index % 8 * 8) }
        self.words = words
    }

    package var bytes: [UInt8] {
        (0..<Self.byteCount).reversed().map { UInt8(truncatingIfNeeded: words[$0 / 8] >> ($0 % 8 * 8)) }
    }

    package static func += (sum: inout RowSum, other: RowSum) { sum.add(other, carry: 0) }

    package static func -= (sum: inout RowSum, other: RowSum) { sum.add(RowSum(words: ~other.words), carry: 1) }

    private mutating func add(_ other: RowSum, carry: UInt64) {
        var carry = carry
        for index in 0..<4 {
            let (first, overflow) = words[index].addingReportingOverflow(other.words[index])
            let (second, overflowOfCarry) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = overflow || overflowOfCarry ? 1 : 0
        }
    }
}

/// The rows that have a seal, all of one moment, held against what the hosts' marks say of them together.
package struct RowSurvey: Sendable {
    /// Where each chain ended, by its host; empty for the only one.
    package let heads: [String: Int64]
    /// The hosts whose mark vouches for no rows.
    package let silent: [String]
    /// Whether the rows are those that the hosts wrote last, and all of them.
    package let agrees: Bool
    /// Rows that are older than this process has read or written them: the first ``mostNamed``.
    package let older: [String]
    /// The sum that this host's mark would have to have.
    package let due: RowSum

    package static let mostNamed = 20

    package init(heads: [String: Int64], silent: [String], agrees: Bool, older: [String], due: RowSum) {
        (self.heads, self.silent, self.agrees) = (heads, silent, agrees)
        (self.older, self.due) = (older, due)
    }

    /// The difference as a clause; nil if there is none.
    package var problem: String? {
        guard !agrees else { return nil }
        if !silent.isEmpty {
            let hosts = silent.filter { !$0.isEmpty }
            return "the journal's head" + (hosts.isEmpty ? "" : " of host \(hosts.joined(separator: ", "))")
                + " does not vouch for the enrollments' rows"
        }
        let named = older.isEmpty ? "" : ": \(older.joined(separator: ", ")) older than written"
        return "the enrollments' rows are not those that were written last\(named)"
    }
}
