// Package htmltext reads the HTML of received mail: it derives plain text and collects the
// links with their texts.
//
// It is made for the HTML of strangers. It accepts any bytes, and takes time and memory
// proportional to the input. The package core/mailhtml is made
// for templates: it reads Handlebars tags and styles, which are ordinary text in mail.
package htmltext
