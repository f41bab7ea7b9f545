import DurableFiles
import Keys

/// The bytes of a backup, made piece by piece from files that do not change meanwhile.
struct BackupPieces: ~Copyable {
    /// One entry; a directory has no file.
    struct Entry: Sendable {
        let name: String
        let path: String?
    }

    /// The most bytes of a piece.
    static let pieceSize = 65_536

    private var waiting: ArraySlice<Entry>
    private let time: Int64
    private let manifest: @Sendable (_ bytes: Int64, _ digest: [UInt8]) -> Manifest
    private var file: FileStream?
    /// What is still to come of the file, and behind it.
    private var left: Int64 = 0
    private var padding = 0
    private var bytes: Int64 = 0
    private let digest: RunningSHA256
    private var isOver = false

    /// - Parameters:
    ///   - time: the time of last change of all entries, seconds since 1970.
    ///   - manifest: makes the last entry, of how many bytes are before it and their digest.
    init(
        _ entries: [Entry], time: Int64, manifest: @escaping @Sendable (Int64, [UInt8]) -> Manifest
    ) throws(OpenSSLError) {
        waiting = entries[...]
        self.time = time
        self.manifest = manifest
        digest = try RunningSHA256()
    }

    /// The next bytes; nil after the last.
    mutating func next() throws -> [UInt8]? {
        if isOver { return nil }
        guard let piece = try content() ?? header() else {
            isOver = true
            return try end()
        }
        try digest.update(piece)
        bytes += Int64(piece.count)
        return piece
    }

    private mutating func content() throws -> [UInt8]? {
        guard left > 0 else { return nil }
        let piece = try file?.read(Int(min(left, Int64(Self.pieceSize)))) ?? []
        guard !piece.isEmpty else { throw ChangedFileError() }
        left -= Int64(piece.count)
        return left > 0 ? piece : piece + [UInt8](repeating: 0, count: padding)
    }

    private mutating func header() throws -> [UInt8]? {
        guard let entry = waiting.popFirst() else { return nil }
        guard let path = entry.path else { return TarHeader(name: entry.name, kind: .directory).bytes(time: time) }
        let opened = try FileStream(reading: path)
        let header = TarHeader(name: entry.name, size: try opened.size)
        (left, padding) = (header.size, header.padding)
        file = consume opened
        return header.bytes(time: time)
    }

    /// The manifest, and the two blocks of zeros that end a tar.
    private func end() throws -> [UInt8] {
        let json = manifest(bytes, try digest.digest()).json
        let header = TarHeader(name: Manifest.name, size: Int64(json.count))
        return header.bytes(time: time) + json
            + [UInt8](repeating: 0, count: header.padding + 2 * TarHeader.blockSize)
    }
}
