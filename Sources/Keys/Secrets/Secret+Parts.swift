extension Secret {
    /// The parts one after the other, in memory that no other has held.
    static func joined(_ parts: [Secret]) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: parts.reduce(0) { $0 + $1.count }) { output throws(OpenSSLError) in
            var offset = 0
            for part in parts {
                unsafe part.withBytes { unsafe output[offset...].copyBytes(from: $0) }
                offset += part.count
            }
        }
    }

    /// The first bytes, or all where there are fewer.
    func prefix(_ count: Int) -> Secret {
        unsafe withBytes { unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// The last bytes, or all where there are fewer.
    func suffix(_ count: Int) -> Secret {
        unsafe withBytes { unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(count))) }
    }
}
