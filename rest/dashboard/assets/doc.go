// Package assets has the dashboard page about the images that mail shows: the list, with small pictures,
// the templates that use each image, and the tag to write into a template.
//
// Images come from customers, so the page shows each in a frame with an origin of its own, as it does
// the HTML of mail.
package assets
