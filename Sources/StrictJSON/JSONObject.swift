/// A JSON object: its members in order, every name once.
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

    /// In the order in which they came or were added; no name appears twice.
    package private(set) var members: [Member]

    /// Of members with the same name the first is kept.
    package init(_ members: [Member] = []) {
        var seen = Set<[UInt8]>(minimumCapacity: members.count)
        self.members = members.filter { seen.insert(Array($0.name.utf8)).inserted }
    }

    /// For whoever has made sure that no name appears twice.
    package init(distinct members: [Member]) { self.members = members }

    /// The member's value; setting replaces it in place or appends it, and nil removes it.
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

    private func index(of name: String) -> Int? {
        // Most names have another length, which is known without reading them.
        let count = name.utf8.count
        return members.firstIndex { $0.name.utf8.count == count && $0.name.utf8.elementsEqual(name.utf8) }
    }
}

extension JSONObject: Equatable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }
}

extension JSONObject.Member: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { Member(name: $0.0, value: $0.1) })
    }
}
