/// Parser of server-sent events that accepts bytes in pieces of any size.
struct EventReader {
    /// The maximum length of a line in bytes, far above any event.
    private static let maxBytes = 256 * 1_024

    /// The position up to which the agent has sent all events.
    ///
    /// `nil` until the agent sends one.
    private(set) var position: CursorText?
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    /// The position that applies when the current event is complete.
    private var next: CursorText?

    init(position: CursorText?) { self.position = position }

    /// Returns the events that these bytes complete.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(ClientError) -> [EventView] {
        var events: [EventView] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                guard line.count < Self.maxBytes else { throw .unclear("The agent sent an event that is too long.") }
                line.append(byte)
                continue
            }
            if let event = try endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() throws(ClientError) -> EventView? {
        defer { line = [] }
        if let id = value(of: "id: ") {
            next = CursorText(String(decoding: id, as: UTF8.self)) ?? next
        } else if let json = value(of: "data: ") {
            data = json
        } else if line.isEmpty {
            let event = try endEvent()
            // Only now: an event that is cut off after its id was not read.
            position = next ?? position
            return event
        }
        return nil
    }

    private mutating func endEvent() throws(ClientError) -> EventView? {
        guard !data.isEmpty else { return nil }
        defer { data = [] }
        guard let event = ControlJSON.answer(data, as: EventView.self) else {
            throw .unclear("The agent's event could not be read: is it of another version?")
        }
        return event
    }

    private func value(of field: String) -> [UInt8]? {
        line.starts(with: field.utf8) ? Array(line.dropFirst(field.utf8.count)) : nil
    }
}
