import DurableFiles
import Keys

/// Reads a backup from its first byte to its last, strictly: what this agent does not write, it does not read.
struct BackupReader: ~Copyable {
    private let file: FileStream
    private let path: String
    private let digest: RunningSHA256
    /// Of all entries that were accepted.
    private var bytes: Int64 = 0

    init(_ path: String) throws(RestoreError) {
        let digest = try Self.beginning()
        let file = try Self.opened(path)
        self.path = path
        self.digest = digest
        self.file = file
    }

    private static func opened(_ path: String) throws(RestoreError) -> FileStream {
        do throws(FileError) { return try FileStream(reading: path) } catch { throw .unreadable(error) }
    }

    private static func beginning() throws(RestoreError) -> RunningSHA256 {
        do throws(OpenSSLError) { return try RunningSHA256() } catch { throw .failed("\(error)") }
    }

    /// The next entry; it counts once it is accepted.
    func header() throws(RestoreError) -> (TarHeader, [UInt8]) {
        let block = try read(TarHeader.blockSize)
        guard let header = TarHeader(block: block) else { throw damaged("there is no entry of a backup") }
        return (header, block)
    }

    /// Reads an accepted entry's content in pieces, and what is behind it.
    mutating func accept(
        _ header: TarHeader, block: [UInt8], _ take: ([UInt8]) throws(RestoreError) -> Void
    ) throws(RestoreError) {
        try count(block)
        var left = header.size
        while left > 0 {
            let piece = try read(Int(min(left, Int64(BackupPieces.pieceSize))))
            left -= Int64(piece.count)
            try count(piece)
            try take(piece)
        }
        let padding = try read(header.padding)
        guard padding.allSatisfy({ $0 == 0 }) else { throw damaged("an entry is not padded with zeros") }
        try count(padding)
    }

    /// Reads the manifest, which is the last entry, and holds all that came before against it.
    mutating func end(_ header: TarHeader) throws(RestoreError) -> Manifest {
        guard header.kind == .file, header.size <= Manifest.maxBytes else {
            throw damaged("its manifest is too large")
        }
        let json = try read(Int(header.size))
        let rest = try read(header.padding + 2 * TarHeader.blockSize)
        guard rest.allSatisfy({ $0 == 0 }), try next(1).isEmpty else { throw damaged("it goes on after its end") }
        let manifest: Manifest
        do throws(Manifest.Fault) {
            manifest = try Manifest(json: json)
        } catch .otherFormat(let format) {
            throw .newer(path: path, fault: "its format is \(format)")
        } catch {
            throw damaged("its manifest cannot be read")
        }
        guard manifest.bytes == bytes, manifest.sha256 == (try sum()) else {
            throw damaged("its bytes are not those that its manifest has the SHA-256 of")
        }
        return manifest
    }

    func damaged(_ fault: String) -> RestoreError { .damaged(path: path, fault: fault) }

    private mutating func count(_ piece: [UInt8]) throws(RestoreError) {
        do throws(OpenSSLError) { try digest.update(piece) } catch { throw .failed("\(error)") }
        bytes += Int64(piece.count)
    }

    private func sum() throws(RestoreError) -> String {
        do throws(OpenSSLError) { return Manifest.hexadecimal(try digest.digest()) } catch { throw .failed("\(error)") }
    }

    private func read(_ count: Int) throws(RestoreError) -> [UInt8] {
        let bytes = try next(count)
        guard bytes.count == count else { throw damaged("it is cut off") }
        return bytes
    }

    private func next(_ limit: Int) throws(RestoreError) -> [UInt8] {
        do throws(FileError) { return try file.read(limit) } catch { throw .unreadable(error) }
    }
}
