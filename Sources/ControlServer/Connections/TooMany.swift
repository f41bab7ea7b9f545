/// A call that is refused because there are too many of its kind: its client may come again later.
struct TooMany: Error, Equatable {
    /// One sentence for a person.
    let message: String
    /// When it is worth another try, in seconds.
    let seconds: Int

    init(_ message: String, seconds: Int) {
        self.message = message
        self.seconds = seconds
    }
}
