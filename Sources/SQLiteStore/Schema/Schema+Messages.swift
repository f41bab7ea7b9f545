extension Schema {
    /// What came for an enrollment within a day is counted, however much came before.
    static let messagesADay = "CREATE INDEX message_of_enrollment ON message (enrollment_id, seen_at)"
}
