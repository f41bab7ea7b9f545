/// A point of the journal that the audit key has signed permanently, with the way to older points.
///
/// There is a checkpoint at the end of each ``JournalCheckpoint/length`` entries. The checkpoint behind an entry proves
/// the entry: the chain from the entry to the checkpoint is short, however long the journal is.
///
/// A checkpoint names older checkpoints, so that the newest leads to any of them in few steps. It names the last
/// checkpoint whose number, counted in checkpoints, is a multiple of 1, the last with a multiple of 16, the last with a
/// multiple of 256, and so on. So a checkpoint of another history of this agent, such as from before a backup was
/// restored, cannot take the place of a named one.
package struct JournalCheckpoint: Sendable, Equatable {
    /// The number of entries from one checkpoint to the next.
    package static let length: Int64 = 256
    /// The factor between the distances of two kinds of older checkpoints.
    private static let stride: Int64 = 16

    /// The last entry of the checkpoint.
    package let point: JournalPoint
    /// The older checkpoints that it names, newest first.
    package let earlier: [JournalPoint]
    /// A DER ECDSA-Sig-Value over ``JournalStatement/init(checkpoint:earlier:)``.
    package let signature: [UInt8]

    package init(point: JournalPoint, earlier: [JournalPoint], signature: [UInt8]) {
        self.point = point
        self.earlier = earlier
        self.signature = signature
    }

    /// The numbers of its entries; the first ones may have been removed because of their age.
    package var entries: ClosedRange<Int64> { point.sequence - Self.length + 1...point.sequence }

    /// The older points that the next checkpoint names.
    package var earlierOfNext: [JournalPoint] {
        var (points, distance) = ([point], Self.stride)
        // The oldest points may have been removed because of their age.
        while let last = Self.last(multipleOf: distance, through: point.sequence), distance < Int64(UInt32.max) {
            let named = last == point.sequence ? point : earlier.first { $0.sequence == last }
            guard let named else { break }
            if points.last != named { points.append(named) }
            distance *= Self.stride
        }
        return points
    }

    /// Returns the oldest point that it names at or after an entry, or `nil` if there is none.
    package func earliest(from sequence: Int64) -> JournalPoint? { earlier.last { $0.sequence >= sequence } }

    private static func last(multipleOf count: Int64, through sequence: Int64) -> Int64? {
        let distance = count * length
        let last = sequence / distance * distance
        return last > 0 ? last : nil
    }
}
