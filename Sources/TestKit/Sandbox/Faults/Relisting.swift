import IssuerProtocol

/// A fault of a fetch: it is answered at once with the full list, regardless of its cursor.
///
/// The list is repeated up to the limit of one answer.
enum Relisting: String, Sendable, CaseIterable {
    /// The answer has the cursor of the call.
    case cursorStays = "full-list"
    /// The answer has another known cursor each time.
    case cursorMoves = "full-list-moving"

    /// Changes the answer to ``Incoming/fromTheStart``.
    ///
    /// - Parameter number: the call's number among those of its kind.
    func answer(_ answer: Answer, to incoming: Incoming, number: Int) -> Answer {
        guard var lists = RequestLists(of: answer) else { return answer }
        while lists.duplicate() {}
        let came = incoming.cursors
        lists.replaceCursors { authenticatorId, own in
            switch self {
            case .cursorStays: came[authenticatorId] ?? own
            case .cursorMoves: Listing.cursor(beside: own, number: number)
            }
        }
        return lists.answer
    }
}

extension Incoming {
    /// The same fetch without a cursor and without waiting.
    var fromTheStart: Incoming {
        let entries = batch?.entries.map { entry in
            BatchFetchRequest.Entry(
                authenticatorId: entry.authenticatorId, accessToken: entry.accessToken, after: nil)
        }
        return without(["after", "wait"], body: entries.map { BatchFetchRequest(wait: 0, entries: $0).bytes })
    }

    /// The fetch's cursors by authenticator; the key is `nil` for a fetch that is not a batch.
    fileprivate var cursors: [String?: String] {
        guard let batch else { return query("after").map { [nil: $0] } ?? [:] }
        let cursors = batch.entries.compactMap { entry in
            entry.after.map { (String?.some(entry.authenticatorId.text), $0) }
        }
        return Dictionary(cursors) { first, _ in first }
    }

    /// The body of a batch fetch, or `nil` for another call.
    private var batch: BatchFetchRequest? { try? BatchFetchRequest(bytes: body) }
}
