import StrictJSON

// Readers for members that several messages share.
extension JSONObject {
    func tokenID(_ name: String) throws(JSONMemberError) -> TokenID {
        guard let id = TokenID(try string(name)) else {
            throw JSONMemberError(path: "/" + name, problem: "must be 1 to 64 of A-Z a-z 0-9 _ -")
        }
        return id
    }

    func accessToken(_ name: String) throws(JSONMemberError) -> AccessToken {
        guard let token = AccessToken(try string(name)) else {
            throw JSONMemberError(path: "/" + name, problem: "must be 1 to 512 of RFC 6750's b64token")
        }
        return token
    }

    /// Reads an opaque cursor of 1 to 256 characters (Unicode scalars).
    func cursor(_ name: String) throws(JSONMemberError) -> String {
        let cursor = try string(name, bytes: 1...1_024)
        guard cursor.unicodeScalars.count <= 256 else {
            throw JSONMemberError(path: "/" + name, problem: "must have at most 256 characters")
        }
        return cursor
    }

    func optionalCursor(_ name: String) throws(JSONMemberError) -> String? {
        guard let value = self[name], value != .null else { return nil }
        return try cursor(name)
    }
}

extension RawRepresentable where RawValue == String {
    /// Creates the case whose raw value has the same bytes: `init(rawValue:)` compares by Unicode equivalence.
    init?(exactly text: String) {
        guard let value = Self(rawValue: text), value.rawValue.utf8.elementsEqual(text.utf8) else { return nil }
        self = value
    }
}
