/// Punycode for one label of a host name (RFC 3492, RFC 5890 §2.3.2.1).
enum Punycode {
    private static let (base, least, most, skew, damp) = (36, 1, 26, 38, 700)

    /// Returns the label itself if it is ASCII, else `xn--` and its Punycode.
    ///
    /// No normalization takes place.
    ///
    /// - Parameter label: at most 255 bytes, so that no number here overflows.
    static func label(_ label: String) -> String {
        let points = label.unicodeScalars.map { Int($0.value) }
        guard points.contains(where: { $0 >= 0x80 }) else { return label }
        var code = points.filter { $0 < 0x80 }.map(UInt8.init)
        let basic = code.count
        if basic > 0 { code.append(UInt8(ascii: "-")) }
        var (last, delta, bias, done) = (0x80, 0, 72, basic)
        while done < points.count, let next = points.filter({ $0 >= last }).min() {
            delta += (next - last) * (done + 1)
            for point in points {
                if point < next { delta += 1 }
                guard point == next else { continue }
                code += digits(of: delta, bias)
                bias = adapted(delta, to: done + 1, isFirst: done == basic)
                (delta, done) = (0, done + 1)
            }
            (last, delta) = (next + 1, delta + 1)
        }
        return "xn--" + String(decoding: code, as: UTF8.self)
    }

    /// Encodes a generalized variable-length integer (RFC 3492 §3.3).
    private static func digits(of number: Int, _ bias: Int) -> [UInt8] {
        var (rest, place, digits) = (number, base, [UInt8]())
        while true {
            let threshold = min(max(place - bias, least), most)
            guard rest >= threshold else { return digits + [digit(rest)] }
            digits.append(digit(threshold + (rest - threshold) % (base - threshold)))
            (rest, place) = ((rest - threshold) / (base - threshold), place + base)
        }
    }

    /// Returns the character of a digit: `a` to `z` are 0 to 25, `0` to `9` are 26 to 35.
    private static func digit(_ value: Int) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    private static func adapted(_ delta: Int, to count: Int, isFirst: Bool) -> Int {
        var (delta, steps) = (isFirst ? delta / damp : delta / 2, 0)
        delta += delta / count
        while delta > (base - least) * most / 2 {
            (delta, steps) = (delta / (base - least), steps + base)
        }
        return steps + (base - least + 1) * delta / (delta + skew)
    }
}
