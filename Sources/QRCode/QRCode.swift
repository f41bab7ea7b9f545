/// A QR code of bytes: byte mode, error correction level M, versions 1 to 10 (ISO/IEC 18004:2015).
///
/// Up to 15 % of its modules may be unreadable.
package struct QRCode: Sendable, Equatable {
    /// The most bytes that one holds.
    package static let maxBytes = QRVersion.all.map(\.bytes).max() ?? 0

    /// Modules a side, without the quiet zone.
    package let size: Int
    private let dark: [Bool]

    /// Of the smallest version that holds the bytes; nil for more than ``maxBytes``.
    package init?(_ bytes: [UInt8]) {
        guard let version = QRVersion.all.first(where: { $0.bytes >= bytes.count }) else { return nil }
        let grid = QRGrid.masked(version, QRCodewords.all(of: bytes, in: version))
        size = grid.size
        dark = grid.dark
    }

    /// Whether a module is dark; what lies around the code is light.
    package func isDark(row: Int, column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return dark[row * size + column]
    }
}
