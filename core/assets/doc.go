// Package assets has the images of an organization that its mail shows. They come from bundles and
// from the connected repository, under the paths that they have there, and are published at the
// asset address of the installation.
//
// # What this package owns
//
// Which images are accepted, their records, their contents in the object store of the organization,
// the operations assets_list and assets_get, and the content that the public address serves
// ([Public]). An image whose path is no longer defined is archived: it is in no list, and its content
// is still served, because mail that was sent shows it.
//
// # What other packages own
//
// Package header reads the sizes of images. The HTTP of the public address is in rest/assets. Package
// templates replaces paths in templates by addresses.
package assets
