extension PIN {
    private static let digits: ClosedRange<UInt32> = 0x30...0x39
    private static let years = [[0x31, 0x39], [0x32, 0x30]] as [[UInt32]]

    /// Returns whether a PIN is among the first that anyone would try.
    ///
    /// Such a PIN repeats one character or one group (`1212`, `123123`), is a run up or down (`1234`, `9876`, `7890`),
    /// or is a year from 1900 to 2099.
    ///
    /// - Parameter pin: the Unicode scalar values of its characters.
    static func isGuessable(_ pin: [UInt32]) -> Bool { isRepeated(pin) || isRun(pin) || isYear(pin) }

    private static func isRepeated(_ pin: [UInt32]) -> Bool {
        guard pin.count >= 2 else { return false }
        return (1...pin.count / 2).contains { period in
            pin.count % period == 0 && pin.indices.dropFirst(period).allSatisfy { pin[$0] == pin[$0 - period] }
        }
    }

    /// Returns whether the characters are consecutive, up or down; among digits, 0 follows 9.
    private static func isRun(_ pin: [UInt32]) -> Bool {
        let pairs = zip(pin, pin.dropFirst())
        return pairs.allSatisfy { follows($1, $0) } || pairs.allSatisfy { follows($0, $1) }
    }

    private static func follows(_ next: UInt32, _ character: UInt32) -> Bool {
        next == (character == digits.upperBound ? digits.lowerBound : character + 1)
    }

    private static func isYear(_ pin: [UInt32]) -> Bool {
        pin.count == 4 && years.contains(Array(pin.prefix(2))) && pin.allSatisfy(digits.contains)
    }
}
