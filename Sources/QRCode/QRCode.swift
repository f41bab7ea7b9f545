/// A QR code of octets: byte mode, error correction level M, versions 1 to 10 (ISO/IEC 18004:2015).
///
/// Up to 15 % of its modules may be unreadable.
package struct QRCode: Sendable, Equatable {
    /// The most octets that one holds.
    package static let maxOctets = QRVersion.all.map(\.octets).max() ?? 0

    /// Modules a side, without the quiet zone.
    package let size: Int
    private let dark: [Bool]

    /// Of the smallest version that holds the octets; nil for more than ``maxOctets``.
    package init?(_ octets: [UInt8]) {
        guard let version = QRVersion.all.first(where: { $0.octets >= octets.count }) else { return nil }
        let grid = QRGrid.masked(version, QRCodewords.all(of: octets, in: version))
        size = grid.size
        dark = grid.dark
    }

    /// Whether a module is dark; what lies around the code is light.
    package func isDark(row: Int, column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return dark[row * size + column]
    }
}
