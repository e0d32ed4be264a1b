// Package mailhtml works on the HTML of mail templates: Text derives the plain text part,
// Inline writes the rules of style elements into style attributes, and Lint finds what
// readers, mail programs or spam filters will object to. The functions are pure.
//
// A template is HTML with Handlebars tags anywhere: in text, in attribute values, between
// attributes, and between the rows of a table. An HTML5 tree builder would move such tags,
// for example out of a table. For that reason the package has a scanner of its own
// (scan.go), for which a Handlebars tag is one unit. The output is made from its tokens, in
// the order of the source. The tree in tree.go only answers questions about ancestors, and
// is what selectors are matched with.
//
// # Plain text
//
// The module github.com/k3a/html2text was tried first, on the newsletter in testdata. It
// joins the cells of a table without a space, shows hidden preheader text, drops the
// alternative texts of images, recognizes p and li only without attributes, numbers no
// lists, keeps no lines of pre, does not wrap lines, and ends a start tag at a ">" inside of
// an attribute or Handlebars tag.
//
// # Style rules
//
// The module github.com/tdewolff/parse divides CSS into tokens, and
// github.com/andybalholm/cascadia matches the parts of selectors between combinators. The
// combinators are matched here (cascade.go), with a count of the steps, because the time
// of a selector such as "b b b b p" would grow with a power of the depth. What data decides
// is known here, too: a selector matches never, always, or for some data.
//
// # Size
//
// The functions are in one package because all of them read the same tokens, elements and
// styles. Divided, the packages would have to export each of these types with its fields,
// which have no meaning for callers.
//
// # Hostile input
//
// All functions accept any bytes and do not panic. Text and Lint take time
// proportional to the input, and rules of style elements have bounds. Fuzz targets and tests check this.
package mailhtml
