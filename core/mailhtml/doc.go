// Package mailhtml works on the HTML of mail templates: Text derives the plain text part.
// The functions are pure.
//
// A template is HTML with Handlebars tags anywhere: in text, in attribute values, between
// attributes, and between the rows of a table. An HTML5 tree builder would move such tags,
// for example out of a table. For that reason the package has a scanner of its own
// (scan.go), for which a Handlebars tag is one unit. The output is made from its tokens, in
// the order of the source. The tree in tree.go only answers questions about ancestors.
//
// # Plain text
//
// The module github.com/k3a/html2text was tried first, on the newsletter in testdata. It
// joins the cells of a table without a space, shows hidden preheader text, drops the
// alternative texts of images, recognizes p and li only without attributes, numbers no
// lists, keeps no lines of pre, does not wrap lines, and ends a start tag at a ">" inside of
// an attribute or Handlebars tag.
//
// # Hostile input
//
// All functions accept any bytes, do not panic, and take time proportional to the input.
// Fuzz targets check this.
package mailhtml
