// Package guides has the guides of the documentation as Markdown files. A guide begins with
// lines that name its title, its group in the navigation, its place in the group, the
// minutes that its steps take, and a summary. A new guide is a new file.
//
// A guide is also a template of package text/template with the [Values], so that it names
// the addresses of the server that serves it. Links begin with "/" for a page of the
// documentation, or are "op:NAME" for the page of an operation. The address figure:NAME of
// an image inserts figures/NAME.svg. The function proxy inserts a file of the folder proxies;
// conformance/operations runs these configurations.
package guides
