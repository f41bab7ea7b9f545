import TextAndTime

/// A JSON object: its members in order, with distinct names.
///
/// Names are compared by their bytes, never by Unicode equivalence.
package struct JSONObject: Sendable {
    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members in the order in which they came or were added; no name appears twice.
    package private(set) var members: [Member]

    /// Keeps the first of the members with the same name.
    package init(_ members: [Member] = []) {
        if Self.areFewAndDistinct(members) {
            self.members = members
            return
        }
        var seen = Set<HashedBytes>(minimumCapacity: members.count)
        self.members = members.filter { seen.insert(HashedBytes(Array($0.name.utf8))).inserted }
    }

    /// Compares the names if there are few, which takes less time than to hash them.
    private static func areFewAndDistinct(_ members: [Member]) -> Bool {
        members.count <= 16
            && members.indices.allSatisfy { index in
                !members[..<index].contains { $0.name.hasBytes(of: members[index].name) }
            }
    }

    /// Makes an object of members whose names the caller knows to be distinct.
    package init(distinct members: [Member]) { self.members = members }

    /// The member's value; setting replaces it in place or appends it, and setting `nil` removes it.
    package subscript(name: String) -> JSONValue? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index] = Member(name: members[index].name, value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    private func index(of name: String) -> Int? { members.firstIndex { $0.name.hasBytes(of: name) } }
}

extension JSONObject: Equatable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }
}

extension JSONObject.Member: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.name.hasBytes(of: right.name) && left.value == right.value
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { Member(name: $0.0, value: $0.1) })
    }
}
