/// Takes events out of bytes as they come, whatever their pieces.
struct EventReader {
    /// The longest line that is read: far above any event.
    private static let maxBytes = 256 * 1_024

    /// How far the agent has told all; nil before it said so.
    private(set) var position: Int64?
    private var line: [UInt8] = []
    private var data: [UInt8] = []

    init(position: Int64?) { self.position = position }

    /// The events that are complete with these bytes.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(ClientError) -> [EventView] {
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
            position = Int64(String(decoding: id, as: UTF8.self)) ?? position
        } else if let json = value(of: "data: ") {
            data = json
        } else if line.isEmpty, !data.isEmpty {
            defer { data = [] }
            guard let event = ControlJSON.answer(data, as: EventView.self) else {
                throw .unclear("The agent's event could not be read: is it of another version?")
            }
            return event
        }
        return nil
    }

    private func value(of field: String) -> [UInt8]? {
        line.starts(with: field.utf8) ? Array(line.dropFirst(field.utf8.count)) : nil
    }
}
