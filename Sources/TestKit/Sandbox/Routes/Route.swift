typealias Handler = @Sendable (Incoming) async throws -> Answer

/// A method and a path; `{}` in the path matches any one segment.
struct Route: Sendable {
    let method: String
    let segments: [Substring]
    /// The name under which faults can be injected into the call.
    let faultPoint: FaultPoint?
    let handle: Handler

    init(
        _ method: String, _ pattern: String, fault: FaultPoint? = nil, handle: @escaping Handler
    ) {
        self.method = method
        segments = Self.split(pattern)
        faultPoint = fault
        self.handle = handle
    }

    /// Returns the segments at the placeholders, or `nil` if the path does not match.
    func captured(from path: [Substring]) -> [String]? {
        guard path.count == segments.count else { return nil }
        var captured: [String] = []
        for (segment, part) in zip(segments, path) {
            if segment == "{}" {
                captured.append(String(part))
            } else if !segment.utf8.elementsEqual(part.utf8) {
                return nil
            }
        }
        return captured
    }

    static func split(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }
}
