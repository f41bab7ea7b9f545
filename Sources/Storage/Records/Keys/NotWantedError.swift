/// The error for work that was not begun, because no caller waits for it any more.
package struct NotWantedError: Error, Sendable {
    package init() {}
}
