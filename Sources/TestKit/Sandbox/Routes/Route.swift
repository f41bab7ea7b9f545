typealias Handler = @Sendable (Incoming) async throws -> Answer

/// One call: a method and a path, in which `{}` stands for one segment of any content.
struct Route: Sendable {
    let method: String
    let segments: [Substring]
    /// Under which name the call can be made to fail.
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

    /// What stands at the placeholders, or nil if the path is another one.
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
