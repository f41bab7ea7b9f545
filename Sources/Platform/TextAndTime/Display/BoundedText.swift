extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Returns the beginning of at most `bytes` bytes of UTF-8, cut between two scalars.
    ///
    /// Text from outside is bounded in this way and not by `prefix(_:)`, which counts characters: one letter with a
    /// million combining marks is one character.
    package func beginning(bytes: Int) -> String {
        guard let end = utf8.index(utf8.startIndex, offsetBy: bytes, limitedBy: utf8.endIndex), end < utf8.endIndex
        else { return String(self) }
        var cut = end
        while cut > utf8.startIndex, Self.continuesScalar(utf8[cut]) { cut = utf8.index(before: cut) }
        return String(self[..<cut])
    }

    /// Returns whether the text begins with ASCII text in any letter case, such as a URL's scheme.
    package func beginsIgnoringCase(with ascii: String) -> Bool {
        String(decoding: utf8.prefix(ascii.utf8.count), as: UTF8.self).lowercased() == ascii.lowercased()
    }

    private static func continuesScalar(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
