// Package safehtml removes everything active from the HTML of received mail, so that a page
// can show what is left in a frame.
//
// The HTML is divided into tokens, and only elements, attributes and style properties of the
// lists in this package are written again. The result is safe whatever tree a browser builds
// from it, for three reasons:
//
//   - It has no element whose content a browser reads by other rules than those of ordinary
//     HTML: no script, style, noscript, template, textarea, title, svg or math. Markup
//     that turns into other markup when it is parsed a second time (mutation XSS) needs one.
//   - It has no attribute with an address, except the source of images with their content in
//     a data: URL. So it requests nothing, leads nowhere and sends nothing. Images that are parts
//     of the message get such a URL too. A signed link of the fetch host would also show them,
//     but then the frame needs access to the network, the HTML of a stranger contains a
//     link that works, and each view of a message leaves a request in the log of that host.
//   - Text and values of attributes are escaped again, so that neither can end early.
//
// The content security policy of the page that shows the result is a second, independent
// protection.
package safehtml
