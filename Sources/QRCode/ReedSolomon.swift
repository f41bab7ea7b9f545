/// Reed-Solomon codes over the field of 256 elements modulo x⁸+x⁴+x³+x²+1 (ISO/IEC 18004:2015 §7.5.2).
enum ReedSolomon {
    /// The remainder of the data, as a polynomial times x to the count, divided by the generator.
    static func correction(of data: [UInt8], count: Int) -> [UInt8] {
        let generator = generator(count)
        var remainder = [UInt8](repeating: 0, count: count)
        for word in data {
            let factor = word ^ remainder[0]
            remainder = remainder.dropFirst() + [0]
            for index in 0..<count { remainder[index] ^= product(generator[index], factor) }
        }
        return remainder
    }

    /// The product of (x − 2ⁱ) for each i below the count, without the leading 1, highest power first.
    private static func generator(_ count: Int) -> [UInt8] {
        var (coefficients, root) = ([UInt8](), UInt8(1))
        for _ in 0..<count {
            let shifted = coefficients + [0]
            let scaled = ([1] + coefficients).map { product($0, root) }
            coefficients = zip(shifted, scaled).map { $0 ^ $1 }
            root = product(root, 2)
        }
        return coefficients
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (result, left, right) = (UInt8(0), left, right)
        while right != 0 {
            if right & 1 == 1 { result ^= left }
            left = left << 1 ^ (left & 0x80 == 0 ? 0 : 0x1D)
            right >>= 1
        }
        return result
    }
}
