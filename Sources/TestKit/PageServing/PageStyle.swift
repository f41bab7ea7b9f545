/// The style of the pages.
package enum PageStyle {
    /// The style sheet of all pages, as bytes of UTF-8.
    package static let css = PackageResources.style_css
}
