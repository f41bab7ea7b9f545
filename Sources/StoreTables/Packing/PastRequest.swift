import IssuerProtocol
import StrictJSON

/// What is kept of a request that is over, besides what it is found and listed by, in few bytes.
///
/// The parts are told one after the other, in the order of the columns' names below, and packed under a dictionary. What
/// is base64url within a part is told as the bytes that it stands for, as the rest of it repeats what they say.
struct PastRequest: Equatable {
    /// Another version may have another dictionary; each is kept for good.
    private static let version: UInt8 = 1
    private static let deflate = Deflate(dictionary: PastRequestDictionary.bytes)

    var message: [UInt8]?
    var nonce: [UInt8]?
    var members: [UInt8]?
    var warnings: [UInt8]?
    var payment: [UInt8]?
    var traceparent: [UInt8]?
    var text: [UInt8]?
    var decision: [UInt8]?
    /// The row of the issuer's key.
    var issuerKey: Int64?

    /// Nil if it is more than is ever packed.
    var packed: [UInt8]? {
        var writer = PartWriter()
        writer.add(message, as: .unfolded)
        // The message says it too, in base64url.
        writer.add(nonce.map { Array(Base64URL.encode($0).utf8) })
        for part in [members, warnings, payment, traceparent, text] { writer.add(part) }
        writer.add(decision, as: .unfolded)
        writer.add(number: issuerKey)
        return Self.deflate.packed(writer.bytes).map { [Self.version] + $0 }
    }

    init() {}

    /// Nil for bytes that are no such parts.
    init?(packed: [UInt8]) {
        guard packed.first == Self.version, let bytes = Self.deflate.unpacked(packed.dropFirst()) else { return nil }
        var reader = PartReader(bytes)
        do {
            message = try reader.part()
            nonce = try reader.part().map { text in
                guard let nonce = Base64URL.decode(String(decoding: text, as: UTF8.self)) else { throw PartError() }
                return nonce
            }
            members = try reader.part()
            warnings = try reader.part()
            payment = try reader.part()
            traceparent = try reader.part()
            text = try reader.part()
            decision = try reader.part()
            issuerKey = try reader.number()
            guard reader.isAtEnd else { return nil }
        } catch {
            return nil
        }
    }
}

private struct PartError: Error {}

/// How the bytes of a part are told.
private enum PartForm: UInt8 {
    case missing, plain
    /// In turn: text as it is, and the bytes that base64url stands for.
    case unfolded
}

private struct PartWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ part: [UInt8]?, as form: PartForm = .plain) {
        guard let part else { return bytes.append(PartForm.missing.rawValue) }
        bytes.append(form.rawValue)
        let told = form == .unfolded ? Self.unfolded(part) : part
        bytes += Self.number(told.count) + told
    }

    mutating func add(number: Int64?) {
        add(
            number.map { number in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
            })
    }

    /// The fewest characters that are taken for base64url: of an id, which hexadecimal digits make, others know no bytes.
    private static let leastCharacters = 48

    private static func unfolded(_ part: [UInt8]) -> [UInt8] {
        var (told, plain): ([UInt8], [UInt8]) = ([], [])
        var place = 0
        while place < part.count {
            let end = part[place...].firstIndex { !Base64URL.isCharacter($0) } ?? part.count
            let run = part[place..<end]
            if run.count >= leastCharacters, let bytes = Base64URL.decode(String(decoding: run, as: UTF8.self)) {
                told += number(plain.count) + plain + number(bytes.count) + bytes
                plain = []
            } else {
                plain += run
            }
            if end < part.count { plain.append(part[end]) }
            place = end + 1
        }
        return told + number(plain.count) + plain
    }

    /// Seven bits a byte, the least first; all but the last have the eighth.
    private static func number(_ count: Int) -> [UInt8] {
        var (rest, bytes): (Int, [UInt8]) = (count, [])
        while rest > 127 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

private struct PartReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func part() throws -> [UInt8]? {
        guard let form = try PartForm(rawValue: byte()) else { throw PartError() }
        switch form {
        case .missing: return nil
        case .plain: return Array(try piece())
        case .unfolded:
            var inner = PartReader(Array(try piece()))
            var folded = Array(try inner.piece())
            while !inner.isAtEnd {
                folded += Base64URL.encode(Array(try inner.piece())).utf8
                folded += try inner.piece()
            }
            return folded
        }
    }

    mutating func number() throws -> Int64? {
        guard let bytes = try part() else { return nil }
        guard bytes.count == 8 else { throw PartError() }
        return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    private mutating func piece() throws -> ArraySlice<UInt8> {
        var (count, shift) = (0, 0)
        while true {
            let byte = try byte()
            guard shift < 28 else { throw PartError() }
            count |= Int(byte & 127) << shift
            if byte < 128 { break }
            shift += 7
        }
        guard count <= rest.count else { throw PartError() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func byte() throws -> UInt8 {
        guard let byte = rest.popFirst() else { throw PartError() }
        return byte
    }
}
