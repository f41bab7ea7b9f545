import TextAndTime

/// The rules for the members of a transaction in general: their number, names and lengths.
enum MemberBounds {
    static let count = 16
    static let nameLength = 1...64
    static let valueLength = 1_024
    static let valuesLength = 4_096

    static func expectBounded(_ members: [TransactionMember]) throws(TransactionRefusal) {
        guard members.count <= count else {
            throw TransactionRefusal(
                .tooManyMembers, member: nil,
                "the transaction has \(members.count) members; at most \(count) are allowed")
        }
        try checkNames(members)
        try checkValues(members)
    }

    private static func checkNames(_ members: [TransactionMember]) throws(TransactionRefusal) {
        for (index, member) in members.enumerated() {
            guard isName(member.name) else {
                let name = DisplayText.excerpt(member.name)
                throw TransactionRefusal(
                    .memberName, member: name,
                    "a member's name is “\(name)”; 1 to 64 of A-Z a-z 0-9 _ . - are allowed")
            }
            guard !members[..<index].contains(where: { $0.name.hasBytes(of: member.name) }) else {
                throw .duplicateMember(member.name)
            }
        }
    }

    private static func isName(_ name: String) -> Bool {
        nameLength.contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "_.-".utf8.contains($0) }
    }

    /// Checks the lengths in Unicode scalars: a character that a reader sees may be any number of scalars.
    private static func checkValues(_ members: [TransactionMember]) throws(TransactionRefusal) {
        var total = 0
        for member in members where KnownMember(name: member.name) == nil {
            let length = member.value.unicodeScalars.count
            guard length <= valueLength else {
                throw TransactionRefusal(
                    .memberTooLong, member: member.name,
                    "\(member.name) has \(length) characters; at most \(valueLength) are allowed")
            }
            total += length
        }
        guard total <= valuesLength else {
            throw TransactionRefusal(
                .membersTooLong, member: nil,
                "the other members have \(total) characters together; at most \(valuesLength) are allowed")
        }
    }
}
