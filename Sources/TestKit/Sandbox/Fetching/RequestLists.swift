import IssuerProtocol
import StrictJSON

/// The lists of requests in a fetch's answer, which can be duplicated and reordered.
struct RequestLists {
    private let original: Answer
    private var object: JSONObject

    /// Returns `nil` for an answer without a list.
    init?(of answer: Answer) {
        let limits = JSONLimits(maxBytes: RequestList.maxBytes)
        guard answer.status == 200, let object = try? JSONReader.object(answer.body, limits: limits),
            object["requests"] != nil || object["results"] != nil
        else { return nil }
        original = answer
        self.object = object
    }

    var answer: Answer {
        var answer = original
        answer.body = JSONValue.object(object).serialized()
        return answer
    }

    /// Lists each request once more, up to the limit of one answer; returns whether a list has changed.
    mutating func duplicate() -> Bool {
        let before = lists
        var room = max(RequestList.limit - before.joined().count, 0)
        lists = before.map { list in
            let more = list.prefix(room)
            room -= more.count
            return list + more
        }
        return lists != before
    }

    /// Shuffles each list; returns whether a list has changed.
    mutating func reorder(using generator: inout SplitMix64) -> Bool {
        let before = lists
        lists = before.map { generator.shuffled($0) }
        return lists != before
    }

    /// Replaces the cursor of each list, given its authenticator and its own cursor.
    ///
    /// The authenticator is `nil` in a fetch that is not a batch.
    mutating func replaceCursors(_ cursor: (_ authenticatorId: String?, _ own: String) -> String) {
        holders = holders.map { holder in
            guard case .string(let own)? = holder["cursor"] else { return holder }
            var authenticatorId: String?
            if case .string(let id)? = holder["authenticatorId"] { authenticatorId = id }
            var holder = holder
            holder["cursor"] = .string(cursor(authenticatorId, own))
            return holder
        }
    }

    /// The lists of the answer: one for a fetch, one in each result for a batch fetch.
    private var lists: [[JSONValue]] {
        get { holders.map(Self.list(of:)) }
        set {
            holders = zip(holders, newValue).map { holder, list in
                var holder = holder
                if holder["requests"] != nil { holder["requests"] = .array(list) }
                return holder
            }
        }
    }

    private var holders: [JSONObject] {
        get {
            guard case .array(let results)? = object["results"] else { return [object] }
            return results.compactMap { if case .object(let result) = $0 { result } else { nil } }
        }
        set {
            if object["results"] == nil, let only = newValue.first {
                object = only
            } else {
                object["results"] = .array(newValue.map { .object($0) })
            }
        }
    }

    private static func list(of holder: JSONObject) -> [JSONValue] {
        if case .array(let list)? = holder["requests"] { list } else { [] }
    }
}
