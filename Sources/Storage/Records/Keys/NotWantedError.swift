/// Nobody waits for it any more, and it was not begun.
package struct NotWantedError: Error, Sendable {
    package init() {}
}
