import Authenticator
import Keys

/// Entries of the journal that follow each other, in few bytes.
///
/// What can be computed is left out: an entry's number, and the digest of the entry before it, which only the first one
/// has. The rest is packed together, a line an entry.
struct PackedJournal {
    private static let version: UInt8 = 1
    private static let previous = Array(#""previous":""#.utf8)
    private static let sequence = Array(#""seq":"#.utf8)
    private static let digits = Array("0123456789abcdef".utf8)
    private static let lineFeed = UInt8(ascii: "\n")

    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Nil if they would not come back byte for byte, such as if something else has changed one.
    init?(_ rows: [JournalRow]) {
        guard let first = rows.first, let start = first.bytes[...].end(of: Self.previous),
            first.bytes.count >= start + Self.digestDigits
        else { return nil }
        let digest = first.bytes[start..<start + Self.digestDigits]
        var lines: [UInt8] = []
        for row in rows {
            guard let short = Self.shortened(row.bytes) else { return nil }
            lines += short
            lines.append(Self.lineFeed)
        }
        guard let packed = Deflate().packed(lines) else { return nil }
        bytes = [Self.version] + digest + packed
        guard let again = self.rows(from: first.sequence), again.count == rows.count,
            zip(again, rows).allSatisfy({ $0.sequence == $1.sequence && $0.bytes == $1.bytes })
        else { return nil }
    }

    /// Nil for bytes that are no such entries.
    func rows(from first: Int64) -> [JournalRow]? {
        let digestEnd = 1 + Self.digestDigits
        guard bytes.first == Self.version, bytes.count >= digestEnd,
            let lines = Deflate().unpacked(bytes[digestEnd...])
        else { return nil }
        var (rows, previous, number): ([JournalRow], [UInt8], Int64) = ([], Array(bytes[1..<digestEnd]), first)
        for line in lines.split(separator: Self.lineFeed) {
            guard let entry = Self.lengthened(line, number, previous),
                let digest = try? SHA256Digest.of(entry)
            else { return nil }
            rows.append(JournalRow(sequence: number, bytes: entry))
            for (place, byte) in digest.enumerated() {
                previous[2 * place] = Self.digits[Int(byte >> 4)]
                previous[2 * place + 1] = Self.digits[Int(byte & 15)]
            }
            number += 1
        }
        return rows
    }

    private static let digestDigits = 2 * SHA256Digest.count

    private static func shortened(_ entry: [UInt8]) -> [UInt8]? {
        guard let previous = entry[...].end(of: Self.previous), entry.count >= previous + digestDigits,
            let number = entry[(previous + digestDigits)...].end(of: Self.sequence),
            let rest = entry[number...].firstIndex(where: { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        var short = Array(entry[..<previous])
        short += entry[(previous + digestDigits)..<number]
        short += entry[rest...]
        return short
    }

    private static func lengthened(_ line: ArraySlice<UInt8>, _ number: Int64, _ digest: [UInt8]) -> [UInt8]? {
        guard let previous = line.end(of: Self.previous), let place = line[previous...].end(of: Self.sequence)
        else { return nil }
        var entry: [UInt8] = []
        entry.reserveCapacity(line.count + digest.count + 20)
        entry += line[..<previous]
        entry += digest
        entry += line[previous..<place]
        entry += String(number).utf8
        entry += line[place...]
        return entry
    }
}
