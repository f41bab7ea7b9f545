import CCryptoki

/// A slot with a token in it, in the state at the time of the query.
struct TokenSlot {
    /// The most slots that are examined.
    private static let limit = 64

    let number: CK_SLOT_ID
    private let flags: CK_FLAGS
    private let attributes: [TokenAttribute: [UInt8]]

    /// Returns the only token that the URI names.
    static func named(_ name: TokenKeyName, in library: borrowing TokenLibrary) throws(ExternalKeyError) -> TokenSlot {
        let order = library.order
        let fitting = try all(in: library).filter { slot in
            name.token.allSatisfy { slot.attributes[$0] == $1 }
        }
        guard let slot = fitting.first else {
            throw order.failure(.absent("there is no such token; plug it in, and check the URI"))
        }
        guard fitting.count == 1 else { throw order.failure(.ambiguous("\(fitting.count) tokens fit")) }
        return slot
    }

    private static func all(in library: borrowing TokenLibrary) throws(ExternalKeyError) -> [TokenSlot] {
        var numbers = [CK_SLOT_ID](repeating: 0, count: limit)
        var count = CK_ULONG(limit)
        let functions = unsafe library.functions
        try library.order.expectOK(
            "C_GetSlotList", unsafe functions.pointee.C_GetSlotList?(CK_BBOOL(CK_TRUE), &numbers, &count))
        var slots: [TokenSlot] = []
        for number in numbers.prefix(Int(clamping: count)) {
            // A token that does not answer, for example because it was just removed, is skipped.
            if let slot = TokenSlot(number, in: library) { slots.append(slot) }
        }
        return slots
    }

    /// Reads the token's current information, or returns `nil` if the token does not give it.
    init?(_ number: CK_SLOT_ID, in library: borrowing TokenLibrary) {
        var info = CK_TOKEN_INFO()
        guard unsafe library.functions.pointee.C_GetTokenInfo?(number, &info) == CKR_OK else { return nil }
        self.number = number
        flags = info.flags
        attributes = [
            .token: Self.text(info.label), .manufacturer: Self.text(info.manufacturerID),
            .model: Self.text(info.model), .serial: Self.text(info.serialNumber),
        ]
    }

    /// All attributes by which the token identifies itself.
    var description: String {
        TokenAttribute.allCases.map { "\($0.rawValue)=\((attributes[$0] ?? []).hexadecimal)" }.joined(separator: ";")
    }

    var takesPIN: Bool { has(CKF_LOGIN_REQUIRED) }
    var hasPINPad: Bool { has(CKF_PROTECTED_AUTHENTICATION_PATH) }
    var isPINLocked: Bool { has(CKF_USER_PIN_LOCKED) }

    var triesLeft: ExternalKeyError.TriesLeft {
        has(CKF_USER_PIN_FINAL_TRY) ? .one : has(CKF_USER_PIN_COUNT_LOW) ? .few : .notTold
    }

    private func has(_ flag: UInt) -> Bool { flags & flag != 0 }

    /// Returns a field of fixed length without the blanks that fill it.
    private static func text<Field>(_ field: Field) -> [UInt8] {
        let bytes = unsafe withUnsafeBytes(of: field) { unsafe Array($0) }
        return bytes.reversed().drop { $0 == UInt8(ascii: " ") }.reversed()
    }
}
