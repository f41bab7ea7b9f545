/// A point of the journal that the audit key has signed for good, with what leads from it to older ones.
///
/// There is one at the end of each ``JournalCheckpoint/length`` entries. An entry is proved by the checkpoint behind it:
/// the chain from the entry to there is short, however long the journal is.
///
/// A checkpoint names older ones, so that the newest leads to any of them in few steps: the last whose number, counted in
/// checkpoints, is a multiple of 1, of 16, of 256, and so on. So one of another history of this agent, such as from before
/// a backup was restored, cannot take its place.
package struct JournalCheckpoint: Sendable, Equatable {
    /// How many entries are from one to the next.
    package static let length: Int64 = 256
    /// From one kind of older checkpoint to the next it is so many times as far.
    private static let stride: Int64 = 16

    /// The last of its entries.
    package let point: JournalPoint
    /// Older ones that it names, newest first.
    package let earlier: [JournalPoint]
    /// A DER ECDSA-Sig-Value over ``JournalStatement/init(checkpoint:earlier:)``.
    package let signature: [UInt8]

    package init(point: JournalPoint, earlier: [JournalPoint], signature: [UInt8]) {
        self.point = point
        self.earlier = earlier
        self.signature = signature
    }

    /// The numbers of its entries; those at the beginning may have been removed for their age.
    package var entries: ClosedRange<Int64> { point.sequence - Self.length + 1...point.sequence }

    /// What the checkpoint after this one names.
    package var earlierOfNext: [JournalPoint] {
        var (points, distance) = ([point], Self.stride)
        // Points at the beginning may have been removed for their age.
        while let last = Self.last(multipleOf: distance, through: point.sequence), distance < Int64(UInt32.max) {
            let named = last == point.sequence ? point : earlier.first { $0.sequence == last }
            guard let named else { break }
            if points.last != named { points.append(named) }
            distance *= Self.stride
        }
        return points
    }

    /// The oldest one that it names and that is not before an entry; nil if there is none.
    package func earliest(from sequence: Int64) -> JournalPoint? { earlier.last { $0.sequence >= sequence } }

    private static func last(multipleOf count: Int64, through sequence: Int64) -> Int64? {
        let distance = count * length
        let last = sequence / distance * distance
        return last > 0 ? last : nil
    }
}
