import IssuerProtocol

/// A fetch that is answered at once with all that is listed, whatever was fetched before, over and over up to as many
/// requests as one answer may hold.
enum Relisting: String, Sendable, CaseIterable {
    /// The cursor is the one that the call came with.
    case cursorStays = "full-list"
    /// The cursor is another one each time, and known as well.
    case cursorMoves = "full-list-moving"

    /// Changes the answer to ``Incoming/fromTheStart``.
    ///
    /// - Parameter number: the call's among those of its kind.
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
    /// The same fetch by one who has fetched nothing yet and does not wait.
    var fromTheStart: Incoming {
        let entries = batch?.entries.map { entry in
            BatchFetchRequest.Entry(
                authenticatorId: entry.authenticatorId, accessToken: entry.accessToken, after: nil)
        }
        return without(["after", "wait"], body: entries.map { BatchFetchRequest(wait: 0, entries: $0).bytes })
    }

    /// By authenticator the cursor that a fetch came with; nil stands for the only one of a fetch that is no batch.
    fileprivate var cursors: [String?: String] {
        guard let batch else { return query("after").map { [nil: $0] } ?? [:] }
        let cursors = batch.entries.compactMap { entry in
            entry.after.map { (String?.some(entry.authenticatorId.text), $0) }
        }
        return Dictionary(cursors) { first, _ in first }
    }

    /// Nil if the call is not a batch fetch.
    private var batch: BatchFetchRequest? { try? BatchFetchRequest(bytes: body) }
}
