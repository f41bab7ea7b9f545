/// A random number generator with the same sequence for the same seed, on every platform.
///
/// SplitMix64 of Steele, Lea and Flood ("Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). Its numbers are
/// predictable: use it for no secret.
package struct SplitMix64: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// Returns a different generator for each name.
    init(seed: UInt64, name: String) {
        self = name.utf8.reduce(SplitMix64(seed: seed)) { generator, byte in
            var generator = generator
            return SplitMix64(seed: generator.next() ^ UInt64(byte))
        }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `bound`, exclusive, as uniform as 64 bits allow.
    ///
    /// The standard library's ways of drawing may change from one version to the next.
    package mutating func number(below bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }

    /// Shuffles by Durstenfeld's form of the Fisher-Yates shuffle.
    package mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
        var elements = elements
        for last in elements.indices.dropFirst().reversed() {
            elements.swapAt(last, Int(number(below: UInt64(last) + 1)))
        }
        return elements
    }
}
