/// A sum of row hashes, modulo 2^256.
///
/// Each row that has a seal adds a keyed hash of its key, state, version and seal. The sums of all hosts together are
/// compared with the rows in the database. If a row was restored, removed or inserted, the difference stays.
package struct RowSum: Sendable, Equatable {
    package static let byteCount = 32
    package static let zero = RowSum(words: .zero)

    /// The words, the least significant first.
    private var words: SIMD4<UInt64>

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// Parses ``byteCount`` bytes, the most significant first, or returns `nil` for any other length.
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

/// Result of comparing all sealed rows, as of one moment, with the marks of all hosts together.
package struct RowSurvey: Sendable {
    /// The ends of the chains, by host; empty for the only chain.
    package let heads: [String: Int64]
    /// The hosts whose mark has no sum of rows.
    package let silent: [String]
    /// Whether all rows are there, as the hosts wrote them last.
    package let agrees: Bool
    /// Rows that are older than this process has read or written them: the first ``mostNamed``.
    package let older: [String]
    /// The sum that this host's mark should have.
    package let due: RowSum

    package static let mostNamed = 20

    package init(heads: [String: Int64], silent: [String], agrees: Bool, older: [String], due: RowSum) {
        (self.heads, self.silent, self.agrees) = (heads, silent, agrees)
        (self.older, self.due) = (older, due)
    }

    /// The difference as a clause, or `nil` if there is none.
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
