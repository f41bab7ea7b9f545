import Keys
import StrictJSON
import ThreeDS

/// The last entry of a backup: what it is, and the digest of all that is before it.
///
/// It is written when all else has been: a backup that was cut off has none.
package struct Manifest: Sendable, Equatable {
    static let name = "manifest.json"
    static let maxBytes = 16_384
    /// Of the archive; another one is of a newer version.
    private static let format: Int64 = 1

    /// The agent's, that made it.
    package let version: String
    /// When the copy was taken, RFC 3339, UTC.
    package let createdAt: String
    /// The names of the migrations that the database has been through.
    package let schema: [String]
    /// How many bytes are before this entry, and their SHA-256 as sha256sum(1) prints it.
    package let bytes: Int64
    package let sha256: String

    package enum Fault: Error, Equatable {
        case unreadable
        /// The archive's format is not this version's.
        case otherFormat(Int64)
    }

    init(version: String, takenAt time: Int64, schema: [String], bytes: Int64, digest: [UInt8]) {
        self.version = version
        createdAt = UTCTime.text(time)
        self.schema = schema
        self.bytes = bytes
        sha256 = Self.hexadecimal(digest)
    }

    var json: [UInt8] {
        JSONValue.object([
            "format": .integer(Self.format), "version": .string(version), "createdAt": .string(createdAt),
            "schema": .array(schema.map(JSONValue.string)), "bytes": .integer(bytes),
            "sha256": .string(sha256),
        ]).serialized() + [0x0A]
    }

    init(json bytes: [UInt8]) throws(Fault) {
        do {
            let json = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: Self.maxBytes))
            let format = try json.integer("format")
            guard format == Self.format else { throw Fault.otherFormat(format) }
            version = try Self.plain(json.string("version", bytes: 1...64))
            createdAt = try Self.plain(json.string("createdAt", bytes: 20...20))
            schema = try json.array("schema", count: 0...1_000).map { name in
                guard case .string(let name) = name, name.utf8.count <= 64 else { throw Fault.unreadable }
                return try Self.plain(name)
            }
            self.bytes = try json.integer("bytes", in: 0 ... .max)
            sha256 = try json.string("sha256", bytes: 64...64)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .unreadable
        }
    }

    /// Printable ASCII: what a backup says of itself is shown, whoever wrote it.
    private static func plain(_ text: String) throws(Fault) -> String {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .unreadable }
        return text
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
